package demo

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlan_lastRoundWithoutTools(t *testing.T) {
	t.Parallel()
	words := "今天上海天气怎么样，食堂有什么菜，再帮我订一份水煮牛肉"
	messages := []message{
		{Role: "user", Content: content(words)},
		{Role: "assistant", ToolCalls: []toolOf{{ID: "a"}, {ID: "b"}}},
		{Role: "tool", ToolCallID: "b", Content: menuJSON},
		{Role: "tool", ToolCallID: "a", Content: content(forecastFor("上海", 1))},
	}
	messages[1].ToolCalls[0].Function.Name, messages[1].ToolCalls[0].Function.Arguments = toolWeather, `{"days":1,"city":"上海"}`
	messages[1].ToolCalls[1].Function.Name, messages[1].ToolCalls[1].Function.Arguments = toolMenu, `{"day":"today"}`
	got := plan(newConversation(messages, nil))
	if len(got.calls) > 0 {
		t.Fatalf("calls %v without tools", got.calls)
	}
	for _, want := range []string{"18℃", "水煮牛肉 ¥32.00", "订餐这一部分"} {
		if !strings.Contains(got.text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, got.text)
		}
	}
}

func TestPlan_noToolsAtAll(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"水煮牛肉多少钱，还有库存吗？", "How much is the Sichuan boiled beef?", "今天食堂有什么菜？", "推荐一道菜", "What's the weather in Shanghai?"} {
		got := plan(newConversation([]message{{Role: "user", Content: content(said)}}, nil))
		if len(got.calls) > 0 || strings.Contains(got.text, "¥") || !strings.Contains(got.text, "技能列表") && !strings.Contains(got.text, "skill list") {
			t.Errorf("%q: %+v", said, got)
		}
	}
}

func TestPlan_callWithoutResultIsNotRepeated(t *testing.T) {
	t.Parallel()
	messages := []message{{Role: "user", Content: "帮我订一份水煮牛肉。"}, {Role: "assistant", ToolCalls: []toolOf{{ID: "a"}}}}
	messages[1].ToolCalls[0].Function.Name = toolOrder
	messages[1].ToolCalls[0].Function.Arguments = `{"items":[{"dish":"水煮牛肉","quantity":1}]}`
	got := plan(newConversation(messages, allTools()))
	if len(got.calls) > 0 || !strings.Contains(got.text, "订单列表") {
		t.Errorf("got %+v", got)
	}
}

func TestPlan_rememberedCityFromRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t).with(toolRecall, `{"preferences":[{"id":"p","statement":"User lives in Hangzhou","kind":"place"}]}`)
	scene{say: "What do you remember about me?", calls: "recall_preferences{}"}.play(w)
	scene{say: "How's the weather tomorrow?", calls: `call_weather{"city":"Hangzhou","days":2}`}.play(w)
	w = newWorld(t).with(toolRecall, `{"preferences":[{"id":"p","statement":"用户住在上海","kind":"place"}]}`)
	scene{say: "今天天气怎么样，食堂有什么适合我的菜？", calls: `recall_preferences{} + list_menu_by_day{"day":"today"} / call_weather{"city":"上海","days":1} + recommend_food{"preferences":["用户住在上海"]}`}.play(w)
}

func TestIsChinese(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{
		"你好": true, "帮我 order 一份 beef": true, "hello": false, "Order one 水煮牛肉 please": false, "order 水煮牛肉 please": false, "KFC 好吃": true, "12": true, "": true,
	} {
		if got := isChinese(words, true); got != want {
			t.Errorf("isChinese(%q) = %v; want %v", words, got, want)
		}
	}
}

func TestPieces_keepCharactersWhole(t *testing.T) {
	t.Parallel()
	text := "水煮牛肉 ¥32.00 😀 é\n" + strings.Repeat("辣", 50)
	parts := pieces(text, 3)
	if strings.Join(parts, "") != text {
		t.Errorf("pieces lose text: %q", parts)
	}
	for _, part := range parts {
		if !utf8.ValidString(part) {
			t.Errorf("piece %q is cut in a character", part)
		}
	}
}

func FuzzPlan(f *testing.F) {
	for _, said := range []string{
		"今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。", "来两三份水煮牛肉和一份米饭，米饭不要了", "再来一份", "换一道", "那明天呢", "两份",
		"order two or three boiled beef if there is any", "what about tomorrow", "remember that I", "忘掉所有", "I'd like a", "有的话", "如果有", "13月45日的菜单", "未来99999999999999999999天",
		"\xff\xfe一份", "\u0130 order İ", "各", "和和和", "x2", "记住", "，。！",
	} {
		f.Add(said, "那明天呢", menuJSON)
		f.Add("帮我推荐一道菜", said, tipsJSON)
		f.Add(said, said, `{"error":{"code":"x"}}`)
	}
	f.Add("来一份", "两份", `{"dishes":[null,{}],"recommendations":[{}],"days":[{}],"current":{},"total":1,"lines":[{}],"preferences":[{}]}`)
	f.Fuzz(func(t *testing.T, first, second, result string) {
		messages := []message{{Role: "user", Content: content(first)}}
		for range 2 {
			messages = playRounds(t, messages, result)
			messages = append(messages, message{Role: "user", Content: content(second)})
		}
	})
}

// playRounds answers every call with one text until the model speaks.
func playRounds(t *testing.T, messages []message, result string) []message {
	t.Helper()
	tools := allTools()
	for range maxTurnCalls + 2 {
		req := request{Messages: messages}
		for name := range tools {
			var one tool
			one.Function.Name = name
			req.Tools = append(req.Tools, one)
		}
		got := newReply(req, 0)
		if len(got.calls) == 0 {
			if got.text == "" || !utf8.ValidString(got.text) {
				t.Fatalf("answer %q", got.text)
			}
			return append(messages, message{Role: "assistant", Content: content(got.text)})
		}
		messages = append(messages, message{Role: "assistant", ToolCalls: got.calls})
		for _, c := range got.calls {
			if !tools[c.Function.Name] {
				t.Fatalf("%s was not offered", c.Function.Name)
			}
			messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: content(result)})
		}
	}
	t.Fatal("the turn does not end")
	return nil
}
