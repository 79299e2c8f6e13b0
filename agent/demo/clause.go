package demo

import (
	"cmp"
	"regexp"
	"strings"

	"agentmesh/app/platform/text"
)

// readClause adds what one clause asks for. A day that is named holds for the clauses behind it too.
func (a *ask) readClause(clause string, past before) {
	a.clause++
	if len(a.items) > 0 && a.readWish(clause, past) || a.readMemory(clause) {
		return
	}
	d := findDay(clause)
	if d.kind != kindNone {
		a.day = d
	}
	if noOrderZh.MatchString(clause) || noOrderEn.MatchString(clause) {
		a.noOrder = true
	}
	topic := a.readTopics(clause, past.known)
	if orderHistory.MatchString(clause) && !a.noOrder {
		a.set(intentOrders)
		return
	}
	if !a.noOrder {
		topic = a.readOrder(clause, past, topic) || topic
	}
	if !topic {
		a.readTalk(clause)
	}
}

// readMemory handles remember, forget and what is remembered. Clauses behind 记住 that ask nothing else belong to it.
func (a *ask) readMemory(clause string) bool {
	switch {
	case forgetWords.MatchString(clause):
		a.set(intentForget)
		a.remembered = false
		what := group(forgetWords.FindStringSubmatch(clause))
		if forgetAll.MatchString(what) {
			a.forgetAll = true
		} else if query := memoryQuery(what, a.zh); query != "" {
			a.forget = append(a.forget, query)
		}
		return true
	case recallWords.MatchString(clause) && !a.recommends(clause):
		a.set(intentRecall)
		a.remembered = false
		return true
	case rememberWords.MatchString(clause):
		a.set(intentRemember)
		a.remembered = true
		a.addStatement(group(rememberWords.FindStringSubmatch(clause)))
		return true
	case a.remembered && !a.recommends(clause) && !weatherWords.MatchString(clause) && !menuWords.MatchString(clause) && !clockWords.MatchString(clause):
		if _, orders := a.orderText(clause, before{}, false); orders || thanksWords.MatchString(clause) || okWords.MatchString(clause) {
			return false
		}
		a.addStatement(clause)
		return true
	}
	return false
}

func (a *ask) addStatement(words string) {
	if !a.zh {
		words = strings.TrimPrefix(words, "that ")
	}
	if said := statement(words, a.zh); said != "" && len(a.statements) < 5 {
		a.statements = append(a.statements, text.Cut(said, 200))
	}
}

func (a *ask) recommends(clause string) bool {
	return recommendWords.MatchString(clause) && !noRecommend.MatchString(clause)
}

// readTopics looks for everything that is read and not written.
func (a *ask) readTopics(clause string, known []dish) bool {
	topic := false
	if clockWords.MatchString(clause) && !hoursWords.MatchString(clause) && !placeWords.MatchString(clause) {
		a.set(intentClock)
		a.clockDay, topic = findDay(clause), true
	}
	if weatherWords.MatchString(clause) {
		a.readWeather(clause)
		topic = true
	}
	switch craved := cravedDish(clause); {
	case craved != "":
		craved, wish := splitWish(craved, a.zh, known)
		if wish != "" {
			a.remarks = append(a.remarks, remark{text: wish, at: len(a.items), wish: true})
		}
		a.set(intentDish)
		a.dishes = appendNew(a.dishes, []string{craved})
		topic = true
	case a.recommends(clause):
		a.readRecommend(clause)
		topic = true
	case menuWords.MatchString(clause), kindWords.MatchString(clause):
		a.set(intentMenu)
		a.menuDay, a.suits = a.day, false
		if a.menuDay.kind == kindNone {
			a.menuDay = menuDayIn(clause, a.zh)
		}
		a.filter = filterOf(clause)
		topic = true
	case dishWords.MatchString(clause) && !a.has(intentWeather) || dishWords.MatchString(clause) && !weatherWords.MatchString(clause):
		names := askedDishes(clause, a.zh, known)
		if len(names) > 0 || strongDish(clause) {
			a.set(intentDish)
			a.dishes = appendNew(a.dishes, names)
			topic = true
		}
	}
	return topic
}

// cravedDish returns the dish of 我想吃水煮牛肉; 想吃辣的 and 想吃点什么 name none and ask for a recommendation.
func cravedDish(clause string) string {
	m := cravedWords.FindStringSubmatch(clause)
	if m == nil || menuWords.MatchString(clause) || againWords.MatchString(clause) {
		return ""
	}
	names := dishNames(trailZh.ReplaceAllString(m[1], ""), true, nil)
	if len(names) != 1 || queryWords.ReplaceAllString(mildWords.ReplaceAllString(names[0], ""), "") == "" || strings.HasSuffix(names[0], "的菜") {
		return ""
	}
	return names[0]
}

// strongDish tells whether a clause asks for price or stock even if it names no dish.
func strongDish(clause string) bool {
	return priceWords.MatchString(clause)
}

func (a *ask) readWeather(clause string) {
	a.set(intentWeather)
	a.weatherDay = a.day
	a.span, a.spanNamed = span(clause, a.day)
	if cities := findCities(clause, a.zh); len(cities) > 0 {
		a.cities = appendNew(a.cities, cities)
		a.city = a.cities[0]
	}
}

