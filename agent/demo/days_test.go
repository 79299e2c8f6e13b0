package demo

import "testing"

const noSuchDay = `{"error":{"code":"invalid","message":"that is not a day that the menu understands: use today, tomorrow"}}`

func TestPlan_unknownDayIsNotToday(t *testing.T) {
	t.Parallel()
	for said, day := range map[string]string{
		"周八的菜单":                                      "周八",
		"星期八有什么菜":                                    "星期八",
		"下周八的菜单":                                     "下周八",
		"上周五的菜单":                                     "上周五",
		"2月30日的菜单":                                   "2月30日",
		"13月45日吃什么":                                  "13月45日",
		"二月三十日的菜单":                                   "二月三十日",
		"2026年2月30日的菜单":                              "2026年2月30日",
		"2026-13-45的菜单":                              "2026-13-45",
		"30号的菜单":                                     "30号",
		"下周的菜单":                                      "下周",
		"圣诞节有什么菜":                                    "圣诞节",
		"menu for Blursday":                          "Blursday",
		"what's for lunch on Funday":                 "Funday",
		"What's on the menu on Feb 30?":              "Feb 30",
		"What's on the menu on the 30th of February": "30th of February",
		"menu for 2026-13-45":                        "2026-13-45",
		"menu for next week":                         "next week",
		"last Friday's menu":                         "last Friday",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			answer := "我不知道“" + day + "”是哪一天"
			if !isChinese(said, true) {
				answer = `I do not know which day "` + day + `" is`
			}
			scene{say: said, calls: `list_menu_by_day{"day":"` + day + `"}`, want: []string{answer}, never: []string{"¥", "understands"}}.
				play(newWorld(t).with(toolMenu, noSuchDay))
		})
	}
}

func TestPlan_unknownDayElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t).with(toolRecommend, noSuchDay)
	scene{say: "周八推荐一道菜", calls: `recall_preferences{} / recommend_food{"day":"周八","preferences":["用户不吃辣"]}`, want: []string{"周八"}, never: []string{"understands"}}.play(w)
	playEach(t, []scene{
		{say: "上海周八天气怎么样", want: []string{"周八"}, never: []string{"℃"}},
		{say: "What's the weather in Shanghai on Blursday?", want: []string{"Blursday"}, never: []string{"℃"}},
		{say: "下下周一的菜单", calls: `list_menu_by_day{"day":"下下周一"}`},
		{say: "12月1日的菜单", calls: `get_current_time{} / list_menu_by_day{"day":"2026-12-01"}`},
		{say: "2026年12月3日的菜单", calls: `list_menu_by_day{"day":"2026-12-03"}`},
		{say: "Menu for December 1st", calls: `get_current_time{} / list_menu_by_day{"day":"2026-12-01"}`},
		{say: "2月29日的菜单", calls: `get_current_time{} / list_menu_by_day{"day":"2月29日"}`},
		{say: "大前天的菜单", calls: `get_current_time{} / list_menu_by_day{"day":"2026-11-26"}`},
		{say: "3号食堂有什么菜", calls: "list_menu_by_day{}"},
		{say: "menu for lunch", calls: "list_menu_by_day{}"},
	})
	w = newWorld(t)
	scene{say: "今天的菜单", calls: `list_menu_by_day{"day":"today"}`}.play(w)
	scene{say: "周八呢", calls: `list_menu_by_day{"day":"周八"}`}.play(w)
	scene{say: "下周呢", calls: `list_menu_by_day{"day":"下周"}`}.play(w)
}
