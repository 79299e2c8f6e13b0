package food

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

var (
	breakPattern = regexp.MustCompile(`[，,。；;：:！!？?（）()\n、]|\.(?:\s|$)|和|跟|以及|还有|另外|外加|(?i:\s+(?:and|plus)\s+)`)
	removeAfter  = regexp.MustCompile(`^\s*(?:就|也|先|都)?(?:不要|不用|不点|不订|不吃|算|取消|去掉|拿掉|退)了?(?:吧)?\s*$|^(?i:\s*(?:off|is off|cancelled|canceled)\s*$)`)
	removeBefore = regexp.MustCompile(`(?:不要|不用|不点|不订|去掉|取消|别点|别要|拿掉)(?:了)?(?:那|这)?\s*$|(?i:\b(?:no|without|remove|cancel|skip|drop|not)\s+(?:the\s+|any\s+)?)$`)
	notePattern  = regexp.MustCompile(`不要|不放|不加|别放|别加|少放|少加|多放|多加|少|多点|多|加|免|去|微辣|中辣|特辣|重辣|不辣|走|打包|(?i:\b(?:no|not|without|less|extra|more|light|mild|hold|easy on|with)\b)`)
	noteBefore   = regexp.MustCompile(`((?:不要|不放|不加|少放|没有|不|无|少|多|微|中|特|重|加|免|去|别)[^，。的]{1,12})的\s*$|((?:微|中|特|重|不|少|免|加)辣)\s*$|` +
		`(?i:\b((?:no|without|less|extra)\s+[a-z]+(?:\s+[a-z]+)?)\s+(?:in|on|with)\s+(?:the|my)?\s*|\b((?:non|no)-[a-z]+|[a-z]+-free|(?:not|less|extra|more)\s+(?:too\s+)?(?:spicy|salty|oily|sweet)|mild)\s*)$`)
	headFiller = regexp.MustCompile(`^(?:(?:我们?|你|您|咱们?|想要?|要|帮忙?|请问?|给|麻烦|可以|能不能|能|订餐|点餐|点菜|下单|订|点|再?来|买|吃|再|还|就|先|也|加|今天|中午|晚上|中饭|午饭|午餐|晚饭|晚餐|早餐|一下|上|个|的|了|，|\s)+|` +
		`(?i:(?:i'd|i'll|i|we|would|like|to|want|wanna|please|can|could|you|order|get|give|bring|me|us|have|buy|for|lunch|dinner|some|the|let's|let|take|need|also|hi|hello|hey|a|an|add|then|how|much|is|are|does|do|cost|price|of|what's)\b[\s']*)+)`)
	tailFiller = regexp.MustCompile(`(?:(?:吧|呢|吗|啊|呀|哦|谢谢|多谢|谢|好吗|可以吗|行吗|一下|了|的|多少钱|一共|总共|价格|是|各|\s)+|(?i:\s*\b(?:please|thanks|thank you|today|for (?:lunch|dinner|me|us)|of|too|each|cost|costs|in total)\b\s*)+)$`)
	personal   = regexp.MustCompile(`过敏|忌口|不(?:能|可以)?(?:吃|碰)|打包|太.+不行|.不要$|(?i:\ballerg|\bintoleran|\b(?:don't|do not|can't|cannot) (?:eat|have)\b|\btake ?away\b|\bto go\b)`)
	chatter    = regexp.MustCompile(`^(?:你好|您好|好的?|嗯|谢谢.*|多谢.*|麻烦(?:你|您)?了?|(?:麻烦|请)?(?:快一?点|尽快).*|饿.*|.*饿了)$|^(?i:hi|hello|hey|thanks|thank you|ok|okay|sure|yes|no)$`)
)

// readItems is what a sentence orders, or what is unclear about it.
type readItems struct {
	items    []orderItem
	question string
	err      error
}

// reader goes through a sentence clause by clause. Dishes that it names by their whole names stand in it as single
// private-use letters, so that no name is taken for a number, a note or a list.
type reader struct {
	dishes   []Dish // that the letters stand for
	items    []*readItem
	noting   bool // the last clause was a note, which a list may go on with
	removed  map[string]bool
	personal string // allergies and the like, which concern every dish
	out      readItems
}

type readItem struct {
	orderItem
	counted  bool
	question string // about its portions
}

const firstLetter = 0xE000

