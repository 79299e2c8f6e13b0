package demo

import (
	"strings"
	"testing"
)

// scene is one turn: what is said, which calls follow (rounds apart by " / ", calls of a round by " + "), and what the
// answer must and must not hold.
type scene struct {
	say   string
	calls string
	want  []string
	never []string
}

func (s scene) play(w *world) {
	w.t.Helper()
	rounds, text := w.say(s.say)
	var parts []string
	for _, round := range rounds {
		parts = append(parts, strings.Join(round, " + "))
	}
	if got := strings.Join(parts, " / "); got != s.calls {
		w.t.Errorf("%q\n got calls %s\nwant calls %s", s.say, got, s.calls)
	}
	for _, part := range s.want {
		if !strings.Contains(text, part) {
			w.t.Errorf("%q: the answer lacks %q:\n%s", s.say, part, text)
		}
	}
	for _, part := range s.never {
		if strings.Contains(text, part) {
			w.t.Errorf("%q: the answer must not hold %q:\n%s", s.say, part, text)
		}
	}
}

// playEach plays every scene in a conversation of its own.
func playEach(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.say, func(t *testing.T) {
			t.Parallel()
			s.play(newWorld(t))
		})
	}
}

func TestPlan_talk(t *testing.T) {
	t.Parallel()
	zhHelp, enHelp := []string{"现在几点", "帮我订一份"}, []string{"What time is it", "Order one"}
	playEach(t, []scene{
		{say: "你是谁？", want: []string{"演示模型", "规则"}},
		{say: "介绍一下你自己", want: []string{"演示模型"}},
		{say: "Who are you?", want: []string{"demo model", "rules"}},
		{say: "What's your name?", want: []string{"demo model"}},
		{say: "你好", want: zhHelp},
		{say: "Hello!", want: enHelp},
		{say: "good morning", want: enHelp},
		{say: "谢谢！", want: []string{"不客气"}},
		{say: "Thanks a lot", want: []string{"welcome"}},
		{say: "help", want: enHelp},
		{say: "你能做什么？", want: zhHelp},
		{say: "What can you do?", want: enHelp},
		{say: "写一首诗", want: []string{"LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL", "演示模型"}},
		{say: "Write a poem", want: []string{"LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL", "demo model"}},
		{say: "食堂几点开门", want: []string{"帮不上忙"}},
		{say: "我要投诉", want: []string{"帮不上忙"}},
		{say: "？", want: []string{"帮不上忙"}},
		{say: "取消我的订单", want: []string{"订单列表"}},
		{say: "Cancel my order", want: []string{"list of orders"}},
		{say: "我不吃辣", want: []string{"记住"}},
		{say: "那明天呢", want: []string{"帮不上忙"}},
	})
}

func TestPlan_time(t *testing.T) {
	t.Parallel()
	zh := scene{calls: "get_current_time{}", want: []string{"2026-11-29", "23:12", "星期日"}}
	en := scene{calls: "get_current_time{}", want: []string{"2026-11-29", "23:12", "Sunday"}}
	for _, words := range []string{"现在几点？", "今天几号？", "今天星期几", "请问现在是什么时间", "今天是几月几号"} {
		zh.say = words
		zh.play(newWorld(t))
	}
	for _, words := range []string{"What time is it?", "what's the date today", "What day is it today?", "Could you tell me the time please", "what is the current time"} {
		en.say = words
		en.play(newWorld(t))
	}
	scene{say: "明天星期几", calls: "get_current_time{}", want: []string{"明天是星期一"}}.play(newWorld(t))
}

