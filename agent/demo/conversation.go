package demo

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"agentmesh/app/platform/text"
)

// The names of the tools that the rules know.
const (
	toolClock     = "get_current_time"
	toolRecall    = "recall_preferences"
	toolRemember  = "remember_preference"
	toolForget    = "forget_preference"
	toolSearch    = "search_food_catalog"
	toolMenu      = "list_menu_by_day"
	toolRecommend = "recommend_food"
	toolWeather   = "call_weather"
	toolOrder     = "place_order"
	toolFood      = "call_food"
)

// Limits on what is looked at, so that a very long conversation costs no more than a long one.
const (
	maxExchanges = 30
	maxWords     = 2000
)

// conversation is a request as the rules see it: what was said, what was called, and which tools are offered now.
type conversation struct {
	exchanges []exchange
	tools     map[string]bool
}

// exchange is one message of the user and everything up to the next one.
type exchange struct {
	words string
	calls []madeCall
	reply string
}

// madeCall is a call of an earlier round with its result.
type madeCall struct {
	id, tool, args string
	result         *result
}

// newConversation sorts the messages into exchanges; results find their call by id, in whatever order they come.
func newConversation(messages []message, tools map[string]bool) conversation {
	exchanges := []exchange{{}}
	for _, m := range messages {
		last := &exchanges[len(exchanges)-1]
		switch m.Role {
		case "user":
			words, hints := cutHints(string(m.Content))
			for _, hint := range hints {
				exchanges = told(exchanges, hint, words == "")
			}
			if words != "" || len(hints) == 0 {
				exchanges = append(exchanges, exchange{words: tidy(words)})
			}
		case "assistant":
			if text := string(m.Content); text != "" {
				last.reply = text
			}
			for _, c := range m.ToolCalls {
				last.calls = append(last.calls, madeCall{id: c.ID, tool: c.Function.Name, args: string(c.Function.Arguments), result: &result{}})
			}
		case "tool":
			last.settle(m.ToolCallID, string(m.Content))
		}
	}
	if len(exchanges) > 1 {
		exchanges = exchanges[1:]
	}
	if len(exchanges) > maxExchanges {
		exchanges = exchanges[len(exchanges)-maxExchanges:]
	}
	return conversation{exchanges: exchanges, tools: tools}
}

// settle gives a result to its call; the latest call with the id, because ids of other models may repeat.
func (e *exchange) settle(id, text string) {
	for i := len(e.calls) - 1; i >= 0; i-- {
		if e.calls[i].id == id {
			e.calls[i].result = readResult(e.calls[i].tool, text)
			return
		}
	}
}

func (c conversation) turn() exchange {
	return c.exchanges[len(c.exchanges)-1]
}

// made returns the calls of a tool in this exchange.
func (e exchange) made(tool string) []madeCall {
	var calls []madeCall
	for _, c := range e.calls {
		if c.tool == tool {
			calls = append(calls, c)
		}
	}
	return calls
}

// outcomeOf returns the result of the last call of a tool in this exchange, nil if it was not called.
func (e exchange) outcomeOf(tool string) *result {
	calls := e.made(tool)
	if len(calls) == 0 {
		return nil
	}
	return calls[len(calls)-1].result
}

// find returns the call with these arguments, whatever the order of their keys.
func (e exchange) find(tool string, args map[string]any) (madeCall, bool) {
	want := encode(args)
	for _, c := range e.made(tool) {
		if canonical(c.args) == want {
			return c, true
		}
	}
	return madeCall{}, false
}

// dishes returns every dish that was read in this exchange.
func (e exchange) dishes() []dish {
	var all []dish
	for _, c := range e.calls {
		all = append(all, c.result.Dishes...)
		for _, r := range c.result.Recommendations {
			all = append(all, r.Dish)
		}
	}
	return all
}

func canonical(args string) string {
	var value map[string]any
	decoder := json.NewDecoder(strings.NewReader(args))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil || value == nil {
		return "{}"
	}
	return encode(value)
}

// encode writes arguments with sorted keys and without HTML escapes.
func encode(args map[string]any) string {
	if args == nil {
		return "{}"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(args) != nil {
		return "{}"
	}
	return strings.TrimSpace(out.String())
}

// tidy makes the user's words plain: valid UTF-8, single spaces, ASCII letters and digits, and of bounded length.
func tidy(words string) string {
	words = strings.ToValidUTF8(words, "")
	words = strings.Map(func(r rune) rune {
		switch {
		case r >= '０' && r <= '９', r >= 'Ａ' && r <= 'Ｚ', r >= 'ａ' && r <= 'ｚ':
			return r - '０' + '0'
		case r == '’', r == '‘':
			return '\''
		case r == '\u3000', r == '\u00a0':
			return ' '
		case r < ' ' && r != '\n' && r != '\t', r == utf8.RuneError:
			return -1
		}
		return r
	}, text.Cut(words, maxWords))
	return strings.TrimSpace(words)
}
