package openai

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/redact"
)

// folded reads a body as an answer to a request that offers no tools.
func folded(body io.Reader) (agent.Answer, string, error) { return folding(body, &redact.Set{}, false) }

// folding reads a body as an answer. Pieces of its text are put together.
func folding(body io.Reader, secrets *redact.Set, tools bool) (a agent.Answer, said string, err error) {
	f := fold{onText: func(delta string) { said += delta }, onPiece: func() {}, secrets: secrets, hidden: redact.Stream{Set: secrets}, taken: map[string]bool{"call_1": true}}
	if tools {
		f.written = &written{}
	}
	err = f.read(body)
	f.flush()
	f.into(&a)
	return a, said, err
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: `{}`, ` null `: `{}`, `{}`: `{}`, ` {"a": 1} `: `{"a": 1}`, `{}{"a":1}`: `{"a":1}`, `{"a":1}{"a": 1}`: `{"a":1}`,
		`"{\"a\":1}"`: `{"a":1}`, `"\"{\\\"a\\\":1}\""`: `{"a":1}`, `""`: `{}`,
		`{"a":1}{"a":2}`: `"{\"a\":1}{\"a\":2}"`, `{"a":1}{}`: `"{\"a\":1}{}"`, `{"a":`: `"{\"a\":"`, `[1]`: `"[1]"`, `7`: `"7"`,
		`{"a":1} x`: `"{\"a\":1} x"`, "```json\n{}\n```": "\"```json\\n{}\\n```\"", `{"a":1}null`: `"{\"a\":1}null"`,
	} {
		if got := string(arguments(unwrapped(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestFold_Calls(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, parts, want string }{
		{"id_wins_over_the_index", `{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\""}}|{"index":1,"id":"a","function":{"arguments":":1}"}}`, `x{"n":1}`},
		{"new_id_on_a_used_index", `{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}|{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`, `x{} x{}`},
		{"new_name_on_a_used_index", `{"index":0,"function":{"name":"x","arguments":"{}"}}|{"index":0,"function":{"name":"y","arguments":"{}"}}`, `x{} y{}`},
		{"one_id_twice", `{"index":0,"id":"a","function":{"name":"x"}}|{"index":1,"id":"a","function":{"name":"y"}}|{"index":1,"id":"a","function":{"arguments":"{\"n\":1}"}}`, `x{} y{"n":1}`},
		{"tail_on_an_unknown_index", `{"index":0,"id":"a","function":{"name":"x"}}|{"index":7,"function":{"arguments":"{\"n\":1}"}}`, `x{"n":1}`},
		{"no_ids_no_indexes", `{"function":{"name":"x","arguments":"{}"}}|{"function":{"name":"y","arguments":"{\"n\""}}|{"function":{"arguments":":2}"}}`, `x{} y{"n":2}`},
		{"nothing", `{}|null|{"index":3}`, ``},
		{"no_name", `{"index":0,"id":"a","function":{"arguments":"{}"}}`, `unnamed{}`},
		{"an_id_of_an_earlier_answer", `{"index":0,"id":"call_1","function":{"name":"x"}}`, `x{}`},
		{"no_character", "{\"function\":{\"name\":\"x\",\"arguments\":{\"n\":\"\xff\"}}}", "x{\"n\":\"\uFFFD\"}"},
		{"object_for_text", `{"index":0,"id":"a","function":{"name":"x","arguments":{"n": 1}}}`, `x{"n": 1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stream strings.Builder
			for part := range strings.SplitSeq(tt.parts, "|") {
				stream.WriteString(`data: {"choices":[{"delta":{"tool_calls":[` + part + "]}}]}\n\n")
			}
			stream.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n")
			a, _, err := folded(strings.NewReader(stream.String()))
			var got []string
			ids := map[string]bool{}
			for _, c := range a.Calls {
				got = append(got, c.Name+string(c.Args))
				ids[c.ID] = true
			}
			if err != nil || strings.Join(got, " ") != tt.want || len(ids) != len(got) || ids[""] || ids["call_1"] {
				t.Errorf("got %q with ids %v, %v, want %q", got, ids, err, tt.want)
			}
		})
	}
}

// An answer may be of half a megabyte, and so may what it calls: ids and names go through every event and page after it.
func TestFold_BoundsIDsAndNames(t *testing.T) {
	t.Parallel()
	for _, n := range []int{maxID, maxID + 1, 100 << 10} {
		id, name := strings.Repeat("i", n), strings.Repeat("名", n)
		a, _, err := folded(strings.NewReader(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"` + id + `","function":{"name":"` + name + `"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"))
		if err != nil || len(a.Calls) != 1 {
			t.Fatalf("got %d calls, %v", len(a.Calls), err)
		}
		c := a.Calls[0]
		if c.ID == "" || len(c.ID) > maxID || (c.ID == id) != (n == maxID) {
			t.Errorf("an id of %d bytes became one of %d", n, len(c.ID))
		}
		if got := utf8.RuneCountInString(c.Name); got > maxName+1 || !strings.HasPrefix(c.Name, name[:30]) {
			t.Errorf("a name of %d characters became one of %d: %.60s", n, got, c.Name)
		}
	}
}

func TestFold_Shapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, text string
		complete         bool
		err              error
	}{
		{"content_in_parts", `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"好"}]},"finish_reason":"stop"}]}`, "好", true, nil},
		{"refusal_is_shown", `data: {"choices":[{"delta":{"refusal":"不行"},"finish_reason":"stop"}]}`, "不行", true, nil},
		{"delta_null", `data: {"choices":[{"delta":null,"finish_reason":"stop"}]}`, "", true, nil},
		{"choices_null", "data: {\"choices\":null}\n\ndata: [DONE]", "", true, nil},
		{"only_the_first_choice", `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"},{"delta":{"content":"b"}}]}`, "a", true, nil},
		{"byte_order_mark", "\xef\xbb\xbfdata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", "a", true, nil},
		{"blank_lines_first", "\n\n \r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", "a", true, nil},
		{"document", ` {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, "a", true, nil},
		{"document_of_something_else", `{"status":"ok"}`, "", false, errNoStream},
		{"document_cut", `{"choices":[{"mess`, "", false, errNoStream},
		{"document_with_an_error", `{"error":"overloaded"}`, "", false, errUpstream{words: "overloaded"}},
		{"list", `[]`, "", false, errNoStream},
		{"page", ` <!doctype html>`, "", false, errNoStream},
		{"unknown_finish", `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"weird"}]}`, "a", false, nil},
		{"error_event", "event: error\ndata: {\"code\":\"throttled\",\"message\":\"慢一点\"}", "", false, errUpstream{words: "慢一点", code: "throttled"}},
		{"broken_piece", `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\ndata: {\"choi\n\ndata: [DONE]", "a", false, errGarbled},
		{"wrong_types", `data: {"choices":7}`, "", false, errGarbled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, said, err := folded(strings.NewReader(tt.body))
			if !errors.Is(err, tt.err) || a.Text != tt.text || said != tt.text || (err == nil && a.Complete != tt.complete) {
				t.Errorf("got %q, complete %v, %v, want %q, %v, %v", a.Text, a.Complete, err, tt.text, tt.complete, tt.err)
			}
		})
	}
}
