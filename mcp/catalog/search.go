package catalog

import (
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// search gives the dishes that every word of the query fits, those with the words in their names first.
// A query without any word that says something, such as 有什么菜, fits every dish; one of nothing but
// punctuation fits none.
func search(dishes []Dish, query string, category Category) []Dish {
	index := make([]entry, 0, len(dishes))
	for _, d := range dishes {
		if category == "" || d.Category == category {
			index = append(index, newEntry(d))
		}
	}
	terms, said := parseQuery(query, index)
	found := []Dish{}
	if !said && strings.TrimSpace(query) != "" {
		return found
	}
	score := map[string]int{}
	for _, e := range index {
		if hits, ok := e.fits(terms); ok {
			score[e.dish.ID] = hits
			found = append(found, e.dish)
		}
	}
	slices.SortStableFunc(found, func(a, b Dish) int { return score[b.ID] - score[a.ID] })
	return found
}

// entry is a dish with the text it is found by.
type entry struct {
	dish  Dish
	names string
	text  string
	latin []string // the words of the text that are not Chinese
}

func newEntry(d Dish) entry {
	e := entry{dish: d, names: strings.ToLower(d.Name + "\n" + d.NameEn)}
	parts := append([]string{e.names, d.Description, d.DescriptionEn}, d.Tags...)
	parts = append(parts, d.Category.Words()...)
	e.text = strings.ToLower(strings.Join(parts, "\n"))
	for _, run := range text.Runs(e.text) {
		if !text.HasHan(run) {
			e.latin = append(e.latin, run)
		}
	}
	return e
}

// fits tells whether all terms fit, and how many of them are in the name.
func (e entry) fits(terms []string) (hits int, ok bool) {
	for _, term := range terms {
		if !e.has(term) {
			return 0, false
		}
		if strings.Contains(e.names, term) {
			hits++
		}
	}
	return hits, true
}

func (e entry) has(term string) bool {
	if says, ok := attribute(e.dish, term); ok {
		return says
	}
	if text.HasHan(term) {
		return strings.Contains(e.text, term)
	}
	return slices.ContainsFunc(e.latin, func(word string) bool { return sameWord(word, term) })
}

// sameWord lets egg find eggs but not eggplant, and dump find dumplings.
func sameWord(word, term string) bool {
	return word == term || stem(word) == stem(term) || len(term) >= 4 && strings.HasPrefix(word, term)
}

// stem folds the plural of an English noun.
func stem(word string) string {
	if len(word) > 3 && !strings.HasSuffix(word, "ss") {
		word = strings.TrimSuffix(word, "s")
	}
	return strings.TrimSuffix(word, "e")
}

// attribute answers the words that are about a property of a dish and not about its text: "not spicy"
// contains "spicy", so a text search would give the opposite.
func attribute(d Dish, term string) (says, known bool) {
	switch term {
	case "辣", "spicy":
		return d.Spicy, true
	case "不辣", "免辣", "不要辣", "不吃辣", "不带辣", "不放辣", "mild":
		return !d.Spicy, true
	case "素", "素食", "素菜", "吃素", "纯素", "vegetarian", "veggie":
		return d.Vegetarian, true
	case "荤", "荤菜":
		return d.Category == Meat || d.Category == Seafood, true
	}
	return false, false
}

// filler are words that ask and say nothing about a dish.
func filler(term string) bool {
	switch term {
	case "的", "了", "吗", "呢", "吧", "啊", "呀", "我", "想", "要", "吃", "想吃", "我想", "我要", "想要", "来", "来点", "点", "一点", "一些",
		"有", "有没有", "有什么", "什么", "哪些", "哪个", "推荐", "请", "菜", "菜品", "菜肴", "东西", "食物", "食堂", "今天", "和", "跟", "带", "一个", "一份",
		"a", "an", "the", "of", "with", "and", "or", "any", "some", "is", "are", "there", "for", "me", "i", "want", "like", "please",
		"dish", "dishes", "food", "foods", "something", "menu", "today", "what", "which", "do", "you", "have", "show", "find", "recommend":
		return true
	}
	return false
}

// parseQuery splits a query into terms. Chinese has no spaces, so a run of it is cut into the longest
// pieces that the catalog or this file knows: 不辣的牛肉 becomes 不辣 and 牛肉. said is false when there
// is no word at all.
func parseQuery(query string, index []entry) (terms []string, said bool) {
	query = strings.ToLower(query)
	for _, negation := range []string{"non-spicy", "non spicy", "not spicy", "no spice", "not hot", "不是辣", "不太辣"} {
		query = strings.ReplaceAll(query, negation, " mild ")
	}
	for _, run := range text.Runs(query) {
		said = true
		pieces := []string{run}
		if text.HasHan(run) {
			pieces = cut([]rune(run), index)
		}
		for _, piece := range pieces {
			if !filler(piece) {
				terms = append(terms, piece)
			}
		}
	}
	return terms, said
}

func cut(run []rune, index []entry) []string {
	const longest = 10
	var pieces []string
	for len(run) > 0 {
		n := min(longest, len(run))
		for n > 1 && !knows(index, string(run[:n])) {
			n--
		}
		pieces = append(pieces, string(run[:n]))
		run = run[n:]
	}
	return pieces
}

func knows(index []entry, piece string) bool {
	if _, ok := attribute(Dish{}, piece); ok || filler(piece) {
		return true
	}
	return slices.ContainsFunc(index, func(e entry) bool { return strings.Contains(e.text, piece) })
}
