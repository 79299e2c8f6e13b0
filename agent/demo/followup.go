package demo

import (
	"regexp"
	"strings"

	"agentmesh/app/platform/numeral"
)

var (
	singleWords = regexp.MustCompile(`一(?:道|个|份|样|款)|(?i)\ban?\b|\bone\b|\bsomething\b`)
	cravedWords = regexp.MustCompile(`^[^推荐适合]*想吃(?:点|个|一份|一道)?(.+)$`)
	priceWords  = regexp.MustCompile(`多少钱|价格|价钱|什么价|几块钱|贵不贵|贵吗|库存|还有(?:几|多少)|剩(?:下|余|了)?(?:几|多少)|(?i)\bhow much\b|\bprices?\b|\bcosts?\b|\bin stock\b|\bhow many\b|\bavailable\b|\bleft\b`)
	pickZh      = regexp.MustCompile(`^(?:好的?|行|那|可以)?[，,]?(?:就|要|就要|那就|来|订|点)(?:来|订|点|要)?(?:它|这个|这道|这道菜|那个|那道|第一个)(?:了|吧)*$`)
	pickEn      = regexp.MustCompile(`(?i)^(?:ok |okay |yes |great |sure )*(?:i'll (?:take|have)|i'd like|i want|order|get me|give me|let's (?:go with|have)) (?:it|that|that one|this one|the first one)(?: please)?$`)
	quantityZh  = regexp.MustCompile(`^(?:那就|那|就|我要|要|来|改成|再来|再要|再)*`)
	quantityEn  = regexp.MustCompile(`(?i)^(?:just|ok|okay|make it|make that|then|only|please|let's say|well|and)\s+`)
	filterWords = regexp.MustCompile(`素|蔬菜|不要辣|不辣|辣|汤|饮料|喝的|甜|主食|海鲜|荤|(?i)\bvegetarian\b|\bvegan\b|\bveggie\b|\bnot spicy\b|\bnon-spicy\b|\bspicy\b|\bsoups?\b|\bdrinks?\b|\bdesserts?\b|\bstaples?\b|\bseafood\b|\bmeat\b`)
)

// finish fills in what a message leaves to the ones before it.
func (a *ask) finish(past before) {
	if !a.any(intentWeather, intentMenu, intentDish, intentRemember, intentRecall, intentForget, intentRecommend, intentOrder, intentOrders, intentClock) {
		a.followUp(past)
	}
	if a.has(intentWeather) && a.city == "" {
		a.city = past.ask.city
	}
	if a.has(intentDish) && len(a.dishes) == 0 && past.focus != "" {
		a.dishes = []string{past.focus}
	}
	if a.noOrder {
		delete(a.intents, intentOrder)
		a.items = nil
	}
	if a.has(intentOrder) {
		a.finishOrder(past)
	}
}

// followUp reads a message that has no subject of its own: 那明天呢, 北京呢, 两份, 换一道, 米饭呢.
func (a *ask) followUp(past before) {
	if !past.found {
		return
	}
	prev := past.ask
	bare := strings.Trim(a.words, " ，。！？,.!?~")
	switch {
	case a.followChoice(bare, past):
	case againWords.MatchString(bare) && prev.has(intentRecommend) && !prev.has(intentOrder):
		a.followAgain(bare, prev)
	case a.followQuantity(bare, past):
	case a.followChange(bare, past):
	case placeWords.MatchString(bare) && prev.any(intentWeather, intentMenu):
		a.set(intentMenu)
		a.menuDay, a.carried = prev.day, true
	case a.followDay(bare, prev):
	case a.followCity(bare, prev):
	default:
		a.followDish(bare, past)
	}
}

// followChoice reads 就这个 and "I'll take it".
func (a *ask) followChoice(bare string, past before) bool {
	if past.focus == "" || !pickZh.MatchString(bare) && !pickEn.MatchString(bare) {
		return false
	}
	a.order(oneOf(past.focus))
	return true
}

func (a *ask) order(items ...item) {
	a.intents = map[intent]bool{intentOrder: true}
	a.items, a.carried, a.remarks = items, true, nil
}

func (a *ask) followAgain(bare string, prev ask) {
	a.intents = map[intent]bool{intentRecommend: true}
	a.again, a.query, a.mild, a.preference = true, queryOf(bare), prev.mild || mildWords.MatchString(bare), prev.preference
	if a.query == "" {
		a.query = prev.query
	}
	a.menuDay, a.carried = prev.menuDay, true
}

// followQuantity reads a bare number as the answer to "how many", or as one more of the same.
func (a *ask) followQuantity(bare string, past before) bool {
	words := quantityEn.ReplaceAllString(quantityZh.ReplaceAllString(bare, ""), "")
	words = trailEn.ReplaceAllString(trailZh.ReplaceAllString(words, ""), "")
	phrase, ok := numeral.Find(words)
	rest := ""
	if ok {
		rest = strings.TrimSpace(words[:phrase.Start] + words[phrase.End:])
	}
	quantity, whole := numeral.Parse(words)
	if !whole && (!ok || !pronounEn.MatchString(rest)) {
		return false
	}
	if !whole {
		quantity = phrase.Quantity
	}
	if past.focus == "" && len(past.ask.items) == 0 {
		return false
	}
	a.order(item{quantity: quantity, counted: true})
	return true
}

