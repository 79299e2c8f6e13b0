package demo

import (
	"fmt"
	"strings"

	"agentmesh/app/platform/text"
)

// say picks the text in the user's language.
func (p *planner) say(zh, en string) string {
	if p.ask.zh {
		return zh
	}
	return en
}

// answer puts the answer together from what was read, one paragraph for each thing asked.
func (p *planner) answer() string {
	a := &p.ask
	parts := []string{p.talk()}
	if a.has(intentClock) {
		parts = append(parts, p.clockText())
	}
	parts = append(parts, p.memoryText())
	if a.has(intentWeather) {
		parts = append(parts, p.weatherText())
	}
	if a.has(intentMenu) {
		parts = append(parts, p.menuText())
	}
	if a.has(intentDish) {
		parts = append(parts, p.dishText())
	}
	if a.has(intentRecommend) {
		parts = append(parts, p.recommendAnswer())
	}
	if a.has(intentOrder) {
		parts = append(parts, p.orderAnswer())
	}
	parts = append(parts, p.namedText(), p.missingText())
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		if p.readNothing() {
			return p.fallback()
		}
		return p.say("这些我这次没有读到，没法回答。", "I did not get to read that this time, so I cannot answer it.")
	}
	return strings.Join(kept, "\n\n")
}

// readNothing tells whether the message asked for nothing that the rules know.
func (p *planner) readNothing() bool {
	return !p.ask.any(intentClock, intentWeather, intentMenu, intentDish, intentRemember, intentRecall, intentForget, intentRecommend, intentOrder)
}

// missingText says which abilities are switched off, or what there was no round left to read.
func (p *planner) missingText() string {
	var names []string
	for _, a := range p.missing {
		names = append(names, p.abilityName(a))
	}
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names, p.say("、", ", "))
	if len(p.tools) == 0 && len(p.turn().calls) > 0 {
		return fmt.Sprintf(p.say("%s这一部分，这一轮没能进行。", "This part could not be done in this round: %s."), list)
	}
	return fmt.Sprintf(p.say("%s功能现在没有为您开启，可以在技能列表里打开。", "This ability is not switched on for you right now: %s. You can switch it on in the skill list."), list)
}

func (p *planner) abilityName(a ability) string {
	switch a {
	case abilityMemory:
		return p.say("记忆", "memory")
	case abilityWeather:
		return p.say("天气", "weather")
	case abilityCanteen:
		return p.say("食堂", "canteen")
	case abilityOrdering:
		return p.say("订餐", "ordering")
	}
	return p.say("时间", "clock")
}

// trouble says in plain words why a result holds no answer; "" if it does.
func (p *planner) trouble(r *result, what string) string {
	if r == nil {
		return ""
	}
	switch r.outcome {
	case pending:
		return fmt.Sprintf(p.say("%s：这一步没有得到结果。", "%s: this step gave no result."), what)
	case unreadable:
		return fmt.Sprintf(p.say("%s：返回的内容我没能读懂，所以不乱说。", "%s: the answer could not be read, so I will not guess."), what)
	case failed:
		return fmt.Sprintf(p.say("%s：抱歉，没有成功。%s", "%s: sorry, that did not work. %s"), what, p.reason(r))
	case offloaded:
		return fmt.Sprintf(p.say("%s：还要一些时间，已在后台继续；有了结果我会告诉您。", "%s: this takes longer and goes on in the background; I will tell you when there is a result."), what)
	case stopped:
		return fmt.Sprintf(p.say("%s：已经停止。", "%s: this was stopped."), what)
	case denied:
		return fmt.Sprintf(p.say("%s：这一步没有被允许。", "%s: this step was not allowed."), what)
	}
	return ""
}

// reason is the tool's own sentence, or one for its error code.
func (p *planner) reason(r *result) string {
	if said := strings.TrimSpace(text.Cut(r.Message, 300)); said != "" && !p.foreign(r.code, said) {
		return p.sentence(said)
	}
	switch r.code {
	case "not_found":
		return p.say("没有找到。", "It was not found.")
	case "timeout":
		return p.say("等待超时了，请稍后再试。", "It took too long; please try again later.")
	case "unavailable", "rate_limited":
		return p.say("暂时用不了，请稍后再试。", "It is not available at the moment; please try again later.")
	case "conflict":
		return p.say("情况已经变了，请重新试一次。", "Things have changed meanwhile; please try once more.")
	}
	return p.say("原因不明。", "The reason is not known.")
}

// foreign tells whether a tool's words about its own trouble are not in the user's language; ours are.
func (p *planner) foreign(code, said string) bool {
	switch code {
	case "timeout", "unavailable", "rate_limited":
		return text.HasHan(said) != p.ask.zh && !strings.Contains(said, " / ")
	}
	return false
}

// sentence ends a text with a full stop.
func (p *planner) sentence(said string) string {
	said = ownHalf(said, p.ask.zh)
	if strings.HasSuffix(said, "。") || strings.HasSuffix(said, ".") || strings.HasSuffix(said, "！") || strings.HasSuffix(said, "!") {
		return said
	}
	return said + p.say("。", ".")
}

// ownHalf takes the user's language of a sentence that a tool says in both, with a stroke between.
func ownHalf(said string, zh bool) string {
	first, second, both := strings.Cut(said, " / ")
	if !both || strings.Contains(second, " / ") || !text.HasHan(first) {
		return said
	}
	if zh {
		return first
	}
	return second
}
