package demo

import (
	"fmt"
	"strings"
	"testing"
)

// placed writes the call that orders the given items, each "dish*quantity" with "*note" behind it if there is one.
func placed(items ...string) string {
	var parts []string
	for _, it := range items {
		f := strings.Split(it, "*")
		note := ""
		if len(f) > 2 {
			note = fmt.Sprintf(`"note":"%s",`, f[2])
		}
		parts = append(parts, fmt.Sprintf(`{"dish":"%s",%s"quantity":%s}`, f[0], note, f[1]))
	}
	return `place_order{"items":[` + strings.Join(parts, ",") + `]}`
}

// noted is placed with a note on the whole order.
func noted(note string, items ...string) string {
	return strings.TrimSuffix(placed(items...), "}") + `,"note":"` + note + `"}`
}

func TestPlan_order(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"帮我订一份水煮牛肉。":                                                          placed("水煮牛肉*1"),
		"点一份水煮牛肉":                                                             placed("水煮牛肉*1"),
		"我要1份水煮牛肉":                                                            placed("水煮牛肉*1"),
		"来俩米饭":                                                                placed("米饭*2"),
		"来仨包子":                                                                placed("包子*3"),
		"水煮牛肉来一打":                                                             placed("水煮牛肉*12"),
		"订十二份米饭":                                                              placed("米饭*12"),
		"来二十份米饭":                                                              placed("米饭*20"),
		"来两份水煮牛肉和一份米饭":                                                        placed("水煮牛肉*2", "米饭*1"),
		"水煮牛肉两份，米饭三碗":                                                         placed("水煮牛肉*2", "米饭*3"),
		"水煮牛肉和米饭各两份":                                                          placed("水煮牛肉*2", "米饭*2"),
		"来一碗米饭、两瓶可乐和三个包子":                                                     placed("米饭*1", "可乐*2", "包子*3"),
		"帮我和同事订两份水煮牛肉":                                                        placed("水煮牛肉*2"),
		"给我同事也来一份水煮牛肉":                                                        placed("水煮牛肉*1"),
		"麻烦订一下水煮牛肉，一份就够了":                                                     placed("水煮牛肉*1"),
		"可以帮我点两份米饭吗":                                                          placed("米饭*2"),
		"请问能订一份水煮牛肉吗？":                                                        placed("水煮牛肉*1"),
		"帮我把水煮牛肉订了":                                                           placed("水煮牛肉*1"),
		"水煮牛肉来两份米饭来一份":                                                        placed("水煮牛肉*2", "米饭*1"),
		"水煮牛肉一份和米饭":                                                           placed("水煮牛肉*1", "米饭*1"),
		"Please get one Sichuan boiled beef for me":                           placed("Sichuan boiled beef*1"),
		"order Sichuan boiled beef, two portions":                             placed("Sichuan boiled beef*2"),
		"帮我订一份水煮牛肉和查一下上海天气":                                                   `call_weather{"city":"上海","days":1} + ` + placed("水煮牛肉*1"),
		"中午想吃水煮牛肉，帮我订一份":                                                      `search_food_catalog{"query":"水煮牛肉"} + ` + placed("水煮牛肉*1"),
		"水煮牛肉，来一份":                                                            placed("水煮牛肉*1"),
		"给我来碗米饭":                                                              placed("米饭*1"),
		"请帮我点水煮牛肉":                                                            placed("水煮牛肉*1"),
		"帮我下单：水煮牛肉一份":                                                         placed("水煮牛肉*1"),
		"点三份三杯鸡":                                                              placed("三杯鸡*3"),
		"来一份水煮牛肉不要辣":                                                          placed("水煮牛肉*1*不要辣"),
		"订一份水煮牛肉备注不要辣":                                                        placed("水煮牛肉*1*不要辣"),
		"麻烦给我点一份宫保鸡丁不要花生":                                                     placed("宫保鸡丁*1*不要花生"),
		"订一份宫保鸡丁，不要花生":                                                        placed("宫保鸡丁*1*不要花生"),
		"水煮牛肉（不要辣）一份":                                                         placed("水煮牛肉*1*不要辣"),
		"来两份水煮牛肉和一份米饭，米饭不要了":                                                  placed("水煮牛肉*2"),
		"Order one Sichuan boiled beef":                                       placed("Sichuan boiled beef*1"),
		"order 水煮牛肉 please":                                                   placed("水煮牛肉*1"),
		"I'd like two boiled beef and a steamed rice":                         placed("boiled beef*2", "steamed rice*1"),
		"Can I get two bowls of steamed rice?":                                placed("steamed rice*2"),
		"Could you please order 2 portions of boiled beef and 1 bowl of rice": placed("boiled beef*2", "rice*1"),
		"Place an order for two boiled beef":                                  placed("boiled beef*2"),
		"Get me three boiled beef, less spicy":                                placed("boiled beef*3*less spicy"),
		"I'll have the Kung Pao chicken, no peanuts, and a steamed rice":      placed("Kung Pao chicken*1*no peanuts", "steamed rice*1"),
		"Order one Kung Pao chicken without peanuts":                          placed("Kung Pao chicken*1*without peanuts"),
		"Order two boiled beef and one rice, no rice":                         placed("boiled beef*2"),
		"order a dozen dumplings":                                             placed("dumplings*12"),
		"Mapo tofu x2 and rice x1":                                            placed("Mapo tofu*2", "rice*1"),
		"two boiled beef please":                                              placed("boiled beef*2"),
		"what does the steamed rice cost? order two":                          `search_food_catalog{"query":"steamed rice"} + ` + placed("steamed rice*2"),
		"水煮牛肉多少钱？帮我来一份":                                                       `search_food_catalog{"query":"水煮牛肉"} + ` + placed("水煮牛肉*1"),
		"上海天气怎么样，顺便帮我订一份水煮牛肉":                                                 `call_weather{"city":"上海","days":1} + ` + placed("水煮牛肉*1"),
		"要是有水煮牛肉就来一份，没有就算了":                                                   `list_menu_by_day{} / ` + placed("水煮牛肉*1"),
		"食堂有水煮牛肉的话帮我订两份":                                                      `list_menu_by_day{} / ` + placed("水煮牛肉*2"),
		"如果有水煮牛肉和米饭，各来一份":                                                     `list_menu_by_day{} / ` + placed("水煮牛肉*1", "米饭*1"),
		"if you have Sichuan boiled beef, get me one":                         `list_menu_by_day{} / ` + placed("Sichuan boiled beef*1"),
		"Order two Sichuan boiled beef if available":                          `list_menu_by_day{} / ` + placed("Sichuan boiled beef*2"),
		"If Kung Pao chicken is available, order two.":                        `list_menu_by_day{}`,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			scene{say: said, calls: want}.play(newWorld(t))
		})
	}
}