func TestPlan_menu(t *testing.T) {
	t.Parallel()
	want := func(day string) string {
		if day == "" {
			return "list_menu_by_day{}"
		}
		return `list_menu_by_day{"day":"` + day + `"}`
	}
	zh, en := []string{"水煮牛肉 ¥32.00", "售完"}, []string{"Sichuan boiled beef ¥32.00", "sold out"}
	playEach(t, []scene{
		{say: "今天食堂有什么菜？", calls: want("today"), want: zh},
		{say: "周三有什么菜", calls: want("wednesday"), want: zh},
		{say: "明天的菜单", calls: want("tomorrow"), want: zh},
		{say: "礼拜天吃什么", calls: want("sunday"), want: zh},
		{say: "下周一的菜单", calls: want("下周一"), want: zh},
		{say: "今天有什么素菜", calls: want("today"), want: []string{"家常豆腐"}, never: []string{"水煮牛肉"}},
		{say: "后天的菜单", calls: "get_current_time{} / " + want("2026-12-01"), want: zh},
		{say: "2026-12-03有什么菜", calls: want("2026-12-03"), want: zh},
		{say: "不要订餐，只看看菜单", calls: want(""), want: zh},
		{say: "What's on the menu today?", calls: want("today"), want: en},
		{say: "What dishes are there on Wednesday?", calls: want("wednesday"), want: en},
		{say: "Show me tomorrow's menu", calls: want("tomorrow"), want: en},
		{say: "What does the canteen serve today?", calls: want("today"), want: en},
		{say: "What's for lunch?", calls: want(""), want: en},
		{say: "next Monday's menu", calls: want("下周一"), want: en},
		{say: "Don't order anything, just show me the menu", calls: want(""), want: en},
		{say: "I'd like to see the menu", calls: want(""), want: en},
	})
}

func TestPlan_dish(t *testing.T) {
	t.Parallel()
	beef, beefEn := `search_food_catalog{"query":"水煮牛肉"}`, `search_food_catalog{"query":"Sichuan boiled beef"}`
	zh, en := []string{"水煮牛肉", "¥32.00", "20 份"}, []string{"Sichuan boiled beef", "¥32.00", "20 in stock"}
	playEach(t, []scene{
		{say: "水煮牛肉多少钱，还有库存吗？", calls: beef, want: zh},
		{say: "水煮牛肉还有几份", calls: beef, want: zh},
		{say: "还有水煮牛肉吗", calls: beef, want: zh},
		{say: "查一下水煮牛肉的价格", calls: beef, want: zh},
		{say: "How much is the Sichuan boiled beef, and is it in stock?", calls: beefEn, want: en},
		{say: "How many portions of Sichuan boiled beef are left?", calls: beefEn, want: en},
		{say: "What's the price of Sichuan boiled beef? Is it still available?", calls: beefEn, want: en},
		{say: "Do you have Sichuan boiled beef?", calls: beefEn, want: en},
		{say: "I want to know the price of Sichuan boiled beef", calls: beefEn, want: en},
		{say: "宫保鸡丁还有吗", calls: `search_food_catalog{"query":"宫保鸡丁"}`, want: []string{"售完", "¥26.00"}},
		{say: "水煮牛肉和米饭多少钱", calls: beef + ` + search_food_catalog{"query":"米饭"}`, want: []string{"¥32.00", "¥2.00"}},
		{say: "龙虾多少钱", calls: `search_food_catalog{"query":"龙虾"}`, want: []string{"没有找到", "龙虾"}, never: []string{"¥", "库存"}},
		{say: "How much is the lobster?", calls: `search_food_catalog{"query":"lobster"}`, want: []string{"no dish", "lobster"}, never: []string{"¥", "stock"}},
		{say: "多少钱？", want: []string{"哪道菜"}},
		{say: "How much?", want: []string{"Which dish"}},
	})
}

