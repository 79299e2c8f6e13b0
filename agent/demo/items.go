package demo

import (
	"strings"

	"agentmesh/app/platform/numeral"
)

// maxPortions is the most that one order takes; more is explained and not sent.
const maxPortions = 20

// item is one dish of an order as it was said. The dish is empty in "order one for me".
type item struct {
	dish, note string
	quantity   numeral.Quantity
	counted    bool // the user said how many
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

// change applies "不要辣" or "no rice" to items: it takes a dish out, or it is a note on the last dish.
func change(items []item, words, object string) []item {
	for i := len(items) - 1; i >= 0; i-- {
		if object != "" && sameDish(items[i].dish, object) {
			return append(items[:i:i], items[i+1:]...)
		}
	}
	if len(items) == 0 {
		return items
	}
	changed := append([]item(nil), items...)
	last := &changed[len(changed)-1]
	if last.note != "" {
		words = last.note + "，" + words
	}
	last.note = words
	return changed
}

// sameDish tells whether two ways to name a dish can mean the same one.
func sameDish(a, b string) bool {
	a, b = fold(a), fold(b)
	if a == "" || b == "" {
		return false
	}
	return a == b || strings.Contains(a, b) || strings.Contains(b, a)
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