// followChange applies 米饭不要了 to an order that has not been placed.
func (a *ask) followChange(bare string, past before) bool {
	if len(past.ask.items) == 0 {
		return false
	}
	items, ok := changed(past.ask.items, bare, a.zh)
	if !ok {
		return false
	}
	a.order(items...)
	if past.ordered != nil && past.ordered.outcome == succeeded && past.ask.problem == noProblem {
		a.problem = problemDone
	} else if len(items) == 0 {
		a.problem = problemEmpty
	}
	return true
}

func (a *ask) followDay(bare string, prev ask) bool {
	d := findDay(bare)
	n, named := span(bare, d)
	if d.kind == kindNone && !named {
		return false
	}
	found := false
	for _, topic := range []intent{intentWeather, intentMenu, intentRecommend, intentClock} {
		if prev.has(topic) {
			a.set(topic)
			found = true
		}
	}
	if !found {
		return false
	}
	a.carried = true
	a.city, a.span, a.spanNamed, a.weatherDay = prev.city, n, named, d
	a.cities = prev.cities
	if city := knownCity(bare); city != "" {
		a.city, a.cities = city, nil
	}
	a.menuDay, a.clockDay, a.suits, a.filter = d, d, prev.suits, prev.filter
	if d.kind == kindNone {
		a.menuDay = menuDayIn(bare, a.zh)
	}
	a.query, a.mild, a.preference, a.several = prev.query, prev.mild, prev.preference, prev.several
	return true
}

// followCity reads 北京呢, and the bare name of a city after the question which one.
func (a *ask) followCity(bare string, prev ask) bool {
	if !prev.has(intentWeather) {
		return false
	}
	city := knownCity(bare)
	switch {
	case city != "":
	case prev.city == "" && len(a.intents) == 0 && len([]rune(bare)) <= 20:
		city = bare
	case a.zh:
		city = group(aboutZh.FindStringSubmatch(bare))
	default:
		city = strings.TrimPrefix(group(aboutEn.FindStringSubmatch(bare)), "in ")
	}
	if city == "" {
		return false
	}
	a.intents = map[intent]bool{intentWeather: true}
	a.cities = []string{city}
	a.city, a.span, a.spanNamed, a.weatherDay, a.carried = city, max(prev.span, 1), prev.spanNamed, prev.weatherDay, true
	return true
}

// followDish reads 那米饭呢 after a question about a dish, and the name of a dish after the question which one.
func (a *ask) followDish(bare string, past before) {
	prev := past.ask
	name := ""
	if m := aboutZh.FindStringSubmatch(bare); m != nil && a.zh {
		name = m[1]
	} else if m := aboutEn.FindStringSubmatch(bare); m != nil && !a.zh {
		name = m[1]
	}
	waiting := prev.problem == problemNoDish || prev.problem == problemWhich || prev.has(intentDish) && len(prev.dishes) == 0
	if name == "" && waiting && len(a.intents) == 0 && len([]rune(bare)) <= 40 {
		name = bare
	}
	name, wish := splitWish(name, a.zh, past.known)
	names := dishNames(name, a.zh, past.known)
	if name == "" || len(names) == 0 {
		return
	}
	switch {
	case prev.problem == problemNoDish || prev.problem == problemWhich:
		it := prev.items[min(prev.problemAt, len(prev.items)-1)]
		it.dish, it.note = names[0], joinWish(it.note, wish)
		a.order(it)
	case prev.has(intentDish) || isKnown(names[0], past.known):
		a.intents = map[intent]bool{intentDish: true}
		a.dishes, a.carried = names, true
	}
}

// queryOf is the taste or kind that a recommendation shall have; "not spicy" is a preference and no search word.
func queryOf(clause string) string {
	return queryWords.FindString(mildWords.ReplaceAllString(clause, ""))
}

func filterOf(clause string) string {
	switch word := strings.ToLower(filterWords.FindString(clause)); word {
	case "素", "vegetarian", "vegan", "veggie":
		return "vegetarian"
	case "蔬菜":
		return "vegetable"
	case "不要辣", "不辣", "not spicy", "non-spicy":
		return "mild"
	case "辣", "spicy":
		return "spicy"
	case "汤", "soup", "soups":
		return "soup"
	case "饮料", "喝的", "drink", "drinks":
		return "drink"
	case "甜", "dessert", "desserts":
		return "dessert"
	case "主食", "staple", "staples":
		return "staple"
	case "海鲜", "seafood":
		return "seafood"
	case "荤", "meat":
		return "meat"
	}
	return ""
}
