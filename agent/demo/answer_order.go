package demo

import (
	"fmt"
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// orderAnswer tells how the order ended, or what has to be settled before it can be placed.
func (p *planner) orderAnswer() string {
	switch {
	case p.ordered != nil:
		return p.orderResult(p.ordered)
	case p.misses(abilityOrdering):
		return ""
	case p.ask.problem != noProblem:
		return p.problemText()
	case p.unmet != "":
		return p.unmetText()
	case p.ask.recommended:
		return p.say("没有可以推荐的菜，所以没有下单。", "There was nothing to recommend, so no order was placed.")
	}
	return p.say("没有下单。", "No order was placed.")
}

func (p *planner) misses(a ability) bool {
	for _, m := range p.missing {
		if m == a {
			return true
		}
	}
	return false
}

func (p *planner) orderResult(r *result) string {
	switch r.outcome {
	case pending:
		return p.say("下单没有得到结果，请看订单列表确认。", "The order gave no result; please check the list of orders.")
	case unreadable:
		return p.say("下单返回的内容没能读懂，请看订单列表确认。", "The answer to the order could not be read; please check the list of orders.")
	case failed:
		return p.orderFailed(r)
	case denied:
		return p.orderDenied(r)
	case offloaded, stopped:
		return p.trouble(r, p.say("下单", "The order"))
	}
	switch {
	case r.OrderID == "" && r.has("recommendations"):
		return ""
	case r.OrderID == "":
		return p.sentence(text.Cut(r.Message, 300))
	}
	head := fmt.Sprintf(p.say("已下单，订单号 %s：", "Ordered, order number %s:"), r.OrderID)
	if r.Status != "" && r.Status != "CONFIRMED" {
		head = fmt.Sprintf(p.say("订单 %s 的状态是 %s：", "Order %s has the status %s:"), r.OrderID, r.Status)
	}
	lines := []string{head, ""}
	for _, line := range r.Lines {
		lines = append(lines, p.lineText(line))
	}
	if total := r.total(); total != "" {
		lines = append(lines, "", p.say("合计 ¥", "Total: ¥")+total+p.say("。", "."))
	}
	return strings.Join(lines, "\n")
}

func (p *planner) lineText(line orderLine) string {
	name := line.Name
	if !p.ask.zh && line.NameEn != "" {
		name = line.NameEn
	}
	text := fmt.Sprintf("- %s × %d", name, line.Quantity)
	if amount := yuan(line.AmountFen); amount != "" {
		text += p.say("，¥", ", ¥") + amount
	}
	if line.Note != "" {
		text += p.say("（"+line.Note+"）", " ("+line.Note+")")
	}
	return text
}

// orderFailed does not claim that nothing was ordered where the error leaves that open.
func (p *planner) orderFailed(r *result) string {
	ran := r.Ran == nil || *r.Ran
	switch {
	case ran && slices.Contains([]string{"timeout", "unavailable", "internal", "indeterminate"}, r.code):
		return p.say("下单没有得到确认，请先看订单列表，再决定要不要重试。", "The order was not confirmed to me; please check the list of orders before trying again. ") + p.reason(r)
	}
	return p.say("下单没有成功：", "The order was not placed: ") + p.reason(r)
}

func (p *planner) orderDenied(r *result) string {
	switch strings.ToLower(r.Reason) {
	case "rejected":
		return p.say("好的，您没有同意，所以没有下单。", "All right, you declined, so no order was placed.")
	case "expired":
		return p.say("确认已过期，没有下单。需要的话请再说一次。", "The confirmation has expired, so no order was placed. Just ask again if you still want it.")
	case "cancelled", "canceled":
		return p.say("已取消，没有下单。", "It was cancelled, so no order was placed.")
	case "policy":
		return p.say("规则不允许这次下单，所以没有下单。", "The rules do not allow this order, so no order was placed.")
	}
	said := p.say("这次下单没有被允许，没有下单。", "This order was not allowed, so no order was placed. ")
	if r.Message != "" {
		said += p.sentence(text.Cut(r.Message, 300))
	}
	return strings.TrimSpace(said)
}

func (p *planner) problemText() string {
	it := item{}
	if len(p.ask.items) > 0 {
		it = p.ask.items[min(p.ask.problemAt, len(p.ask.items)-1)]
	}
	said := strings.TrimSuffix(strings.TrimSpace(it.quantity.Text), " of")
	switch p.ask.problem {
	case problemZero:
		return p.say("零份没法下单。", "I cannot order zero portions. ") + p.howMany(it)
	case problemNegative:
		return fmt.Sprintf(p.say("“%s”不是可以下单的数量。", "\"%s\" is not a number of portions. "), said) + p.howMany(it)
	case problemHalf:
		return p.say("没有半份可以订，只能按整份下单。", "Half portions cannot be ordered, only whole ones. ") + p.howMany(it)
	case problemFraction:
		return fmt.Sprintf(p.say("只能按整份下单，“%s”不行。", "Only whole portions can be ordered, so \"%s\" will not do. "), said) + p.howMany(it)
	case problemVague:
		return fmt.Sprintf(p.say("“%s”我拿不准。", "I am not sure what \"%s\" is. "), said) + p.howMany(it)
	case problemTooMany:
		return p.say("一次订单最多二十份，所以没有下单。要少订一些吗？", "One order can hold twenty portions at most, so nothing was ordered. Would you like fewer?")
	case problemWhich:
		return p.say("您要再来哪一道菜？", "Which of the dishes would you like more of?")
	case problemEmpty:
		return p.say("好的，去掉以后没有别的菜了，所以没有下单。", "All right; without it nothing is left, so no order was placed.")
	case problemOtherDay:
		return p.say("只能订今天的餐，所以没有下单。要订今天的吗？请再说一次。", "Only today's dishes can be ordered, so nothing was ordered. If you want it today, just say so again.")
	case problemDone:
		return p.say("订单已经确认，我改不了，请在订单列表里查看。", "The order is already confirmed and I cannot change it; please see the list of orders.")
	}
	return p.say("您想订哪道菜？", "Which dish would you like to order?")
}

// howMany asks back for a whole number.
func (p *planner) howMany(it item) string {
	if it.dish == "" {
		return p.say("请告诉我要几份（整数）。", "How many would you like, as a whole number?")
	}
	return fmt.Sprintf(p.say("%s要几份？请说一个整数。", "How many portions of %s would you like, as a whole number?"), it.dish)
}

func (p *planner) unmetText() string {
	if r := p.menu; r != nil && r.outcome != succeeded {
		return p.say("菜单没有读到，没法确认有没有，所以没有下单。", "The menu could not be read, so I could not check for it and no order was placed.")
	}
	name := p.unmet
	if p.menu != nil && len(matching(p.menu.Dishes, name)) > 0 {
		return fmt.Sprintf(p.say("%s已经售完，所以没有下单。", "%s is sold out, so no order was placed."), name)
	}
	return fmt.Sprintf(p.say("菜单里没有%s，所以没有下单。", "%s is not on the menu, so no order was placed."), name)
}