func TestPlan_weather(t *testing.T) {
	t.Parallel()
	playEach(t, []scene{
		{say: "上海未来三天天气怎么样？", calls: `call_weather{"city":"上海","days":3}`, want: []string{"2026-12-01", "2026-12-03", "模拟"}},
		{say: "上海明天会下雨吗", calls: `call_weather{"city":"上海","days":2}`, want: []string{"2026-12-02"}, never: []string{"2026-12-01"}},
		{say: "这周末杭州天气怎么样", calls: `call_weather{"city":"杭州","days":7}`, want: []string{"2026-12-06", "2026-12-07"}, never: []string{"2026-12-01"}},
		{say: "上海和北京的天气", calls: `call_weather{"city":"上海","days":1} + call_weather{"city":"北京","days":1}`, want: []string{"上海", "北京"}},
		{say: "上海未来十天天气", calls: `call_weather{"city":"上海","days":7}`, want: []string{"七天"}},
		{say: "火星天气怎么样", calls: `call_weather{"city":"火星","days":1}`, want: []string{"抱歉", "没有这个城市"}},
		{say: "天气怎么样？", want: []string{"哪个城市"}},
		{say: "明天要带伞吗", want: []string{"哪个城市"}},
		{say: "昨天上海天气", want: []string{"过去"}},
		{say: "What's the weather in Shanghai for the next three days?", calls: `call_weather{"city":"Shanghai","days":3}`, want: []string{"2026-12-03", "simulated"}},
		{say: "Give me a 3-day forecast for Shanghai", calls: `call_weather{"city":"Shanghai","days":3}`, want: []string{"2026-12-03"}},
		{say: "Will it rain in Beijing tomorrow?", calls: `call_weather{"city":"Beijing","days":2}`, want: []string{"2026-12-02"}},
		{say: "Shanghai weather", calls: `call_weather{"city":"Shanghai","days":1}`, want: []string{"Now in Shanghai", "18℃"}},
		{say: "What's the weather in Atlantis?", calls: `call_weather{"city":"Atlantis","days":1}`, want: []string{"sorry", "no weather for this city"}},
		{say: "What's the weather for Monday in New Atlantis?", calls: `call_weather{"city":"New Atlantis","days":7}`},
		{say: "How's the weather?", want: []string{"Which city"}},
		{say: "How is Monday's weather?", want: []string{"Which city"}},
		{say: "天津天气怎么样", calls: `call_weather{"city":"天津","days":1}`},
	})
}

func TestPlan_memory(t *testing.T) {
	t.Parallel()
	playEach(t, []scene{
		{say: "记住我不吃辣。", calls: `remember_preference{"kind":"diet","statement":"用户不吃辣"}`, want: []string{"记住了", "用户不吃辣"}},
		{say: "请记住，我对花生过敏，住在上海", calls: `remember_preference{"kind":"allergy","statement":"用户对花生过敏"} + remember_preference{"kind":"place","statement":"用户住在上海"}`, want: []string{"用户住在上海"}},
		{say: "忘掉我不吃辣", calls: `forget_preference{"query":"不吃辣"}`, want: []string{"忘掉", "用户不吃辣"}},
		{say: "忘掉我的偏好", calls: `recall_preferences{} / forget_preference{"id":"pref-1"}`, want: []string{"已经忘掉"}},
		{say: "忘掉", want: []string{"要忘掉什么"}},
		{say: "你记得我什么", calls: "recall_preferences{}", want: []string{"用户不吃辣"}},
		{say: "我有什么忌口", calls: "recall_preferences{}", want: []string{"用户不吃辣"}},
		{say: "Remember that I don't eat spicy food.", calls: `remember_preference{"kind":"diet","statement":"User does not eat spicy food"}`, want: []string{"Remembered", "does not eat spicy"}},
		{say: "Please remember I like light food", calls: `remember_preference{"kind":"taste","statement":"User likes light food"}`},
		{say: "Keep in mind that I'm allergic to peanuts", calls: `remember_preference{"kind":"allergy","statement":"User is allergic to peanuts"}`},
		{say: "Note that I live in Shanghai", calls: `remember_preference{"kind":"place","statement":"User lives in Shanghai"}`},
		{say: "Forget that I don't eat spicy food", calls: `forget_preference{"query":"does not eat spicy food"}`, want: []string{"Forgotten"}},
		{say: "Forget everything", calls: `recall_preferences{} / forget_preference{"id":"pref-1"}`, want: []string{"Forgotten"}},
		{say: "What do you remember about me?", calls: "recall_preferences{}", want: []string{"用户不吃辣"}},
		{say: "What are my preferences?", calls: "recall_preferences{}"},
		{say: "记住我不吃辣，然后推荐一道菜", calls: `remember_preference{"kind":"diet","statement":"用户不吃辣"} / recall_preferences{} / ` + advised("")},
	})
}

func advised(more string) string {
	return `recommend_food{` + more + `"preferences":["用户不吃辣"]}`
}

