package run

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentmesh/agent"
)

// TestTokensOfKnownTexts holds the estimate against what is public of the tokenizers: four letters of English prose
// and about one Chinese character make a token; more than that is room to the safe side.
func TestTokensOfKnownTexts(t *testing.T) {
	t.Parallel()
	english := strings.Repeat("The canteen serves boiled beef with rice on every second Tuesday ", 20)
	chinese := strings.Repeat("食堂今天的水煮牛肉还有库存吗我对花生过敏", 20)
	for _, c := range []struct {
		name, text string
		low, high  int
	}{
		{"english", english, len(english) / 5, len(english) / 4 * 115 / 100},
		{"chinese", chinese, utf8.RuneCountInString(chinese) * 7 / 10, utf8.RuneCountInString(chinese)},
		{"json", `{"id":"food-001","price":"32.00","stock":17,"tags":["spicy","beef"]}`, 20, 34},
	} {
		if got := Tokens(c.text); got < c.low || got > c.high {
			t.Errorf("%s: got %d tokens, want %d to %d", c.name, got, c.low, c.high)
		}
	}
}

// TestTokensAreNeverFewer: more text is never fewer tokens, and Chinese is not counted by its bytes, which finds half
// of what there is (agentscope-java#2985).
func TestTokensAreNeverFewer(t *testing.T) {
	t.Parallel()
	mixed := "Order 水煮牛肉 ×2, {\"a\":1} – Добрый день 🍚\x00\xff"
	last := 0
	for i := range mixed {
		n := Tokens(mixed[:i])
		if n < last {
			t.Errorf("%q has %d tokens, and less text %d", mixed[:i], n, last)
		}
		last = n
	}
	if got := Tokens("水煮牛肉"); got < 4 {
		t.Errorf("four Chinese characters: got %d tokens, want 4", got)
	}
	if got := clipTokens("水煮牛肉", 2); got != "水煮" {
		t.Errorf("two tokens: got %q", got)
	}
	m := agent.Message{Role: agent.Assistant, Text: "x", Calls: []agent.ToolCall{{ID: "a", Name: "look", Args: []byte(`{"n":1}`)}}}
	if with, without := tokensOf(m), tokensOf(agent.Message{Role: agent.Assistant, Text: "x"}); with <= without+callFrame {
		t.Errorf("got %d tokens with a call and %d without", with, without)
	}
}