func (a *ask) readRecommend(clause string) {
	a.set(intentRecommend)
	a.query = queryOf(clause)
	a.mild = a.mild || mildWords.MatchString(clause)
	a.several = severalWords.MatchString(clause) && !singleWords.MatchString(clause)
	a.preference = a.preference || suitsWords.MatchString(clause)
	if placeWords.MatchString(clause) && severalWords.MatchString(clause) {
		if !a.has(intentMenu) {
			a.suits = true
		}
		a.set(intentMenu)
		a.menuDay = a.day
	}
	if d := findDay(clause); d.kind != kindNone && !a.has(intentMenu) {
		a.menuDay = d
	}
	a.again = a.again || againWords.MatchString(clause)
}

// readOrder adds what a clause orders, takes out or notes.
func (a *ask) readOrder(clause string, past before, topic bool) bool {
	if !topic && (len(a.items) > 0 && a.changeItems(clause) || a.readWish(clause, past)) {
		return true
	}
	text, ok := a.orderText(clause, past, topic)
	if !ok {
		return false
	}
	a.set(intentOrder)
	if d := findDay(clause); d.kind != kindNone && (d.kind != kindOffset || d.offset != 0) {
		a.otherDay = true
	}
	if a.problem == problemEmpty {
		a.problem = noProblem
	}
	items := itemsEn(text, past.known)
	if a.zh {
		items = itemsZh(text, past.known)
	}
	last := len(a.items) - 1
	if last >= 0 && !a.items[last].counted && len(items) == 1 && items[0].dish == "" && items[0].counted {
		a.items[last].quantity, a.items[last].counted = items[0].quantity, true
		return true
	}
	for i := range items {
		items[i].clause = a.clause
	}
	a.items = append(a.items, items...)
	if len(a.items) > 20 {
		a.items = a.items[:20]
	}
	return true
}

func (a *ask) orderText(clause string, past before, topic bool) (string, bool) {
	ordering := a.has(intentOrder) || a.conditional || past.ask.problem != noProblem
	if a.zh {
		return orderZh(clause, past.known, ordering, topic)
	}
	return orderEn(clause, past.known, ordering || a.waitsForCount() && countEn.MatchString(clause), topic)
}

var countEn = regexp.MustCompile(`(?i)\b(?:portions?|servings?|bowls?|plates?|orders?|please)$`)

// changeItems applies 米饭不要了 and 不要辣 to the items named so far.
func (a *ask) changeItems(clause string) bool {
	left, taken, wish := takeOut(a.items, clause, a.zh)
	switch {
	case taken:
		a.items = left
		if len(left) == 0 {
			a.problem = problemEmpty
		}
	case wish:
		a.noteLast(clause)
	}
	return taken || wish
}

// changed is changeItems for a list: a wish goes to the last item.
func changed(items []item, clause string, zh bool) ([]item, bool) {
	left, taken, wish := takeOut(items, clause, zh)
	if wish {
		left = addNote(items, len(items)-1, cleanWish(clause, zh))
	}
	return left, taken || wish
}

// takeOut reads a clause that takes dishes out, or that is a wish about those named so far.
func takeOut(items []item, clause string, zh bool) (left []item, taken, wish bool) {
	out, change := takeOutEn, changeEn
	if zh {
		out, change = takeOutZh, changeZh
	}
	if len(items) == 0 || !out.MatchString(clause) && !change.MatchString(clause) {
		return items, false, false
	}
	if m := out.FindStringSubmatch(clause); m != nil {
		object := fillerZh.ReplaceAllString(strings.TrimPrefix(m[1], "算了"), "")
		if zh && object == "" {
			return nil, true, false
		}
		if rest := without(items, object); len(rest) < len(items) {
			return rest, true, false
		}
	}
	if m := removeWords.FindStringSubmatch(clause); m != nil {
		if rest := without(items, wishTailZh.ReplaceAllString(trailEn.ReplaceAllString(group(m), ""), "")); len(rest) < len(items) {
			return rest, true, false
		}
	}
	return items, false, true
}

// removeWords can take a dish out, where 少放 and "less" only change one.
var removeWords = regexp.MustCompile(`^(?:不要|去掉|别要)(.*)$|(?i)^(?:but |and |please )*(?:without|with no|no|skip|leave out|remove|drop|i don't want|don't want)(?: the| any)?\b\s*(.*)$`)

// readTalk recognises small talk and facts about the user.
func (a *ask) readTalk(clause string) {
	switch {
	case whoWords.MatchString(clause):
		a.set(intentWho)
	case helpWords.MatchString(clause):
		a.set(intentHelp)
	case helloWords.MatchString(clause):
		a.set(intentHello)
	case thanksWords.MatchString(clause):
		a.set(intentThanks)
	case byeWords.MatchString(clause):
		a.set(intentBye)
	case okWords.MatchString(clause):
		a.set(intentOK)
	case factZh.MatchString(clause), factEn.MatchString(clause):
		a.set(intentFact)
		a.remarks = append(a.remarks, remark{text: clause, at: len(a.items), wish: true})
	case len(a.remarks) < 20 && !smallTalk(clause):
		a.remarks = append(a.remarks, remark{text: clause, at: len(a.items)})
	}
}

// group gives the group of a match that holds something.
func group(m []string) string {
	if m == nil {
		return ""
	}
	return strings.TrimSpace(cmp.Or(m[1:]...))
}

func appendNew(names, more []string) []string {
	for _, name := range more {
		seen := false
		for _, old := range names {
			seen = seen || sameDish(old, name)
		}
		if !seen {
			names = append(names, name)
		}
	}
	return names
}