func TestPlan_recommend(t *testing.T) {
	t.Parallel()
	steps := "recall_preferences{} / " + advised("")
	zh, en := []string{"家常豆腐", "¥16.00", "清淡不辣", "用户不吃辣"}, []string{"Home-style tofu", "¥16.00", "mild and light"}
	playEach(t, []scene{
		{say: "结合我的偏好推荐一道菜。", calls: steps, want: zh, never: []string{"百搭"}},
		{say: "帮我推荐一道菜", calls: steps, want: zh},
		{say: "今天吃什么好", calls: steps, want: zh},
		{say: "有什么适合我的菜", calls: steps, want: []string{"家常豆腐", "米饭", "避开了：水煮牛肉"}},
		{say: "推荐一道清淡的菜", calls: `recall_preferences{} / recommend_food{"preferences":["用户不吃辣"],"query":"清淡"}`},
		{say: "推荐一道不辣的", calls: steps},
		{say: "推荐一道菜并帮我订一份", calls: steps + ` / place_order{"items":[{"dish":"家常豆腐","quantity":1}]}`, want: []string{"家常豆腐", "order-7"}},
		{say: "Recommend a dish based on my preferences.", calls: steps, want: en},
		{say: "Can you suggest something to eat?", calls: steps, want: en},
		{say: "What should I eat today?", calls: steps, want: en},
		{say: "Recommend a dish and order it", calls: steps + ` / place_order{"items":[{"dish":"Home-style tofu","quantity":1}]}`, want: []string{"order-7"}},
	})
}

func TestPlan_severalAtOnce(t *testing.T) {
	t.Parallel()
	first := func(city string) string {
		return `recall_preferences{} + call_weather{"city":"` + city + `","days":1} + list_menu_by_day{"day":"today"}`
	}
	playEach(t, []scene{
		{say: "今天上海天气怎么样，食堂有什么适合我的菜？", calls: first("上海") + " / " + advised(""), want: []string{"18℃", "家常豆腐", "用户不吃辣"}, never: []string{"order"}},
		{say: "上海天气怎么样，今天食堂吃什么", calls: `call_weather{"city":"上海","days":1} + list_menu_by_day{"day":"today"}`, want: []string{"18℃", "水煮牛肉 ¥32.00"}},
		{say: "How is the weather in Shanghai today, and what dish in the canteen suits me?", calls: first("Shanghai") + " / " + advised(""), want: []string{"18℃", "Home-style tofu"}},
		{say: "What's the weather in Shanghai and what's for lunch today?", calls: `call_weather{"city":"Shanghai","days":1} + list_menu_by_day{"day":"today"}`, want: []string{"18℃", "Steamed rice ¥2.00"}},
		{
			say:   "今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。",
			calls: first("上海") + " / " + advised("") + ` + place_order{"items":[{"dish":"水煮牛肉","quantity":1}]}`,
			want:  []string{"18℃", "家常豆腐", "order-7", "合计 ¥67.00"},
		},
		{
			say:   "How is the weather in Shanghai today, what dish in the canteen suits me? If there is Sichuan boiled beef, order one for me.",
			calls: first("Shanghai") + " / " + advised("") + ` + place_order{"items":[{"dish":"Sichuan boiled beef","quantity":1}]}`,
			want:  []string{"18℃", "Home-style tofu", "order-7", "Total: ¥67.00"},
		},
		{
			say:   "今天上海天气怎么样，食堂有什么适合我的菜？如果有宫保鸡丁，再帮我订一份。",
			calls: first("上海") + " / " + advised(""),
			want:  []string{"宫保鸡丁已经售完", "没有下单"},
		},
		{
			say:   "How is the weather in Shanghai today, what dish in the canteen suits me? If there is lobster, order one for me.",
			calls: first("Shanghai") + " / " + advised(""),
			want:  []string{"lobster is not on the menu", "no order was placed"},
		},
	})
}

