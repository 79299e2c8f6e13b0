package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentmesh/app/platform/text"
)

// weatherText tells the weather of the day or days asked for.
func (p *planner) weatherText() string {
	a := &p.ask
	switch {
	case p.misses(abilityWeather):
		return ""
	case a.weatherDay.kind == kindOffset && a.weatherDay.offset < 0:
		return p.say("过去的天气我查不到，只能查今天和以后几天的。", "I cannot look up past weather, only today and the days ahead.")
	case a.weatherDay.kind == kindUnknown:
		return p.dayText(a.weatherDay)
	case p.needsCity:
		return p.say("您想看哪个城市的天气？", "Which city's weather would you like to know?")
	}
	var parts []string
	for i, r := range p.weather {
		parts = append(parts, p.cityText(r, a.cities[i]))
	}
	return joinParts(parts, "\n\n")
}

// cityText tells the weather of one city.
func (p *planner) cityText(r *result, asked string) string {
	a := &p.ask
	if r == nil {
		return ""
	}
	if r.outcome != succeeded {
		return p.trouble(r, fmt.Sprintf(p.say("%s的天气", "Weather in %s"), asked))
	}
	city := p.say(r.City, r.CityEn)
	if city == "" {
		city = asked
	}
	days, single := p.daysAsked(r.Days)
	var lines []string
	if r.Current != nil && (!single || a.weatherDay.kind == kindNone || a.weatherDay.offset == 0 && a.weatherDay.kind == kindOffset) {
		lines = append(lines, p.currentText(city, r.Current))
	} else {
		lines = append(lines, fmt.Sprintf(p.say("%s的天气：", "Weather in %s:"), city))
	}
	if len(days) > 0 {
		lines = append(lines, "")
	}
	for _, d := range days {
		lines = append(lines, p.forecastText(d))
	}
	if advice := p.say(r.Advice, r.AdviceEn); advice != "" {
		lines = append(lines, "", p.sentence(advice))
	}
	if a.span > maxDays {
		lines = append(lines, "", p.say("（最多只能看七天。）", "(Seven days at most can be told.)"))
	}
	if r.Simulated {
		lines = append(lines, "", p.say("（天气是模拟数据。）", "(The weather data is simulated.)"))
	}
	return strings.Join(lines, "\n")
}

// daysAsked picks the forecast days that were asked for: all of a span, or the one day that was named.
func (p *planner) daysAsked(days []forecast) ([]forecast, bool) {
	d := p.ask.weatherDay
	if p.ask.spanNamed || len(days) == 0 {
		return days, false
	}
	var picked []forecast
	for i, f := range days {
		hit := false
		switch d.kind {
		case kindOffset:
			hit = i == d.offset
		case kindWeekday:
			hit = f.Weekday == d.number && len(picked) == 0
		case kindWeekend:
			hit = f.Weekday >= 6
		case kindDate:
			hit = f.Date == d.word || strings.HasSuffix(f.Date, fmt.Sprintf("-%02d-%02d", d.offset/100, d.offset%100))
		case kindNone:
			hit = i == 0
		}
		if hit {
			picked = append(picked, f)
		}
	}
	if len(picked) == 0 {
		return days, false
	}
	return picked, true
}

func (p *planner) currentText(city string, w *weather) string {
	parts := []string{p.say(w.Condition, w.ConditionEn)}
	if w.Temperature != nil {
		parts = append(parts, number(w.Temperature)+"℃")
	}
	if w.Humidity != nil {
		parts = append(parts, p.say("湿度 ", "humidity ")+number(w.Humidity)+"%")
	}
	if wind := p.say(w.Wind, w.WindEn); wind != "" {
		parts = append(parts, p.say("", "wind ")+wind)
	}
	return fmt.Sprintf(p.say("%s现在%s。", "Now in %s: %s."), city, joinParts(parts, p.say("，", ", ")))
}

func (p *planner) forecastText(f forecast) string {
	parts := []string{p.say(f.Condition, f.ConditionEn)}
	if f.Low != nil && f.High != nil {
		parts = append(parts, number(f.Low)+p.say("～", " to ")+number(f.High)+"℃")
	}
	if f.RainProbability != nil {
		parts = append(parts, p.say("降水概率 ", "chance of rain ")+number(f.RainProbability)+"%")
	}
	head := strings.TrimSpace(f.Date + " " + p.say(f.WeekdayZh, f.WeekdayEn))
	return "- " + head + p.say("：", ": ") + joinParts(parts, p.say("，", ", "))
}

func number(n *json.Number) string {
	return text.Cut(n.String(), 20)
}

func joinParts(parts []string, separator string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}