// readOrder reads dishes, portions and notes: 来两份水煮牛肉，不要辣，再来一碗米饭.
func readOrder(text string, dishes []Dish) readItems {
	r := &reader{removed: map[string]bool{}}
	text = r.letter(text, dishes)
	at := 0
	for _, m := range append(breakPattern.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		r.clause(text[at:m[0]], strings.TrimSpace(text[at-r.back(text, at):at]))
		at = m[1]
	}
	for _, item := range r.items {
		if r.removed[item.Dish] {
			continue
		}
		r.out.question = cmp.Or(r.out.question, item.question)
		item.Note = joinNotes(item.Note, r.personal)
		if item.Quantity == nil {
			item.Quantity = numberOf(1)
		}
		r.out.items = append(r.out.items, item.orderItem)
	}
	return r.out
}

// back gives the size of the separator before an offset, as far as it joins a list.
func (r *reader) back(text string, at int) int {
	for _, join := range []string{"和", "、", "跟"} {
		if strings.HasSuffix(text[:at], join) {
			return len(join)
		}
	}
	if lower := strings.ToLower(text[:at]); strings.HasSuffix(lower, " and ") {
		return len(" and ")
	}
	return 0
}

// letter puts letters in the place of dish names; where several begin, the longest counts.
func (r *reader) letter(said string, dishes []Dish) string {
	var out strings.Builder
	for at := 0; at < len(said); {
		dish, size := nameAt(said, at, dishes)
		if size == 0 {
			_, size = utf8.DecodeRuneInString(said[at:])
			out.WriteString(said[at : at+size])
		} else {
			out.WriteRune(rune(firstLetter + len(r.dishes)))
			r.dishes = append(r.dishes, dish)
		}
		at += size
	}
	return out.String()
}

// nameAt finds the dish whose name stands at an offset, and the length of the name. English names are whole words, and may
// be plural.
func nameAt(said string, at int, dishes []Dish) (dish Dish, size int) {
	for _, d := range dishes {
		for _, name := range []string{d.Name, d.NameEn, singular(d.NameEn), d.ID} {
			end := at + len(name)
			if name == "" || len(name) <= size || end > len(said) || !strings.EqualFold(said[at:end], name) {
				continue
			}
			if !text.HasHan(name) {
				end += len(plural.FindString(said[end:]))
				if wordAt(said, at-1) || wordAt(said, end) {
					continue
				}
			}
			dish, size = d, end-at
		}
	}
	return dish, size
}

var plural = regexp.MustCompile(`^(?i:e?s)\b`)

// wordAt tells whether the byte at an offset is part of an English word.
func wordAt(said string, at int) bool {
	if at < 0 || at >= len(said) {
		return false
	}
	b := said[at]
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}

func isLetter(c rune) bool { return c >= firstLetter && c <= 0xF8FF }

// clause reads one clause; join is the word that joined it to the one before.
func (r *reader) clause(text, join string) {
	if !strings.ContainsFunc(text, isLetter) {
		r.plain(text, join)
		return
	}
	r.noting = false
	rest, used := text, ""
	for {
		at := strings.IndexFunc(rest, isLetter)
		if at < 0 {
			return
		}
		letter, size := utf8.DecodeRuneInString(rest[at:])
		before, after := rest[:at], rest[at+size:]
		end := strings.IndexFunc(after, isLetter)
		last := end < 0
		if last {
			end = len(after)
		}
		used = r.dish(r.dishes[letter-firstLetter], strings.TrimPrefix(before, used), after[:end], last)
		rest = after
	}
}

// dish reads one dish with what stands before and after it, and gives how much of the latter it took.
func (r *reader) dish(d Dish, before, after string, last bool) string {
	count, counted := lastQuantity(before)
	used := ""
	if q, ok := numeral.Find(after); ok && !counted && (last || startsWith(after, q)) {
		count, counted = q, true
		used = after[:q.End]
		after = after[:q.Start] + " " + after[q.End:]
	}
	switch {
	case removeAfter.MatchString(after), removeBefore.MatchString(withoutQuantity(before)):
		r.removed[d.Name] = true
		return used
	}
	delete(r.removed, d.Name)
	item := &readItem{orderItem: orderItem{Dish: d.Name}}
	r.items = append(r.items, item)
	if m := noteBefore.FindStringSubmatch(withoutQuantity(before)); m != nil {
		item.Note = strings.TrimSpace(strings.Join(m[1:], ""))
	}
	if at := notePattern.FindStringIndex(after); at != nil {
		if last {
			at[0] = 0 // 花生不要: what is not wanted stands first
		}
		item.Note = joinNotes(item.Note, trimPiece(after[at[0]:], 1))
		r.noting = item.Note != ""
	}
	if counted {
		r.count(item, count, d)
		r.countEach(before+used+after, count)
	}
	return used
}