func TestPlan_missingTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		without []string
		scene   scene
	}{
		{[]string{toolWeather}, scene{say: "上海天气怎么样", want: []string{"天气", "没有为您开启", "技能列表"}}},
		{[]string{toolWeather}, scene{say: "What's the weather in Shanghai?", want: []string{"weather", "not switched on", "skill list"}}},
		{[]string{toolWeather}, scene{say: "天气怎么样", want: []string{"没有为您开启"}, never: []string{"哪个城市"}}},
		{[]string{toolWeather}, scene{say: "上海天气怎么样，今天食堂吃什么", calls: `list_menu_by_day{"day":"today"}`, want: []string{"天气功能", "水煮牛肉"}}},
		{[]string{toolMenu}, scene{say: "今天食堂有什么菜？", want: []string{"食堂", "没有为您开启"}}},
		{[]string{toolMenu, toolSearch}, scene{say: "How much is the Sichuan boiled beef?", want: []string{"canteen", "not switched on"}}},
		{[]string{toolSearch}, scene{say: "水煮牛肉多少钱", calls: "list_menu_by_day{}", want: []string{"¥32.00"}}},
		{[]string{toolRemember}, scene{say: "记住我不吃辣。", want: []string{"记忆", "没有为您开启"}}},
		{[]string{toolForget}, scene{say: "Forget that I don't eat spicy food", want: []string{"memory", "not switched on"}}},
		{[]string{toolRecall}, scene{say: "帮我推荐一道菜", calls: "recommend_food{}", want: []string{"家常豆腐"}, never: []string{"没有为您开启"}}},
		{[]string{toolRecall}, scene{say: "结合我的偏好推荐一道菜。", calls: "recommend_food{}", want: []string{"家常豆腐", "记忆功能"}}},
		{[]string{toolOrder}, scene{say: "帮我订一份水煮牛肉。", want: []string{"订餐", "没有为您开启"}}},
		{[]string{toolOrder}, scene{say: "Order one Sichuan boiled beef", want: []string{"ordering", "not switched on"}}},
		{[]string{toolClock}, scene{say: "现在几点？", want: []string{"时间", "没有为您开启"}}},
	}
	for _, test := range tests {
		t.Run(test.scene.say+" without "+strings.Join(test.without, " "), func(t *testing.T) {
			t.Parallel()
			test.scene.play(newWorld(t).without(test.without...))
		})
	}
}

