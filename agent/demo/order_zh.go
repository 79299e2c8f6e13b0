package demo

import (
	"regexp"
	"strings"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

var (
	noOrderZh   = regexp.MustCompile(`(?:不要|别|不用|不想|无需|不必|不需要|先不|暂不|暂时不|不)(?:再|帮我|给我|要|急着)?(?:订|点餐|点菜|下单|预订|买)|不(?:点|来)(?:了|餐|菜)`)
	verbEndZh   = regexp.MustCompile(`(?:预订|订购|下单|订|点|来|买|要|加|拿|整|上|换成|改成|给我|帮我|吃|喝|再)(?:上|了|个)?$`)
	negEndZh    = regexp.MustCompile(`(?:不|别|甭)(?:要|用|来|点|订|买|加|再)?(?:预订|订|点|来|买|要|加)?$`)
	verbZh      = regexp.MustCompile(`(?:预订|订购|下单|点餐|订餐|点菜|订|(?:帮|给|替)我(?:点|来|买|要|加|拿|下)|我(?:想|就|还|也|再)*(?:要|点|买|来)|(?:想|就|还)(?:要|点)|^(?:再|就|那|那就|请)*(?:来|点|要|买|加))(?:个|上|了)?(.*)$`)
	weakZh      = regexp.MustCompile(`我(?:想|就|还|也|再)*要|(?:想|就|还)要|^(?:再|就|那|请)*要`)
	notDishZh   = regexp.MustCompile(`^(?:看|查|问|知道|了解|去|找|取消|退|投诉|睡|做|用|写|听|学|请假|和你|跟你|休息|回家|怎么|什么|啥|多少|单|钱|求|是|不|没|提醒|记|推荐|订单)`)
	fillerZh    = regexp.MustCompile(`^(?:如果|并且|并|就|请问|请|一下|把|能否|可不可以|麻烦|帮忙|帮我|给我|替我|我们|我|想要|想|要|再|就|那么|那|也|还|顺便|另外|先|今天|明天|中午|晚上|午饭|晚饭|午餐|晚餐|现在|从?食堂|餐厅|你好|您好|老板|服务员|可以|能不能|能|订购|预订|订餐|点餐|下单|订|点|来|买|加|上|吃|把|的|是|：|:|，|、| )+`)
	trailZh     = regexp.MustCompile(`(?:吧|谢谢你|谢谢|呗|呀|啊|哦|哈|了|的|呢|谢了|就够了|就行了?|就好了?|够了|可以吗|行吗|好吗|好不好|可以么|吗|么|给我|一下|订|点|来|要|买|各|再|，|、| |。|）|\))+$`)
	joinZh      = regexp.MustCompile(`(?:和|跟|与|以及|还有|外加|再加上?|加上?|另外|再来|再要|再|、|，|\+|＋|&| )+$`)
	joinLeadZh  = regexp.MustCompile(`^(?:和|跟|与|加上?|以及|还有|外加|、|，)+`)
	splitZh     = regexp.MustCompile(`、|＋|\+|&|以及|还有|外加|和|跟|与`)
	changeZh    = regexp.MustCompile(`^(?:不要|不加|不放|别放|别加|别要|去掉|免|少放?|少加|多放|多加|多点|微辣|中辣|特辣|不辣|加辣|清淡)(.*)$`)
	takeOutZh   = regexp.MustCompile(`^(.*?)(?:就|先|也|都)?(?:不要了?|不用了|去掉吧?|不点了|取消了?|别要了)$`)
	pronounZh   = regexp.MustCompile(`^(?:就|要)?(?:它|这个|这道|这道菜|那个|那道|那道菜|这|那|一样的?|同样的?|这份|刚才的?|刚才那个|刚才那道|饭|外卖|东西|吃的|点?吃的|好吃的)?(?:菜|了|吧)*$`)
	questionZh  = regexp.MustCompile(`[吗么呢]$|几|多少|什么|怎么|为什么|哪`)
	bareMeasure = regexp.MustCompile(`^(?:份|碗|盘|杯|瓶|碟|个|些|盒|罐|壶)`)
	countableZh = regexp.MustCompile(`^[份碗盘杯瓶碟例罐壶盒笼屉打]$`)
)

// countVerb is the verb between a wish and a number: 不要辣来两份.
var countVerb = regexp.MustCompile(`(?:(?:再?来|订|拿|给我|帮我)|([^不别])要)$`)

var takenZh = regexp.MustCompile(`把(.+?)(?:订|点|买)(?:了|上|下)?$`)

// orderZh returns the part of a clause that names dishes and quantities, if the clause orders something.
func orderZh(clause string, known []dish, ordering, other bool) (string, bool) {
	if m := takenZh.FindStringSubmatch(clause); m != nil && !other {
		return m[1], true
	}
	if phrase, ok := numeral.Find(clause); ok {
		before := strings.TrimSpace(clause[:phrase.Start])
		if negEndZh.MatchString(before) {
			return "", false
		}
		if verbEndZh.MatchString(before) {
			return clause, !other || strings.Contains(before, "订") || strings.Contains(before, "帮我")
		}
		rest := strings.TrimSpace(clause[phrase.End:])
		bare := !other && !questionZh.MatchString(clause)
		if bare && (ordering || strings.ContainsAny(phrase.Text[:1], "xX*") || strings.HasPrefix(phrase.Text, "×") || countableZh.MatchString(phrase.Measure) || isKnown(rest, known) || isKnown(before, known)) {
			return clause, true
		}
	}
	if m := verbZh.FindStringSubmatch(clause); m != nil {
		rest := m[1]
		weak := weakZh.MatchString(clause)
		if notDishZh.MatchString(rest) || weak && (other || rest == "") || other && !strings.Contains(clause, "订") && !strings.Contains(clause, "下单") {
			return "", false
		}
		return rest, true
	}
	if !other && (ordering && isKnown(trailZh.ReplaceAllString(clause, ""), known) || wishesKnown(clause, true, known)) {
		return clause, true
	}
	return "", false
}

// itemsZh reads "两份水煮牛肉和一份米饭", "水煮牛肉两份、米饭一份" and "水煮牛肉和米饭各一份".
func itemsZh(text string, known []dish) []item {
	phrases := numeral.FindAll(text)
	if len(phrases) == 0 {
		return dishesZh(text, numeral.Quantity{N: 1}, false, false, known)
	}
	var items []item
	before := joinZh.ReplaceAllString(trailZh.ReplaceAllString(fillerZh.ReplaceAllString(text[:phrases[0].Start], ""), ""), "")
	if before == "" || quantityFirst(text, phrases) {
		for i, phrase := range phrases {
			end := len(text)
			if i+1 < len(phrases) {
				end = phrases[i+1].Start
			}
			items = append(items, dishesZh(joinZh.ReplaceAllString(text[phrase.End:end], ""), phrase.Quantity, true, false, known)...)
		}
		if isWish(before, true) && len(items) > 0 {
			items[0].note = joinWish(cleanWish(before, true), items[0].note)
		}
		return items
	}
	from := 0
	for _, phrase := range phrases {
		part := countVerb.ReplaceAllString(strings.TrimSpace(text[from:phrase.Start]), "$1")
		each := strings.Contains(part, "各")
		items = append(items, dishesZh(part, phrase.Quantity, true, each, known)...)
		from = phrase.End
	}
	return afterLast(items, text[from:], known)
}

// quantityFirst tells "给同事也来一份水煮牛肉" from "水煮牛肉来一份": a verb stands before the number and a dish behind the last one.
func quantityFirst(text string, phrases []numeral.Phrase) bool {
	after := trailZh.ReplaceAllString(strings.TrimSpace(text[phrases[len(phrases)-1].End:]), "")
	note := noteZh.FindStringIndex(after)
	return after != "" && (note == nil || note[0] > 0) && verbEndZh.MatchString(strings.TrimSpace(text[:phrases[0].Start]))
}

// afterLast reads what follows the last quantity of "水煮牛肉一份不要辣": a note, or one more dish.
func afterLast(items []item, rest string, known []dish) []item {
	rest = joinLeadZh.ReplaceAllString(strings.TrimSpace(rest), "")
	note := noteZh.FindStringIndex(rest)
	switch {
	case trailZh.ReplaceAllString(rest, "") == "":
		return items
	case note != nil && note[0] == 0:
		return addNote(items, len(items)-1, cleanWish(rest, true))
	}
	return append(items, dishesZh(rest, numeral.Quantity{N: 1}, false, false, known)...)
}

// dishesZh reads the dishes that stand at one quantity. Only 各 gives it to all of them; otherwise the others are one each.
func dishesZh(words string, quantity numeral.Quantity, counted, each bool, known []dish) []item {
	words, front := takeFront(words, true)
	words, more := takeFront(fillerZh.ReplaceAllString(words, ""), true)
	front = joinWish(front, more)
	if !counted && !isKnown(words, known) {
		words = bareMeasure.ReplaceAllString(words, "")
	}
	names := splitNames(words, splitZh, known)
	var items []item
	for i, name := range names {
		it := item{quantity: quantity, counted: counted}
		if i > 0 && !each {
			it = oneOf("")
		}
		name = strings.TrimSpace(name)
		if last := len(items) - 1; last >= 0 && items[last].note != "" && moreWishZh.MatchString(trailZh.ReplaceAllString(name, "")) {
			items[last].note += "、" + trailZh.ReplaceAllString(name, "")
			continue
		}
		name, it.note = splitWish(name, true, known)
		it.note, front = joinWish(front, it.note), ""
		name = strings.Trim(trailZh.ReplaceAllString(name, ""), " ，,（()）“”\"「」《》")
		if pronounZh.MatchString(name) {
			name = ""
		}
		it.dish = text.Cut(fillerZh.ReplaceAllString(name, ""), 60)
		switch last := len(items) - 1; {
		case it.dish != "" || last < 0:
			items = append(items, it)
		case it.note != "":
			items = addNote(items, last, it.note)
		}
	}
	return items
}

// splitNames cuts a list of dishes, except inside a name that is known and where a part would be no name (和牛).
func splitNames(text string, separator *regexp.Regexp, known []dish) []string {
	var names []string
	from := 0
	for _, m := range separator.FindAllStringIndex(text, -1) {
		left, right := strings.TrimSpace(text[from:m[0]]), strings.TrimSpace(text[m[1]:])
		if len(left) < 2 || len(right) < 2 || strings.HasPrefix(right, "牛") || insideKnown(text, m, known) {
			continue
		}
		names = append(names, left)
		from = m[1]
	}
	return append(names, text[from:])
}

func insideKnown(text string, at []int, known []dish) bool {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return false
	}
	for _, d := range known {
		for _, name := range []string{strings.ToLower(d.Name), strings.ToLower(d.NameEn)} {
			if start := strings.Index(lower, name); name != "" && start >= 0 && start < at[0] && at[1] < start+len(name) {
				return true
			}
		}
	}
	return false
}