func TestPlan_orderAsksBack(t *testing.T) {
	t.Parallel()
	playEach(t, []scene{
		{say: "来0份水煮牛肉", want: []string{"水煮牛肉要几份"}},
		{say: "来零份米饭", want: []string{"整数"}},
		{say: "订-1份米饭", want: []string{"-1份", "整数"}},
		{say: "来负一份米饭", want: []string{"整数"}},
		{say: "订2.5份米饭", want: []string{"2.5份", "整数"}},
		{say: "来半份水煮牛肉", want: []string{"半份", "整数"}},
		{say: "来两三份水煮牛肉", want: []string{"两三份", "整数"}},
		{say: "我要两份半水煮牛肉", want: []string{"整数"}},
		{say: "来几份米饭", want: []string{"整数"}},
		{say: "订九百九十九份米饭", want: []string{"二十份", "没有下单"}},
		{say: "来100000000份米饭", want: []string{"二十份"}},
		{say: "一千份米饭", want: []string{"二十份"}},
		{say: "来十五份米饭和十五份水煮牛肉", want: []string{"二十份"}},
		{say: "订餐", want: []string{"哪道菜"}},
		{say: "Order zero boiled beef", want: []string{"whole number"}},
		{say: "order -1 boiled beef", want: []string{"-1", "whole number"}},
		{say: "order 2.5 boiled beef", want: []string{"2.5", "whole number"}},
		{say: "I want half a Sichuan boiled beef", want: []string{"Half", "whole number"}},
		{say: "order two or three boiled beef", want: []string{"two or three", "whole number"}},
		{say: "a few boiled beef please", want: []string{"a few", "whole number"}},
		{say: "order 1000 rice", want: []string{"twenty"}},
		{say: "I would like to place an order", want: []string{"Which dish"}},
		{say: "明天来一份水煮牛肉", want: []string{"只能订今天的", "没有下单"}},
		{say: "帮我订下周三的水煮牛肉两份", want: []string{"只能订今天的"}},
		{say: "order one boiled beef for tomorrow", want: []string{"Only today's"}},
		{say: "不要订餐", want: []string{"不下单"}},
		{say: "I don't want to order", want: []string{"not order"}},
	})
}

