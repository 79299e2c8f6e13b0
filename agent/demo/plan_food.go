package demo

import (
	"fmt"
	"strings"
)

// planRecommend asks for a recommendation once the preferences are there.
func (p *planner) planRecommend() {
	if p.waiting || p.planned(toolRecall) {
		p.waiting = true
		return
	}
	if p.combined(toolRecommend) {
		if p.recommended = p.foodMade(true); p.recommended != nil {
			return
		}
		p.recommended = p.want(abilityCanteen, toolFood, map[string]any{"text": p.recommendText()})
		return
	}
	args := map[string]any{}
	if texts := p.preferences(); len(texts) > 0 {
		args["preferences"] = texts
	}
	if p.ask.query != "" {
		args["query"] = p.ask.query
	}
	day, known := p.dayArgument()
	if !known {
		return
	}
	if day != "" && day != "today" {
		args["day"] = day
	}
	if p.ask.again {
		args["limit"] = 5
	}
	p.recommended = p.want(abilityCanteen, toolRecommend, args)
}

// preferences returns what is remembered, and what the user wants this time.
func (p *planner) preferences() []string {
	var texts []string
	if p.recalled != nil {
		for _, pref := range p.recalled.Preferences {
			if pref.Statement != "" && len(texts) < 20 {
				texts = append(texts, pref.Statement)
			}
		}
	}
	if p.ask.mild {
		texts = appendNew(texts, []string{p.say("用户不吃辣", "User does not eat spicy food")})
	}
	return texts
}

// combined tells whether call_food stands in for a tool.
func (p *planner) combined(tool string) bool {
	return !p.can(tool) && p.can(toolFood)
}

// foodMade gives the outcome of this turn's call_food that recommended, or of the one that ordered. Its words
// need not be those that were planned: a person may have edited them on the card.
func (p *planner) foodMade(recommended bool) *result {
	for _, c := range p.turn().made(toolFood) {
		planned := canonical(c.args) == encode(map[string]any{"text": p.recommendText()})
		if (len(c.result.Recommendations) > 0 || planned) == recommended {
			return c.result
		}
	}
	return nil
}

func (p *planner) recommendText() string {
	switch {
	case !p.ask.carried && !p.ask.has(intentOrder) && len(p.ask.intents) == 1:
		return p.ask.words
	case p.ask.again:
		return p.say("换一道菜推荐给我", "Recommend another dish") + p.ask.query
	}
	return p.say("推荐一道适合我的菜", "Recommend a dish that suits me")
}

// orderBlocked tells whether something about the order has to be asked back first.
func (p *planner) orderBlocked() bool {
	return p.ask.problem != noProblem || !p.can(toolOrder) && !p.combined(toolOrder)
}

// planOrder places the order once its condition is known to hold and its dish is known.
func (p *planner) planOrder() {
	if made := p.turn().outcomeOf(toolOrder); made != nil {
		p.ordered = made
		return
	}
	if !p.can(toolOrder) && !p.combined(toolOrder) {
		p.miss(abilityOrdering)
		return
	}
	if p.ask.problem != noProblem || p.ask.conditional && !p.conditionHolds() || p.ask.recommended && !p.takeRecommended() {
		return
	}
	if p.combined(toolOrder) {
		if p.ordered = p.foodMade(false); p.ordered != nil {
			return
		}
		p.ordered = p.want(abilityOrdering, toolFood, map[string]any{"text": p.orderText()})
		return
	}
	args := map[string]any{"items": p.orderItems()}
	if p.ask.note != "" {
		args["note"] = p.ask.note
	}
	p.ordered = p.want(abilityOrdering, toolOrder, args)
}

func (p *planner) orderItems() []any {
	var items []any
	for _, it := range p.ask.items {
		one := map[string]any{"dish": it.dish, "quantity": it.quantity.N}
		if it.note != "" {
			one["note"] = it.note
		}
		items = append(items, one)
	}
	return items
}

// orderText is the order as a sentence for call_food: the user's own words where they say it all.
func (p *planner) orderText() string {
	if !p.ask.carried && !p.ask.conditional && !p.ask.recommended && len(p.ask.intents) == 1 {
		return p.ask.words
	}
	var parts []string
	for _, it := range p.ask.items {
		part := fmt.Sprintf(p.say("%d份%s", "%d portions of %s"), it.quantity.N, it.dish)
		if it.note != "" {
			part += p.say("（"+it.note+"）", " ("+it.note+")")
		}
		parts = append(parts, part)
	}
	said := p.say("帮我订", "Order ") + strings.Join(parts, p.say("和", " and "))
	if p.ask.note != "" {
		said += p.say("，", ", ") + p.ask.note
	}
	return said
}

// conditionHolds tells whether every dish of the condition is there; the menu decides, or the catalog where there is no menu.
func (p *planner) conditionHolds() bool {
	for _, name := range p.conditionDishes() {
		looked := p.menu
		if looked == nil && !p.can(toolMenu) {
			looked = p.want(abilityCanteen, toolSearch, map[string]any{"query": name})
		}
		if looked == nil {
			p.waiting = true
			return false
		}
		if !inStock(looked.Dishes, name) {
			p.unmet = name
			return false
		}
	}
	return true
}

func (p *planner) conditionDishes() []string {
	if len(p.ask.condDishes) > 0 {
		return p.ask.condDishes
	}
	var names []string
	for _, it := range p.ask.items {
		names = append(names, it.dish)
	}
	return names
}

func inStock(dishes []dish, name string) bool {
	for _, d := range matching(dishes, name) {
		if d.Stock != nil && *d.Stock > 0 {
			return true
		}
	}
	return false
}

// matching returns the dishes with this name, else those whose name holds it.
func matching(dishes []dish, name string) []dish {
	var exact, near []dish
	for _, d := range dishes {
		switch {
		case fold(d.Name) == fold(name) || fold(d.NameEn) == fold(name) || fold(d.ID) == fold(name):
			exact = append(exact, d)
		case sameDish(d.Name, name) || sameDish(d.NameEn, name):
			near = append(near, d)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return near
}

// takeRecommended makes the first recommended dish the one to order.
func (p *planner) takeRecommended() bool {
	picks := p.picks()
	if len(picks) == 0 {
		p.waiting = p.recommended == nil
		return false
	}
	for i := range p.ask.items {
		if p.ask.items[i].dish == "" {
			p.ask.items[i].dish = picks[0].Dish.title(p.ask.zh)
		}
	}
	return true
}

// picks returns the recommendations to speak of, without those that earlier answers named if another one is wanted.
func (p *planner) picks() []recommendation {
	if p.recommended == nil {
		return nil
	}
	var picks []recommendation
	for _, r := range p.recommended.Recommendations {
		if r.Dish.Name == "" || r.Dish.Stock != nil && *r.Dish.Stock <= 0 || p.ask.again && p.namedBefore(r.Dish) {
			continue
		}
		picks = append(picks, r)
	}
	return picks
}

func (p *planner) namedBefore(d dish) bool {
	for _, e := range p.exchanges[:len(p.exchanges)-1] {
		if len(e.made(toolRecommend)) == 0 && len(e.made(toolFood)) == 0 {
			continue
		}
		if d.Name != "" && strings.Contains(e.reply, d.Name) || d.NameEn != "" && strings.Contains(e.reply, d.NameEn) {
			return true
		}
	}
	return false
}
