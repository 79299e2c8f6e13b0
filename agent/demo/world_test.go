package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// world plays the program around the model: it keeps the messages and answers the calls in the shapes of the contract.
type world struct {
	t        *testing.T
	messages []message
	offered  map[string]bool
	results  map[string]string // by tool; replaces the usual answer
	ids      map[string]bool
	read     strings.Builder // everything said and read, for the check of numbers
}

const (
	beefJSON   = `{"id":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","category":"meat","priceFen":3200,"price":"32.00","stock":20,"spicy":true,"vegetarian":false,"weekdays":[1,2,3,4,5,6,7]}`
	riceJSON   = `{"id":"food-002","name":"米饭","nameEn":"Steamed rice","category":"staple","priceFen":200,"price":"2.00","stock":100,"spicy":false,"vegetarian":true,"weekdays":[1,2,3,4,5,6,7]}`
	tofuJSON   = `{"id":"food-003","name":"家常豆腐","nameEn":"Home-style tofu","category":"vegetable","priceFen":1600,"price":"16.00","stock":8,"spicy":false,"vegetarian":true,"weekdays":[1,3,7]}`
	gongbaJSON = `{"id":"food-004","name":"宫保鸡丁","nameEn":"Kung Pao chicken","category":"meat","priceFen":2600,"price":"26.00","stock":0,"spicy":true,"vegetarian":false,"weekdays":[1,7]}`
	menuJSON   = `{"date":"2026-11-29","weekday":7,"weekdayZh":"星期日","weekdayEn":"Sunday","dishes":[` + beefJSON + `,` + riceJSON + `,` + tofuJSON + `,` + gongbaJSON + `]}`
	tipsJSON   = `{"date":"2026-11-29","weekday":7,"recommendations":[{"dish":` + tofuJSON + `,"reason":"清淡不辣","reasonEn":"mild and light"},{"dish":` + riceJSON + `,"reason":"百搭","reasonEn":"goes with everything"}],"avoided":[{"id":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","reason":"您不吃辣","reasonEn":"you do not eat spicy food"}]}`
)

func allTools() map[string]bool {
	tools := map[string]bool{}
	for _, name := range []string{toolClock, toolRecall, toolRemember, toolForget, toolSearch, "get_food_item", toolMenu, toolRecommend, toolWeather, toolOrder} {
		tools[name] = true
	}
	return tools
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, offered: allTools(), results: map[string]string{}, ids: map[string]bool{}}
	w.messages = []message{{Role: "system", Content: "You are the assistant of a workplace."}}
	return w
}

func (w *world) without(tools ...string) *world {
	for _, name := range tools {
		delete(w.offered, name)
	}
	return w
}

func (w *world) with(tool, result string) *world {
	w.results[tool] = result
	return w
}

// say plays one turn to its end and returns the calls of each round, written as name(args), and the final text.
func (w *world) say(words string) ([][]string, string) {
	w.t.Helper()
	w.messages = append(w.messages, message{Role: "user", Content: content(words)})
	w.read.WriteString(words + "\n")
	var rounds [][]string
	made := map[string]bool{}
	for range 10 {
		req := request{Messages: w.messages}
		for name := range w.offered {
			var one tool
			one.Function.Name = name
			req.Tools = append(req.Tools, one)
		}
		answer := newReply(req, 0)
		if len(answer.calls) == 0 {
			w.messages = append(w.messages, message{Role: "assistant", Content: content(answer.text)})
			w.checkNumbers(answer.text)
			return rounds, answer.text
		}
		rounds = append(rounds, w.serve(answer, made))
	}
	w.t.Fatalf("%q: no end after ten rounds: %v", words, rounds)
	return nil, ""
}

// serve answers the calls of a round, last call first, since results may come in any order.
func (w *world) serve(answer reply, made map[string]bool) []string {
	w.t.Helper()
	var names []string
	for _, c := range answer.calls {
		name, args := c.Function.Name, string(c.Function.Arguments)
		call := name + args
		switch {
		case !w.offered[name]:
			w.t.Errorf("%s is called and was not offered", name)
		case made[call]:
			w.t.Errorf("%s is called twice in one turn", call)
		case w.ids[c.ID]:
			w.t.Errorf("the id %s comes twice", c.ID)
		}
		made[call], w.ids[c.ID] = true, true
		names = append(names, call)
	}
	w.messages = append(w.messages, message{Role: "assistant", ToolCalls: answer.calls})
	for i := len(answer.calls) - 1; i >= 0; i-- {
		c := answer.calls[i]
		result := w.result(c.Function.Name, string(c.Function.Arguments))
		w.read.WriteString(result + "\n")
		w.messages = append(w.messages, message{Role: "tool", ToolCallID: c.ID, Content: content(result)})
	}
	return names
}