func TestPlan_results(t *testing.T) {
	t.Parallel()
	order, menu, weather := "帮我订一份水煮牛肉。", "今天食堂有什么菜？", "What's the weather in Shanghai?"
	placed := `place_order{"items":[{"dish":"水煮牛肉","quantity":1}]}`
	asked := `call_weather{"city":"Shanghai","days":1}`
	tests := []struct {
		name, tool, result string
		scene              scene
	}{
		{"rejected", toolOrder, `{"status":"DENIED","reason":"rejected","message":"no"}`, scene{say: order, calls: placed, want: []string{"没有下单"}, never: []string{"过期"}}},
		{"expired", toolOrder, `{"status":"DENIED","reason":"expired","message":"late"}`, scene{say: order, calls: placed, want: []string{"过期", "没有下单"}}},
		{"policy", toolOrder, `{"status":"DENIED","reason":"policy"}`, scene{say: order, calls: placed, want: []string{"规则", "没有下单"}}},
		{"conflict", toolOrder, `{"error":{"code":"conflict","message":"水煮牛肉已售完"}}`, scene{say: order, calls: placed, want: []string{"没有成功", "水煮牛肉已售完"}}},
		{"timeout", toolOrder, `{"error":{"code":"timeout"}}`, scene{say: order, calls: placed, want: []string{"订单列表", "超时"}, never: []string{"没有下单"}}},
		{"order unreadable", toolOrder, `{"orderId":"order-9","status":"CONF`, scene{say: order, calls: placed, want: []string{"没能读懂", "订单列表"}, never: []string{"order-9"}}},
		{"rejected in English", toolOrder, `{"status":"DENIED","reason":"rejected"}`, scene{say: "Order one Sichuan boiled beef", calls: `place_order{"items":[{"dish":"Sichuan boiled beef","quantity":1}]}`, want: []string{"no order was placed"}}},
		{"menu cut off", toolMenu, menuJSON[:300], scene{say: menu, calls: `list_menu_by_day{"day":"today"}`, want: []string{"没能读懂"}, never: []string{"¥"}}},
		{"menu with a prefix", toolMenu, "Result of list_menu_by_day {data}:\n" + menuJSON + "\n(end)", scene{say: menu, calls: `list_menu_by_day{"day":"today"}`, want: []string{"水煮牛肉 ¥32.00"}}},
		{"menu is a list", toolMenu, `[1,2]`, scene{say: menu, calls: `list_menu_by_day{"day":"today"}`, want: []string{"没能读懂"}}},
		{"empty", toolWeather, ``, scene{say: weather, calls: asked, want: []string{"could not be read"}}},
		{"another shape", toolWeather, `{"ok":true}`, scene{say: weather, calls: asked, want: []string{"could not be read"}}},
		{"plain text", toolWeather, `internal error`, scene{say: weather, calls: asked, want: []string{"could not be read"}}},
		{"error as text", toolWeather, `{"error":"no such city"}`, scene{say: weather, calls: asked, want: []string{"no such city"}}},
		{"error without words", toolWeather, `{"error":{"code":"unavailable"}}`, scene{say: weather, calls: asked, want: []string{"not available"}}},
		{"nothing found", toolForget, `{"forgotten":[]}`, scene{say: "忘掉我不吃辣", calls: `forget_preference{"query":"不吃辣"}`, want: []string{"没有找到"}}},
		{"nothing remembered", toolRecall, `{"preferences":[]}`, scene{say: "结合我的偏好推荐一道菜。", calls: "recall_preferences{} / recommend_food{}", want: []string{"还没有记住"}}},
		{"no memory", toolRecall, `{"error":{"code":"unavailable","message":"temporarily unavailable"}}`, scene{say: "帮我推荐一道菜", calls: "recall_preferences{} / recommend_food{}", want: []string{"家常豆腐", "暂时用不了"}}},
		{"nothing to recommend", toolRecommend, `{"recommendations":[],"avoided":[]}`, scene{say: "帮我推荐一道菜", calls: "recall_preferences{} / " + advised(""), want: []string{"没有找到合适"}}},
		{"price and stock absent", toolSearch, `{"dishes":[{"id":"food-001","name":"水煮牛肉"}],"total":1}`, scene{say: "水煮牛肉多少钱", calls: `search_food_catalog{"query":"水煮牛肉"}`, want: []string{"没有写明"}, never: []string{"¥", "售完"}}},
		{"condition unreadable", toolMenu, `oops`, scene{say: "如果有水煮牛肉就帮我订一份", calls: "list_menu_by_day{}", want: []string{"菜单没有读到", "没有下单"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.scene.play(newWorld(t).with(test.tool, test.result))
		})
	}
}

func TestPlan_combinedFoodTool(t *testing.T) {
	t.Parallel()
	combined := func(t *testing.T, result string) *world {
		w := newWorld(t).without(toolRecommend, toolOrder).with(toolFood, result)
		w.offered[toolFood] = true
		return w
	}
	ordered := `{"orderId":"order-8","status":"CONFIRMED","lines":[{"name":"水煮牛肉","nameEn":"Sichuan boiled beef","quantity":1,"amountFen":3200}],"total":"32.00"}`
	scene{say: "帮我订一份水煮牛肉。", calls: `call_food{"text":"帮我订一份水煮牛肉。"}`, want: []string{"order-8", "¥32.00"}}.play(combined(t, ordered+"32.00"))
	scene{say: "Order one Sichuan boiled beef", calls: `call_food{"text":"Order one Sichuan boiled beef"}`, want: []string{"order-8"}}.play(combined(t, ordered))
	scene{say: "结合我的偏好推荐一道菜。", calls: `recall_preferences{} / call_food{"text":"结合我的偏好推荐一道菜。"}`, want: []string{"家常豆腐"}}.play(combined(t, tipsJSON))
	scene{say: "帮我订一份水煮牛肉。", calls: `call_food{"text":"帮我订一份水煮牛肉。"}`, want: []string{"没有下单"}}.play(combined(t, `{"status":"DENIED","reason":"rejected"}`))
	scene{say: "来半份水煮牛肉", want: []string{"整"}}.play(combined(t, ordered))
	w := combined(t, ordered)
	scene{say: "帮我订一份水煮牛肉。", calls: `call_food{"text":"帮我订一份水煮牛肉。"}`}.play(w)
	scene{say: "再来两份", calls: `call_food{"text":"帮我订2份水煮牛肉"}`}.play(w)
}
