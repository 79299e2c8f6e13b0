package demo

import (
	"regexp"
	"slices"
	"strings"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

// A wish is what somebody says of a dish besides its name: 不要花生, less spicy. It may keep somebody from harm, so whatever
// is said in an order and understood as nothing else is kept as one.

const tastesZh = `微辣|中辣|特辣|重辣|超辣|少辣|免辣|加辣|多辣|不辣|不太辣|不麻|清淡|打包`

var (
	noteZh      = regexp.MustCompile(`(?:[（(，,]\s*)?(?:备注[:：是]?\s*)?(?:里面?)?(?:千万|一定)?(?:不要|不加|不放|不用放|不带|不含|没有|别放|别加|别|免|去|忌|少放|少加|少|多放|多加|多点|多来点|加点|加辣|走(?:葱|蒜|姜|辣|花生|香菜|冰|糖|青)|无(?:花生|辣|糖|盐|油|葱|蒜|姜|麸|奶|蛋|坚果|香菜)|要?[辣咸甜淡热冰]一[点些]|` + tastesZh + `).*$`)
	wishFrontZh = regexp.MustCompile(`^((?:不要|不加|不放|不带|不含|没有|别放|别加|免|去|忌|无|少|多|加|不)[^的，]{1,20}?|` + tastesZh + `)(?:的|版的)(.+)$|^(` + tastesZh + `)(\p{Han}{2,}.*)$`)
	wishLeadZh  = regexp.MustCompile(`^(?:但是?|不过|还有|另外|对了|记得|记住|请|麻烦|拜托|千万|一定|务必|注意|备注|要求|最好|尽量|希望|帮我|给我|我|都|全部|里面?|可以|能不能|能|[:： ])+`)
	wishHeadZh  = regexp.MustCompile(`^(?:不要|不用放|不加|不放|不带|不含|不能有|不能放|不能加|没有|无|别|免|忌|去掉|走|少[^\p{P}]|多[^少\p{P}]|加辣|加点|要?(?:偏|稍微)?[辣咸甜淡热冰软硬]一?[点些]|要.+的$|` + tastesZh + `)`)
	notWishZh   = regexp.MustCompile(`多少|几|什么|哪|怎么|[吗么呢]$|^没有?(?:了|的话)?(?:就|那)|^没有$|^(?:不要|别)(?:紧|了|再?推荐|再?说|急)`)
	wishIntroZh = regexp.MustCompile(`^(?:但是?|不过|另外|记得|请|麻烦|注意|给我|帮我|里面?|备注是?|[：: ])+`)
	wishTailZh  = regexp.MustCompile(`(?:吧|谢谢你?|呗|呀|啊|哦|哈|了|的|呢|可以吗|行吗|好吗|好不好|，|、| |。|）|\))+$`)
	moreWishZh  = regexp.MustCompile(`^(?:小?葱花?|大葱|洋葱|生?姜|大?蒜[末泥]?|香菜|芫荽|花生[米碎]?|辣椒?|花椒|食?盐|油|白?糖|味精|鸡精|醋|酱油?|香油|芝麻|鸡?蛋|奶|冰|坚果|腰果|胡椒粉?|孜然|豆芽|木耳|麻|肉)$`)
	aboutAllZh  = regexp.MustCompile(`过敏|忌口|不(?:能|可以)?(?:吃|碰)|^(?:全部?)?都`)

	noteEn      = regexp.MustCompile(`(?i)(?:[(,]\s*|\bbut\s+|\band\s+)?\b(?:without|with (?:no|extra|less|more|a little)|no|not|less|extra|hold the|mild|non-spicy|go easy on|easy on|light on|minus|sans|free of|(?:please )?(?:don't|do not)|to go|to take ?away)\b.*$`)
	wishFrontEn = regexp.MustCompile(`(?i)^((?:non|no)-[a-z]+|[a-z]+-free|(?:not|less|extra|more|very)\s+(?:too\s+|so\s+|very\s+)?(?:spicy|salty|oily|sweet|hot)|mild|unsalted)\s+(.+)$|^((?:no|without|less|extra)\s+[a-z]+(?:\s+[a-z]+)?)\s+(?:in|on|with)\s+(.+)$`)
	wishLeadEn  = regexp.MustCompile(`(?i)^(?:(?:but|and|please|also|note|remember|just|oh|kindly|make sure|with)\b[:, ]*)+`)
	wishHeadEn  = regexp.MustCompile(`(?i)^(?:(?:without|no|not|non-[a-z]+|less|extra|more|hold|skip|leave out|omit|minus|sans|(?:don't|do not|never) (?:add|put|use|include|want)|(?:make|keep) (?:it|them|that|mine) (?:(?:a bit|a little|very|extra|less|not|more|super|too) )*(?:mild|spicy|hot|light|medium|salty|sweet|vegan|vegetarian|to go|without)|mild|light on|easy on|go easy|an? (?:bit|little|touch)|slightly|spicy|medium|to go|to take ?away|take ?away|[a-z]+-free|free of)\b)`)
	notWishEn   = regexp.MustCompile(`(?i)^(?:not (?:now|today|yet|really|sure)|no (?:problem|worries|need|idea))\b|\?$`)
	moreWishEn  = regexp.MustCompile(`(?i)^(?:(?:spring )?onions?|scallions?|garlic|ginger|cilantro|coriander|peanuts?|nuts|cashews?|chill?i(?:es)?|chilis|pepper|peppers|salt|oil|sugar|msg|vinegar|soy sauce|sesame|eggs?|milk|dairy|ice|meat|spice)$`)
	aboutAllEn  = regexp.MustCompile(`(?i)\ballerg|\bintoleran|\b(?:don't|do not|can't|cannot|never) (?:eat|have)\b|\b(?:all|both|each|everything)\b`)
)

// remark is a clause that waits for the dish it is about, with the number of items read before it.
type remark struct {
	text string
	at   int
	wish bool // it names no dish
}

// splitWish parts the words about one dish into its name and what is wished, which may stand before or behind it.
func splitWish(words string, zh bool, known []dish) (name, wish string) {
	name = strings.TrimSpace(words)
	if isKnown(name, known) {
		return name, ""
	}
	name, wish = takeFront(name, zh)
	note := noteEn
	if zh {
		note = noteZh
	}
	if behind := note.FindString(name); behind != "" && !isKnown(name, known) {
		wish = joinWish(wish, cleanWish(behind, zh))
		name = strings.TrimSpace(strings.TrimSuffix(name, behind))
	}
	return name, wish
}

// takeFront takes the wishes off that stand before a name: 不要花生的宫保鸡丁.
func takeFront(words string, zh bool) (rest, wish string) {
	front, rest := wishFrontEn, strings.TrimSpace(words)
	if zh {
		front = wishFrontZh
	}
	for m := front.FindStringSubmatch(rest); m != nil; m = front.FindStringSubmatch(rest) {
		wish = joinWish(wish, cleanWish(m[1]+m[3], zh))
		rest = strings.TrimLeft(m[2]+m[4], "、，, ")
	}
	return rest, wish
}

// cleanWish strips what only introduces or ends a wish.
func cleanWish(words string, zh bool) string {
	words = strings.Trim(words, "，,（() .")
	if zh {
		words = strings.Trim(wishIntroZh.ReplaceAllString(words, ""), "：: ")
		return wishTailZh.ReplaceAllString(words, "")
	}
	for _, lead := range []string{"but ", "and ", "please ", "note: "} {
		if len(words) > len(lead) && strings.EqualFold(words[:len(lead)], lead) {
			words = words[len(lead):]
		}
	}
	return strings.Trim(trailEn.ReplaceAllString(words, ""), " ,()")
}

func joinWish(a, b string) string {
	if a == "" || b == "" || a == b {
		return a + strings.TrimPrefix(b, a)
	}
	if text.HasHan(a + b) {
		return a + "，" + b
	}
	return a + ", " + b
}

// isWish tells whether a whole clause is a wish and names no dish or number of its own.
func isWish(clause string, zh bool) bool {
	if zh {
		bare := wishLeadZh.ReplaceAllString(clause, "")
		if !wishHeadZh.MatchString(bare) || notWishZh.MatchString(bare) || noRecommend.MatchString(clause) {
			return false
		}
		if m := wishFrontZh.FindStringSubmatch(bare); m != nil && len([]rune(m[2]+m[4])) > 1 && !strings.HasPrefix(m[2], "那") {
			return false
		}
		_, counted := numeral.Find(bare)
		return !counted
	}
	bare := wishLeadEn.ReplaceAllString(clause, "")
	if !wishHeadEn.MatchString(bare) || notWishEn.MatchString(bare) || noRecommend.MatchString(clause) || wishFrontEn.MatchString(bare) {
		return false
	}
	phrase, counted := numeral.Find(bare)
	return !counted || strings.EqualFold(phrase.Text, "a")
}

// wishesKnown tells whether a clause is the name of a dish read before, with a wish: that is an order.
func wishesKnown(clause string, zh bool, known []dish) bool {
	name, wish := splitWish(clause, zh, known)
	return wish != "" && isKnown(name, known)
}

// aboutAll tells whether a remark is about every dish: an allergy, or 都不要辣.
func aboutAll(clause string) bool {
	return aboutAllZh.MatchString(clause) || aboutAllEn.MatchString(clause)
}

// smallTalk tells whether a clause is no wish but a way of speaking.
func smallTalk(clause string) bool {
	for _, words := range []*regexp.Regexp{whoWords, helpWords, helloWords, thanksWords, byeWords, okWords} {
		if words.MatchString(clause) {
			return true
		}
	}
	return elseZh.MatchString(clause) || notWishEn.MatchString(clause)
}

var elseZh = regexp.MustCompile(`^没有?(?:了|的话)?(?:就|那)`)

// readWish takes a clause that says how the dishes shall be, and nothing else.
func (a *ask) readWish(clause string, past before) bool {
	if a.noOrder || smallTalk(clause) || noOrderZh.MatchString(clause) || noOrderEn.MatchString(clause) {
		return false
	}
	if len(a.items) > 0 {
		if at, wish := a.namedWish(clause, past); wish != "" {
			a.items[at].note = joinWish(a.items[at].note, wish)
			return true
		}
		if m := partOf.FindStringSubmatch(clause); m != nil && a.zh && a.items[len(a.items)-1].counted {
			a.items = addNote(a.items, len(a.items)-1, cleanWish(clause, true))
			return true
		}
	}
	if !isWish(clause, a.zh) {
		return false
	}
	switch {
	case len(a.items) == 0 || a.waits():
		a.remarks = append(a.remarks, remark{text: clause, at: len(a.items), wish: true})
	case aboutAll(clause) || !a.changeItems(clause):
		a.noteLast(clause)
	}
	return true
}

// noteLast adds a wish to the dish named last or, where several were named in one breath and the wish may
// be about any of them, to the whole order.
func (a *ask) noteLast(clause string) {
	if last := len(a.items) - 1; a.named(last) < 2 || aboutAll(clause) {
		a.noteItems(clause, last)
		return
	}
	a.note = joinWish(a.note, text.Cut(cleanWish(clause, a.zh), 150))
}

// partOf is 一份不要辣 behind two portions: a wish about some of them.
var partOf = regexp.MustCompile(`^(?:其中)?(?:有)?[一两二三四五六七八九十\d]+[份碗个盘杯](?:不要|不加|不放|别放|少|多|加|微辣|中辣|特辣|不辣|免).*$`)

// namedWish finds the item that a clause like 米饭少一点 or "rice without salt" names, and what it says of it.
func (a *ask) namedWish(clause string, past before) (int, string) {
	if _, counted := numeral.Find(clause); counted || dishWords.MatchString(clause) || takeOutZh.MatchString(clause) {
		return 0, ""
	}
	for i := len(a.items) - 1; i >= 0; i-- {
		if rest, ok := strings.CutPrefix(clause, a.items[i].dish); ok && a.items[i].dish != "" && text.HasHan(clause) {
			return i, cleanWish(strings.TrimPrefix(rest, "的"), a.zh)
		}
	}
	name, wish := splitWish(clause, a.zh, past.known)
	name = leadEn.ReplaceAllString(name, "")
	for i := len(a.items) - 1; i >= 0 && wish != ""; i-- {
		if sameDish(a.items[i].dish, name) {
			return i, wish
		}
	}
	return 0, ""
}

// waits tells whether a clause that may be a dish waits for its number: 水煮牛肉，不要辣，来两份.
func (a *ask) waits() bool {
	last := len(a.remarks) - 1
	return last >= 0 && a.remarks[last].at == len(a.items) && !a.remarks[last].wish
}

// waitsForCount is waits, and wishes may stand between.
func (a *ask) waitsForCount() bool {
	return slices.ContainsFunc(a.remarks, func(r remark) bool { return r.at == len(a.items) && !r.wish })
}

// noteItems adds a remark to the item it is about, or to all of them.
func (a *ask) noteItems(clause string, at int) {
	note := text.Cut(cleanWish(clause, a.zh), 150)
	for i := range a.items {
		if i == min(max(at, 0), len(a.items)-1) || aboutAll(clause) {
			a.items = addNote(a.items, i, note)
		}
	}
}

// settleRemarks gives the clauses that were kept to the items: as the dish of one that has none, or as a note.
func (a *ask) settleRemarks(past before) {
	named := -1
	for i, r := range a.remarks {
		if r.at < len(a.items) && a.items[r.at].dish == "" && !r.wish && len(a.condDishes) == 0 && len(a.dishes) != 1 {
			if name, wish := a.looseDish(r.text, past); name != "" {
				a.items[r.at].dish = name
				a.items[r.at].note = joinWish(wish, a.items[r.at].note)
				named = r.at
				a.remarks[i].text = ""
			}
		}
	}
	for _, r := range a.remarks {
		switch {
		case r.text == "" || r.at == 0 && !r.wish && !aboutAll(r.text):
		case r.at == 0 || r.at == named:
			a.noteItems(r.text, r.at)
		case r.at == len(a.items):
			a.noteLast(r.text)
		default:
			a.noteItems(r.text, r.at-1)
		}
	}
	a.remarks = nil
}

// named counts the dishes that stand in one clause with an item: a wish behind them may be about any.
func (a *ask) named(at int) int {
	n := 0
	for _, it := range a.items {
		if at >= 0 && at < len(a.items) && it.clause == a.items[at].clause {
			n++
		}
	}
	return n
}

// looseDish reads the clause before 来一份 as the dish, if it asks nothing by itself.
func (a *ask) looseDish(words string, past before) (name, wish string) {
	if smallTalk(words) || aboutAll(words) {
		return "", ""
	}
	if !a.zh {
		name, wish = splitWish(trailEn.ReplaceAllString(leadEn.ReplaceAllString(words, ""), ""), false, past.known)
		wished := wish != "" || slices.ContainsFunc(a.remarks, func(r remark) bool { return r.wish })
		if !wished && !isKnown(name, past.known) {
			return "", ""
		}
		return name, wish
	}
	name, wish = splitWish(fillerZh.ReplaceAllString(words, ""), true, past.known)
	names := dishNames(fillerZh.ReplaceAllString(name, ""), true, past.known)
	if len(names) == 0 {
		return "", ""
	}
	return names[0], wish
}

func addNote(items []item, at int, note string) []item {
	changed := append([]item(nil), items...)
	changed[at].note = joinWish(changed[at].note, note)
	return changed
}