func (w *world) result(name, args string) string {
	if text, ok := w.results[name]; ok {
		return text
	}
	var in struct {
		Statement, Query, City, Day string
		Days                        int
		Items                       []struct {
			Dish, Note string
			Quantity   int
		}
	}
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		w.t.Errorf("arguments of %s: %v", name, err)
	}
	switch name {
	case toolClock:
		return `{"iso":"2026-11-29T23:12:33+08:00","date":"2026-11-29","time":"23:12","weekday":7,"weekdayZh":"星期日","weekdayEn":"Sunday","timeZone":"Asia/Shanghai"}`
	case toolRecall:
		return `{"preferences":[{"id":"pref-1","statement":"用户不吃辣","kind":"diet"}]}`
	case toolRemember:
		return `{"remembered":{"id":"pref-2","statement":"` + in.Statement + `","kind":"diet"},"superseded":[]}`
	case toolForget:
		return `{"forgotten":[{"id":"pref-1","statement":"用户不吃辣"}]}`
	case toolMenu:
		return menuJSON
	case toolSearch:
		return search(in.Query)
	case toolRecommend:
		return tipsJSON
	case toolWeather:
		return forecastFor(in.City, in.Days)
	case toolOrder:
		var lines []string
		for _, it := range in.Items {
			lines = append(lines, fmt.Sprintf(`{"dishId":"food-001","name":%q,"nameEn":%q,"quantity":%d,"unitFen":3200,"amountFen":3200,"note":%q}`, it.Dish, it.Dish, it.Quantity, it.Note))
		}
		return `{"orderId":"order-7","status":"CONFIRMED","lines":[` + strings.Join(lines, ",") + `],"totalFen":6700,"total":"67.00","note":"","shown":"32.00"}`
	}
	return `{"error":{"code":"not_found","message":"unknown tool"}}`
}

func search(query string) string {
	var found []string
	for _, one := range []string{beefJSON, riceJSON, tofuJSON, gongbaJSON} {
		if query != "" && strings.Contains(strings.ToLower(one), strings.ToLower(query)) {
			found = append(found, one)
		}
	}
	return fmt.Sprintf(`{"dishes":[%s],"total":%d}`, strings.Join(found, ","), len(found))
}

func forecastFor(city string, days int) string {
	if !knownCityZh.MatchString(city) && !knownCityEn.MatchString(city) {
		return `{"error":{"code":"not_found","message":"没有这个城市的天气 / no weather for this city"}}`
	}
	var list []string
	for i := range days {
		list = append(list, fmt.Sprintf(`{"date":"2026-12-%02d","weekday":%d,"weekdayZh":"星期几%d","weekdayEn":"day%d","condition":"多云","conditionEn":"cloudy","low":%d,"high":%d,"rainProbability":%d}`, i+1, i%7+1, i, i, i, i+9, i*10))
	}
	return fmt.Sprintf(`{"city":%q,"cityEn":%q,"current":{"condition":"多云","conditionEn":"cloudy","temperature":18,"humidity":60,"wind":"东风3级","windEn":"east 3"},"days":[%s],"advice":"带外套","adviceEn":"take a coat","simulated":true}`, city, city, strings.Join(list, ","))
}

var digits = regexp.MustCompile(`\d+`)

// checkNumbers asserts that every number of an answer was said or read before.
func (w *world) checkNumbers(text string) {
	w.t.Helper()
	known := map[string]bool{}
	for _, n := range digits.FindAllString(w.read.String(), -1) {
		known[n] = true
	}
	for _, n := range digits.FindAllString(text, -1) {
		if !known[n] {
			w.t.Errorf("the answer has the number %s, which nobody gave:\n%s", n, text)
		}
	}
}
