package demo

import (
	"slices"

	"agentmesh/app/platform/numeral"
)

// finishOrder gives every item its dish and finds what is wrong with the order.
func (a *ask) finishOrder(past before) {
	if a.problem == problemEmpty || a.problem == problemDone {
		return
	}
	if len(a.items) == 0 {
		a.items = []item{{quantity: numeral.Quantity{N: 1}}}
	}
	a.settleRemarks(past)
	for i := range a.items {
		if a.items[i].dish == "" {
			a.fillDish(i, past)
		}
	}
	for i := range a.items {
		a.items[i].dish = fullName(a.items[i].dish, past.known, a.zh)
	}
	if a.problem == noProblem {
		a.problem, a.problemAt = findProblem(a.items)
	}
	if a.problem == noProblem && a.otherDay {
		a.problem = problemOtherDay
	}
	if a.problem == problemNoDish && a.has(intentRecommend) {
		a.problem, a.recommended = noProblem, true
	}
}

// fillDish finds what "one" is one of: the condition, the dish asked about in the same message, or what was spoken of before.
func (a *ask) fillDish(i int, past before) {
	it := &a.items[i]
	prev := past.ask
	switch {
	case len(a.condDishes) > 0:
		it.dish = a.condDishes[0]
		for _, name := range a.condDishes[1:] {
			a.items = append(a.items, item{dish: name, quantity: it.quantity, counted: true})
			it = &a.items[i]
		}
	case len(a.dishes) == 1:
		it.dish = a.dishes[0]
	case a.has(intentRecommend):
		return
	case prev.problem != noProblem && prev.problem < problemNoDish && len(a.items) == 1: // the answer to "how many"
		quantity, wish := it.quantity, it.note
		a.items, a.carried = slices.Clone(prev.items), true
		a.items[prev.problemAt].quantity = quantity
		a.items[prev.problemAt].note = joinWish(a.items[prev.problemAt].note, wish)
		a.conditional, a.condDishes = prev.conditional, prev.condDishes
	case len(prev.items) > 1 && prev.has(intentOrder):
		a.problem, a.problemAt = problemWhich, i
	case len(prev.items) == 1 && prev.items[0].dish != "":
		it.dish, it.note, a.carried = prev.items[0].dish, joinWish(prev.items[0].note, it.note), true
	case past.focus != "":
		it.dish, a.carried = past.focus, true
	}
}
