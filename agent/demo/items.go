package demo

import (
	"strings"
	"unicode/utf8"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

// maxPortions is the most that one order takes; more is explained and not sent.
const maxPortions = 20

// item is one dish of an order as it was said. The dish is empty in "order one for me".
type item struct {
	dish, note string
	quantity   numeral.Quantity
	counted    bool // the user said how many
	clause     int  // the clause that named it
}

func oneOf(dish string) item {
	return item{dish: dish, quantity: numeral.Quantity{N: 1}}
}

// problem says why an order cannot be placed as it was said.
type problem int

const (
	noProblem problem = iota
	problemZero
	problemNegative
	problemHalf
	problemVague
	problemFraction
	problemTooMany
	problemNoDish
	problemWhich
	problemEmpty
	problemDone
	problemOtherDay
)

func (i item) problem() problem {
	switch i.quantity.Kind {
	case numeral.Half:
		return problemHalf
	case numeral.Vague:
		return problemVague
	case numeral.Fraction:
		return problemFraction
	case numeral.Negative:
		return problemNegative
	}
	switch {
	case i.quantity.N == 0:
		return problemZero
	case i.quantity.N > maxPortions:
		return problemTooMany
	}
	return noProblem
}

// findProblem returns the first thing wrong with the items and where it is.
func findProblem(items []item) (problem, int) {
	sum := 0
	for i, it := range items {
		if p := it.problem(); p != noProblem {
			return p, i
		}
		sum += it.quantity.N
	}
	for i, it := range items {
		if it.dish == "" {
			return problemNoDish, i
		}
	}
	if sum > maxPortions {
		return problemTooMany, len(items) - 1
	}
	return noProblem, 0
}

// without takes the last dish out that words name: wholly, or by the end of its name. 香菇青菜 without 香菇 stays.
func without(items []item, words string) []item {
	object := fold(words)
	for i := len(items) - 1; i >= 0; i-- {
		name := fold(items[i].dish)
		if object == "" || name == "" {
			continue
		}
		long := text.HasHan(object) && utf8.RuneCountInString(object) > 1
		if name == object || long && (strings.HasSuffix(name, object) || strings.HasSuffix(object, name)) || strings.HasSuffix(name, " "+object) {
			return append(items[:i:i], items[i+1:]...)
		}
	}
	return items
}

// sameDish tells whether two ways to name a dish can mean the same one.
func sameDish(a, b string) bool {
	a, b = fold(a), fold(b)
	if a == "" || b == "" {
		return false
	}
	return a == b || holds(a, b) || holds(b, a)
}

// holds tells whether a name has another in it; English ones begin and end with a word, which may be plural.
func holds(name, part string) bool {
	if text.HasHan(part) {
		return strings.Contains(name, part)
	}
	return text.HasWord(name, part) || text.HasWord(name, part+"s") || text.HasWord(name, strings.TrimSuffix(part, "s"))
}

func fold(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(name)), " ")
}

// fullName returns the menu's name of a dish where what was read names exactly one such dish, else the words as they are.
func fullName(words string, known []dish, zh bool) string {
	found := map[string]dish{}
	for _, d := range known {
		if fold(d.Name) == fold(words) || fold(d.NameEn) == fold(words) {
			return words
		}
		if sameDish(d.Name, words) || sameDish(d.NameEn, words) {
			found[d.ID+d.Name] = d
		}
	}
	if len(found) == 1 {
		for _, d := range found {
			return d.title(zh)
		}
	}
	return words
}

// title is the name of a dish in the user's language.
func (d dish) title(zh bool) string {
	if zh && d.Name != "" || d.NameEn == "" {
		return d.Name
	}
	return d.NameEn
}

// isKnown tells whether words are the name of a dish that was read before.
func isKnown(words string, known []dish) bool {
	for _, d := range known {
		if fold(words) != "" && (fold(d.Name) == fold(words) || fold(d.NameEn) == fold(words)) {
			return true
		}
	}
	return false
}
