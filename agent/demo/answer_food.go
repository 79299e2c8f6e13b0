package demo

import (
	"fmt"
	"strings"

	"agentmesh/app/platform/text"
)

// yuan writes fen as yuan with two decimals.
func yuan(fen *int64) string {
	if fen == nil {
		return ""
	}
	return text.Yuan(*fen)
}

// cost is the price of a dish as it was read, "" if the result had none.
func (d dish) cost() string {
	price := d.Price
	if price == "" {
		price = yuan(d.PriceFen)
	}
	if price == "" {
		return ""
	}
	return "¥" + price
}

// menuText reads the menu out, sorted by kind; a menu that was only looked at for something that suits stays unsaid.
func (p *planner) menuText() string {
	r := p.menu
	if r == nil && p.ask.menuDay.needsClock() && p.can(toolMenu) && !p.misses(abilityClock) {
		return p.say("我没能弄清是哪一天，请换个说法，比如“明天”或“周三”。", "I could not tell which day you mean; please say it as \"tomorrow\" or \"Wednesday\".")
	}
	if p.dayRefused(r) {
		return p.dayText(p.ask.menuDay)
	}
	if r == nil || r.outcome != succeeded {
		return p.trouble(r, p.say("菜单", "Menu"))
	}
	if p.ask.suits && p.recommended != nil && p.recommended.outcome == succeeded {
		return ""
	}
	when := r.Date
	if name := p.say(r.WeekdayZh, r.WeekdayEn); name != "" {
		when += p.say("（"+name+"）", " ("+name+")")
	}
	lines := []string{fmt.Sprintf(p.say("%s的菜单：", "Menu for %s:"), when), ""}
	for _, category := range []string{"meat", "seafood", "vegetable", "staple", "soup", "drink", "dessert", ""} {
		if line := p.menuLine(r.Dishes, category); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 2 {
		return fmt.Sprintf(p.say("%s的菜单里没有这样的菜。", "There is no such dish on the menu for %s."), when)
	}
	return strings.Join(lines, "\n")
}

// dayRefused tells whether a tool did not know the day it was given.
func (p *planner) dayRefused(r *result) bool {
	return r != nil && r.outcome == failed && r.code == "invalid" && p.ask.menuDay.word != ""
}

// dayText says that a day is not known, and how to name one.
func (p *planner) dayText(d day) string {
	return fmt.Sprintf(p.say("抱歉，我不知道“%s”是哪一天。请说今天、明天、后天、周一到周日、下周一，或者“年-月-日”这样的日期。",
		"Sorry, I do not know which day \"%s\" is. Please name it as today, tomorrow, Monday to Sunday, next Monday, or a date written year-month-day."), d.word)
}

// menuLine lists the dishes of one category; "" stands for every other category.
func (p *planner) menuLine(dishes []dish, category string) string {
	var names []string
	for _, d := range dishes {
		if p.categoryName(d.Category) == p.categoryName(category) && p.passes(d) {
			names = append(names, p.menuEntry(d))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "- **" + p.categoryName(category) + "**" + p.say("：", ": ") + strings.Join(names, p.say("、", ", "))
}

func (p *planner) menuEntry(d dish) string {
	text := d.title(p.ask.zh)
	if cost := d.cost(); cost != "" {
		text += " " + cost
	}
	var marks []string
	if d.Spicy {
		marks = append(marks, p.say("辣", "spicy"))
	}
	if d.Stock != nil && *d.Stock <= 0 {
		marks = append(marks, p.say("已售完", "sold out"))
	}
	if len(marks) > 0 {
		text += p.say("（", " (") + strings.Join(marks, p.say("，", ", ")) + p.say("）", ")")
	}
	return text
}

func (p *planner) passes(d dish) bool {
	switch p.ask.filter {
	case "":
		return true
	case "vegetarian":
		return d.Vegetarian
	case "spicy":
		return d.Spicy
	case "mild":
		return !d.Spicy
	}
	return d.Category == p.ask.filter
}

func (p *planner) categoryName(category string) string {
	switch category {
	case "meat":
		return p.say("荤菜", "Meat")
	case "seafood":
		return p.say("海鲜", "Seafood")
	case "vegetable":
		return p.say("素菜", "Vegetables")
	case "staple":
		return p.say("主食", "Staples")
	case "soup":
		return p.say("汤", "Soups")
	case "drink":
		return p.say("饮料", "Drinks")
	case "dessert":
		return p.say("甜品", "Desserts")
	}
	return p.say("其他", "Others")
}

// dishText gives price and stock of the dishes asked about, from the search results alone.
func (p *planner) dishText() string {
	if len(p.ask.dishes) == 0 && len(p.missing) == 0 {
		return p.say("您想了解哪道菜？", "Which dish would you like to know about?")
	}
	var lines []string
	for i, r := range p.found {
		name := p.ask.dishes[i]
		if r == nil {
			continue
		}
		if r.outcome != succeeded {
			lines = append(lines, p.trouble(r, name))
			continue
		}
		found := matching(r.Dishes, name)
		if len(found) == 0 {
			lines = append(lines, p.notFoundText(name, r.Dishes))
		}
		for _, d := range found[:min(len(found), 5)] {
			lines = append(lines, p.priceText(d))
		}
	}
	return strings.Join(lines, "\n\n")
}

func (p *planner) notFoundText(name string, others []dish) string {
	text := fmt.Sprintf(p.say("没有找到“%s”这道菜。", "I found no dish called \"%s\"."), name)
	var names []string
	for _, d := range others[:min(len(others), 3)] {
		names = append(names, d.title(p.ask.zh))
	}
	if len(names) > 0 && p.searchTool() == toolSearch {
		text += p.say("相关的菜有：", " Related dishes: ") + p.sentence(strings.Join(names, p.say("、", ", ")))
	}
	return text
}

func (p *planner) priceText(d dish) string {
	var parts []string
	if cost := d.cost(); cost != "" {
		parts = append(parts, p.say("每份 "+cost, cost+" each"))
	}
	switch {
	case d.Stock == nil:
		parts = append(parts, p.say("库存没有写明", "the stock is not given"))
	case *d.Stock <= 0:
		parts = append(parts, p.say("已经售完", "sold out"))
	default:
		parts = append(parts, fmt.Sprintf(p.say("库存还有 %d 份", "%d in stock"), *d.Stock))
	}
	if d.Spicy {
		parts = append(parts, p.say("是辣的", "spicy"))
	}
	return d.title(p.ask.zh) + p.say("：", ": ") + p.sentence(strings.Join(parts, p.say("，", ", ")))
}

// recommendAnswer names the recommended dishes with their reasons, and what was left out.
func (p *planner) recommendAnswer() string {
	r := p.recommended
	if p.dayRefused(r) {
		if p.dayRefused(p.menu) {
			return ""
		}
		return p.dayText(p.ask.menuDay)
	}
	if r == nil || r.outcome != succeeded {
		return p.trouble(r, p.say("推荐", "Recommendation"))
	}
	if !r.has("recommendations") {
		return p.orderResult(r)
	}
	picks := p.picks()
	if len(picks) == 0 {
		if p.ask.again {
			return p.say("没有别的合适的菜可以推荐了。", "There is no other dish left that I could recommend.")
		}
		return p.say("没有找到合适的菜可以推荐。", "I found no dish to recommend.")
	}
	if !p.ask.several {
		picks = picks[:1]
	}
	var lines []string
	for _, pick := range picks {
		lines = append(lines, p.pickText(pick))
	}
	text := p.say("为您推荐：", "My recommendation: ") + lines[0]
	if len(lines) > 1 {
		text = p.say("适合您的菜：\n\n- ", "These dishes suit you:\n\n- ") + strings.Join(lines, "\n- ")
	}
	return text + p.consideredText(r)
}

func (p *planner) pickText(pick recommendation) string {
	text := "**" + pick.Dish.title(p.ask.zh) + "**"
	if cost := pick.Dish.cost(); cost != "" {
		text += p.say("（"+cost+"）", " ("+cost+")")
	}
	if reason := p.say(pick.Reason, pick.ReasonEn); reason != "" {
		text += p.say("，", ": ") + reason
	}
	return p.sentence(text)
}

// consideredText says which preferences were used and which dishes were left out because of them.
func (p *planner) consideredText(r *result) string {
	text := ""
	if used := p.preferences(); len(used) > 0 {
		text += "\n\n" + p.say("参考了您的偏好：", "Your preferences were taken into account: ") + p.sentence(strings.Join(used, p.say("；", "; ")))
	} else if p.recalled != nil && p.recalled.outcome != succeeded {
		text += "\n\n" + p.trouble(p.recalled, p.say("偏好", "Preferences"))
	} else if p.recalled != nil && p.ask.preference {
		text += "\n\n" + p.say("我还没有记住您的偏好，这是一般的推荐。", "I do not remember any preference of yours yet, so this is a general one.")
	}
	var left []string
	for _, d := range r.Avoided[:min(len(r.Avoided), 5)] {
		item := p.say(d.Name, d.NameEn)
		if reason := p.say(d.Reason, d.ReasonEn); reason != "" {
			item += p.say("（"+reason+"）", " ("+reason+")")
		}
		left = append(left, item)
	}
	if len(left) > 0 {
		text += "\n\n" + p.say("避开了：", "Left out: ") + p.sentence(strings.Join(left, p.say("、", ", ")))
	}
	return text
}
