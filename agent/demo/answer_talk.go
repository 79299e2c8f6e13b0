package demo

import (
	"fmt"
	"strings"

	"agentmesh/app/platform/text"
)

// talk answers what needs no tool.
func (p *planner) talk() string {
	a := &p.ask
	switch {
	case a.has(intentWho):
		return p.say("我是 AgentMesh 内置的演示模型，按规则工作，不是真正的大模型。", "I am the demo model built into AgentMesh. I work by rules and am no real language model.") + "\n\n" + p.examples()
	case a.has(intentHelp):
		return p.examples()
	case a.has(intentOrders):
		return p.say("查看或取消订单我做不到，请看页面上的订单列表。", "I cannot look up or cancel orders; please see the list of orders on the page.")
	case !p.readNothing():
		return ""
	case a.has(intentThanks):
		return p.say("不客气！还需要什么就告诉我。", "You are welcome! Tell me if you need anything else.")
	case a.has(intentBye):
		return p.say("再见！", "Goodbye!")
	case a.has(intentHello):
		return p.say("您好！", "Hello! ") + p.examples()
	case a.has(intentOK):
		return p.say("好的。", "All right.")
	case a.has(intentFact):
		return p.say("知道了。如果要我记住，请说“记住”加上这句话。", "I see. If I should keep that in mind, please say \"remember that\" and then the sentence.")
	case a.noOrder:
		return p.say("好的，不下单。", "All right, I will not order anything.")
	}
	return ""
}

func (p *planner) examples() string {
	return p.say(
		"您可以这样问我：\n\n- 现在几点？\n- 今天食堂有什么菜？\n- 水煮牛肉多少钱，还有库存吗？\n- 上海未来三天天气怎么样？\n- 记住我不吃辣。\n- 结合我的偏好推荐一道菜。\n- 帮我订一份水煮牛肉。",
		"You can ask me things like:\n\n- What time is it?\n- What is on the menu today?\n- How much is the Sichuan boiled beef, and is it in stock?\n- What will the weather be in Shanghai over the next three days?\n- Remember that I don't eat spicy food.\n- Recommend a dish based on my preferences.\n- Order one Sichuan boiled beef.",
	)
}

// fallback is the honest answer to everything else.
func (p *planner) fallback() string {
	return p.say(
		"抱歉，这个我帮不上忙。我是内置的演示模型，按规则工作，只懂时间、食堂、天气、偏好和订餐这些事。",
		"Sorry, I cannot help with that. I am the built-in demo model and work by rules; I only know about the time, the canteen, the weather, your preferences and ordering.",
	) + "\n\n" + p.examples() + "\n\n" + p.say(
		"想用真正的模型，请设置 LLM_API_KEY、LLM_BASE_URL 和 LLM_MODEL。",
		"To connect a real model, set LLM_API_KEY, LLM_BASE_URL and LLM_MODEL.",
	)
}

func (p *planner) clockText() string {
	r := p.clock
	if r == nil || r.outcome != succeeded {
		return p.trouble(r, p.say("时间", "Time"))
	}
	zone := p.say(r.WeekdayZh, r.WeekdayEn)
	said := fmt.Sprintf(p.say("现在是 %s %s，%s。", "It is %[3]s, %[1]s, %[2]s."), r.Date, r.Time, zone)
	if r.Time == "" || r.Date == "" || zone == "" {
		said = p.say("现在是 ", "It is ") + strings.TrimSpace(strings.Join([]string{r.Date, r.Time, zone}, " ")) + p.say("。", ".")
	}
	if d := p.ask.clockDay; d.kind == kindOffset && d.offset != 0 && r.Weekday > 0 {
		number := ((r.Weekday-1+d.offset)%7+7)%7 + 1
		said += " " + fmt.Sprintf(p.say("%s是%s。", "%s is a %s."), p.offsetName(d.offset), p.say(text.WeekdayZh(number), text.WeekdayEn(number)))
	}
	return said
}

func (p *planner) offsetName(offset int) string {
	switch offset {
	case -2:
		return p.say("前天", "The day before yesterday")
	case -1:
		return p.say("昨天", "Yesterday")
	case 1:
		return p.say("明天", "Tomorrow")
	case 2:
		return p.say("后天", "The day after tomorrow")
	}
	return p.say("大后天", "In three days it")
}

// memoryText tells what was remembered, forgotten and recalled.
func (p *planner) memoryText() string {
	var lines []string
	for _, r := range p.remembered {
		lines = append(lines, p.rememberedText(r))
	}
	if p.ask.has(intentForget) {
		lines = append(lines, p.forgottenText())
	}
	if p.ask.has(intentRecall) {
		lines = append(lines, p.recalledText())
	}
	if p.ask.has(intentRemember) && len(p.ask.statements) == 0 {
		lines = append(lines, p.say("请告诉我要记住什么。", "Please tell me what to remember."))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (p *planner) rememberedText(r *result) string {
	if r == nil || r.outcome != succeeded {
		return p.trouble(r, p.say("记住偏好", "Remembering"))
	}
	return p.say("记住了：", "Remembered: ") + p.sentence(r.Remembered.Statement)
}

func (p *planner) forgottenText() string {
	var gone []string
	for _, r := range p.forgotten {
		if text := p.trouble(r, p.say("忘掉偏好", "Forgetting")); text != "" {
			return text
		}
		if r != nil {
			for _, pref := range r.Forgotten {
				gone = append(gone, pref.Statement)
			}
		}
	}
	switch {
	case len(gone) > 0:
		return p.say("已经忘掉：", "Forgotten: ") + p.sentence(strings.Join(gone, p.say("；", "; ")))
	case p.ask.forgetAll && p.recalled != nil && p.recalled.outcome != succeeded:
		return p.trouble(p.recalled, p.say("偏好", "Preferences"))
	case len(p.missing) > 0:
		return ""
	case len(p.ask.forget) == 0 && !p.ask.forgetAll:
		return p.say("请告诉我要忘掉什么。", "Please tell me what to forget.")
	}
	return p.say("没有找到这样的记忆，所以没有什么要忘的。", "I found nothing like that in memory, so there is nothing to forget.")
}

func (p *planner) recalledText() string {
	r := p.recalled
	if r == nil || r.outcome != succeeded {
		return p.trouble(r, p.say("偏好", "Preferences"))
	}
	if len(r.Preferences) == 0 {
		return p.say("我还没有记住您的任何偏好。", "I do not remember any preference of yours yet.")
	}
	lines := []string{p.say("我记得：", "I remember:"), ""}
	for _, pref := range r.Preferences {
		lines = append(lines, "- "+pref.Statement)
	}
	return strings.Join(lines, "\n")
}