func TestPlan_followUps(t *testing.T) {
	t.Parallel()
	recall := "recall_preferences{} / "
	for name, scenes := range map[string][]scene{
		"那明天呢 after the weather":     {{say: "上海未来三天天气怎么样？", calls: `call_weather{"city":"上海","days":3}`}, {say: "那明天呢", calls: `call_weather{"city":"上海","days":2}`}, {say: "北京呢", calls: `call_weather{"city":"北京","days":2}`}, {say: "谢谢"}, {say: "后天呢", calls: `call_weather{"city":"北京","days":3}`}},
		"what about tomorrow":        {{say: "What's the weather in Shanghai?", calls: `call_weather{"city":"Shanghai","days":1}`}, {say: "what about tomorrow", calls: `call_weather{"city":"Shanghai","days":2}`, want: []string{"2026-12-02"}}, {say: "and Beijing?", calls: `call_weather{"city":"Beijing","days":2}`}},
		"那明天呢 after the menu":        {{say: "今天食堂有什么菜？", calls: `list_menu_by_day{"day":"today"}`}, {say: "那明天呢", calls: `list_menu_by_day{"day":"tomorrow"}`}, {say: "周三呢", calls: `list_menu_by_day{"day":"wednesday"}`}},
		"tomorrow's menu":            {{say: "Show me the menu", calls: `list_menu_by_day{}`}, {say: "what about tomorrow?", calls: `list_menu_by_day{"day":"tomorrow"}`}, {say: "and on Friday?", calls: `list_menu_by_day{"day":"friday"}`}},
		"the city asked for":         {{say: "明天天气怎么样", want: []string{"哪个城市"}}, {say: "上海", calls: `call_weather{"city":"上海","days":2}`}},
		"the city in English":        {{say: "Will it rain tomorrow?", want: []string{"Which city"}}, {say: "I'm in Beijing", calls: `call_weather{"city":"Beijing","days":2}`}},
		"the city remembered":        {{say: "记住，我住在上海", calls: `remember_preference{"kind":"place","statement":"用户住在上海"}`}, {say: "明天天气如何", calls: `call_weather{"city":"上海","days":2}`}},
		"the city of before":         {{say: "上海天气", calls: `call_weather{"city":"上海","days":1}`}, {say: "来一份米饭", calls: placed("米饭*1")}, {say: "明天要带伞吗", calls: `call_weather{"city":"上海","days":2}`}},
		"再来一份":                       {{say: "帮我订一份水煮牛肉。", calls: placed("水煮牛肉*1")}, {say: "再来一份", calls: placed("水煮牛肉*1")}, {say: "再来一份米饭", calls: placed("米饭*1")}, {say: "再来两份", calls: placed("米饭*2")}},
		"another one":                {{say: "Order one Sichuan boiled beef", calls: placed("Sichuan boiled beef*1")}, {say: "another one please", calls: placed("Sichuan boiled beef*1")}, {say: "two more please", calls: placed("Sichuan boiled beef*2")}},
		"which of two":               {{say: "来两份水煮牛肉和一份米饭", calls: placed("水煮牛肉*2", "米饭*1")}, {say: "再来一份", want: []string{"哪一道"}}, {say: "米饭", calls: placed("米饭*1")}},
		"how many":                   {{say: "来两三份水煮牛肉和一份米饭", want: []string{"整数"}}, {say: "三份吧", calls: placed("水煮牛肉*3", "米饭*1")}},
		"how many, on a condition":   {{say: "如果有水煮牛肉，帮我订两三份", want: []string{"整数"}}, {say: "三份", calls: `list_menu_by_day{} / ` + placed("水煮牛肉*3")}},
		"the city asked for is new":  {{say: "天气怎么样", want: []string{"哪个城市"}}, {say: "火星", calls: `call_weather{"city":"火星","days":1}`}},
		"how many in English":        {{say: "order half a portion of rice", want: []string{"whole number"}}, {say: "two", calls: placed("rice*2")}},
		"which dish":                 {{say: "帮我订一份", want: []string{"哪道菜"}}, {say: "水煮牛肉", calls: placed("水煮牛肉*1")}},
		"which dish in English":      {{say: "I want to order something", want: []string{"Which dish"}}, {say: "steamed rice", calls: placed("steamed rice*1")}},
		"换一道":                        {{say: "帮我推荐一道菜", calls: recall + advised(""), want: []string{"家常豆腐"}}, {say: "换一道", calls: recall + advised(`"limit":5,`), want: []string{"米饭"}, never: []string{"家常豆腐"}}, {say: "就这个", calls: placed("米饭*1")}},
		"another recommendation":     {{say: "Recommend a dish for me", calls: recall + advised(""), want: []string{"Home-style tofu"}}, {say: "another one please", calls: recall + advised(`"limit":5,`), want: []string{"Steamed rice"}}, {say: "something else", calls: recall + advised(`"limit":5,`), want: []string{"no other dish"}}},
		"the recommended one":        {{say: "Recommend a dish for me", calls: recall + advised("")}, {say: "I'll take it", calls: placed("Home-style tofu*1")}},
		"its price":                  {{say: "还有水煮牛肉吗", calls: `search_food_catalog{"query":"水煮牛肉"}`}, {say: "它多少钱", calls: `search_food_catalog{"query":"水煮牛肉"}`}, {say: "那米饭呢", calls: `search_food_catalog{"query":"米饭"}`}, {say: "来两份", calls: placed("米饭*2")}},
		"its price in English":       {{say: "Do you have Sichuan boiled beef?", calls: `search_food_catalog{"query":"Sichuan boiled beef"}`}, {say: "how much is it?", calls: `search_food_catalog{"query":"Sichuan boiled beef"}`}, {say: "What about steamed rice?", calls: `search_food_catalog{"query":"steamed rice"}`}, {say: "I want 3", calls: placed("steamed rice*3")}},
		"a short name from the menu": {{say: "What's on the menu?", calls: `list_menu_by_day{}`}, {say: "order the tofu", calls: placed("Home-style tofu*1")}},
		"after a confirmed order":    {{say: "来两份水煮牛肉和一份米饭", calls: placed("水煮牛肉*2", "米饭*1")}, {say: "米饭不要了", want: []string{"改不了"}}},
		"all for another day":        {{say: "今天上海天气怎么样，食堂有什么适合我的菜？", calls: `recall_preferences{} + call_weather{"city":"上海","days":1} + list_menu_by_day{"day":"today"} / ` + advised("")}, {say: "那明天呢", calls: `recall_preferences{} + call_weather{"city":"上海","days":2} + list_menu_by_day{"day":"tomorrow"} / ` + advised(`"day":"tomorrow",`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, s := range scenes {
				s.play(w)
			}
		})
	}
}

func TestPlan_rejectedOrderMayChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t).with(toolOrder, `{"status":"DENIED","reason":"rejected"}`)
	scene{say: "来两份水煮牛肉和一份米饭", calls: placed("水煮牛肉*2", "米饭*1"), want: []string{"没有下单"}}.play(w)
	scene{say: "米饭不要了", calls: placed("水煮牛肉*2")}.play(w)
}