// plain reads a clause without a known dish: a note, a number for the dish before, or a dish that we may not have.
func (r *reader) plain(text, join string) {
	text = strings.TrimSpace(text)
	var current *readItem
	if len(r.items) > 0 {
		current = r.items[len(r.items)-1]
	}
	q, counted := numeral.Find(text)
	switch {
	case text == "" || chatter.MatchString(text):
		return
	case !counted && personal.MatchString(text):
		r.personal = joinNotes(r.personal, trimNote(text))
		return
	case current != nil && !counted && r.noting && join != "":
		current.Note += join + trimNote(text)
		return
	case current != nil && !counted && startsNote(text):
		current.Note, r.noting = joinNotes(current.Note, trimNote(text)), true
		return
	}
	r.noting = false
	ordered := orderPattern.MatchString(text)
	name := text
	if counted {
		name = text[:q.Start] + " " + text[q.End:]
	}
	name = strings.TrimSpace(tailFiller.ReplaceAllString(headFiller.ReplaceAllString(strings.TrimSpace(name), ""), ""))
	note := ""
	if at := notePattern.FindStringIndex(name); at != nil && at[0] > 0 {
		name, note = strings.TrimSpace(name[:at[0]]), trimNote(name[at[0]:])
	}
	switch {
	case name == "" && counted && current != nil && (!current.counted || current.question != ""):
		r.count(current, q, Dish{Name: current.Dish})
		r.countEach(text, q)
	case name != "" && (counted || ordered) && len([]rune(name)) <= 40:
		item := &readItem{orderItem: orderItem{Dish: name, Note: note}}
		r.items = append(r.items, item)
		if counted {
			r.count(item, q, Dish{Name: name})
		}
	}
}

// count sets how many portions are wanted. What is not a whole number is asked about or refused, never guessed.
func (r *reader) count(item *readItem, q numeral.Phrase, d Dish) {
	item.counted = true
	switch n, whole := q.Count(); {
	case whole:
		item.Quantity, item.question = numberOf(n), ""
	case q.Kind == numeral.Vague:
		item.question = "请问" + d.Name + "要几份？How many portions of " + cmp.Or(d.NameEn, d.Name) + " would you like?"
	case q.Kind == numeral.Half, q.Kind == numeral.Fraction:
		r.out.err = fault.New(fault.Invalid, "%s只能整份订，不能订%s / only whole portions can be ordered", d.Name, q.Text)
	default:
		r.out.err = fault.New(fault.Invalid, "%s的份数须为 1 到 %d，收到的是%s / the quantity must be from 1 to %d", d.Name, maxPortions, q.Text, maxPortions)
	}
}

// countEach sets the portions of every dish that has none yet, if the text says so: 水煮牛肉和米饭各两份.
func (r *reader) countEach(text string, q numeral.Phrase) {
	if !strings.Contains(text, "各") && !hasWord(strings.ToLower(text), "each") {
		return
	}
	for _, item := range r.items {
		if !item.counted {
			r.count(item, q, Dish{Name: item.Dish})
		}
	}
}

func lastQuantity(text string) (numeral.Phrase, bool) {
	all := numeral.FindAll(text)
	if len(all) == 0 {
		return numeral.Phrase{}, false
	}
	return all[len(all)-1], true
}

// withoutQuantity gives a text without its last quantity.
func withoutQuantity(text string) string {
	if q, ok := lastQuantity(text); ok {
		return text[:q.Start] + text[q.End:]
	}
	return text
}

// startsWith tells whether a quantity stands right behind a dish.
func startsWith(text string, q numeral.Phrase) bool {
	switch strings.TrimSpace(text[:q.Start]) {
	case "", "要", "来", "订", "点", "各", "x", "X", "×", "*", ":", "：", "-":
		return true
	}
	return false
}

func startsNote(text string) bool {
	text = strings.TrimSpace(headNote.ReplaceAllString(text, ""))
	at := notePattern.FindStringIndex(text)
	return at != nil && at[0] == 0
}

var headNote = regexp.MustCompile(`^(?:但是?|请|麻烦|记得|千万|一定|注意|备注|都|要|也|(?i:but|please|and|with)\s)+`)

func trimNote(text string) string {
	text = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), "，,。.;；!！、"))
	for _, end := range []string{"谢谢", "吧", "哦", "哈", "please", "thanks"} {
		text = strings.TrimSpace(strings.TrimSuffix(text, end))
	}
	return text
}
