package openai_test

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/openai"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// ending is how a case ends where it does not end with an answer.
type ending struct {
	code       fault.Code // of the fault that the last round gave
	says       string     // what its message holds
	incomplete bool       // the last answer must not be used
	empty      bool       // it was whole and held nothing
}

// endings lists what the case files say in words only.
func endings() map[string]ending {
	return map[string]ending{
		"args-cut-by-length":      {incomplete: true},
		"finish-content-filter":   {incomplete: true},
		"finish-length-empty":     {incomplete: true},
		"only-done":               {empty: true},
		"body-empty":              {code: fault.Unavailable, says: "cut off"},
		"error-first-event":       {code: fault.Unavailable, says: "rate limit exceeded"},
		"error-in-stream":         {code: fault.Unavailable, says: "overloaded"},
		"error-html-200":          {code: fault.Unavailable, says: "not with a chat completion"},
		"error-without-the-word":  {code: fault.Unavailable, says: "maximum context length"},
		"sse-cut-in-text":         {code: fault.Unavailable, says: "cut off"},
		"sse-cut-after-call":      {code: fault.Unavailable, says: "cut off"},
		"sse-ends-in-text":        {code: fault.Unavailable, says: "cut off"},
		"http-400-context-length": {code: fault.Invalid, says: "context"},
		"http-409-and-408":        {code: fault.Unavailable, says: "408"},
		"http-502-html":           {code: fault.Unavailable, says: "502"},
		"http-error-other-shapes": {code: fault.Invalid, says: "thought_signature"},
		"http-error-string":       {code: fault.Invalid, says: "qwen9"},
	}
}

// notForTheClientAlone lists the cases that need the schema check, a person, a second message, retries or time;
// TestCases of package app plays them, and all the others again.
func notForTheClientAlone() []string {
	return strings.Fields(`args-missing-required args-wrong-type history-cancel-during-tool history-deny-one-of-two
		history-empty-tool-result history-one-call-fails history-system-first html-in-tool-name-and-args http-429-then-ok
		http-500-then-ok injection-in-tool-result loop-limit-then-speak loop-same-call stream-stalls tool-unknown`)
}

// TestStream_Cases plays every case against a small loop around the client, with an endpoint that refuses
// what a strict provider refuses.
func TestStream_Cases(t *testing.T) {
	t.Parallel()
	cases, err := llmstub.LoadDir(filepath.Join("..", "..", "app", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range endings() {
		if !slices.ContainsFunc(cases, func(c *llmstub.Case) bool { return c.ID == name }) {
			t.Errorf("there is no case %s", name)
		}
	}
	for _, c := range cases {
		if slices.Contains(notForTheClientAlone(), c.ID) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			stub := llmstub.New(c)
			stub.Strict = true
			srv := httptest.NewServer(stub)
			t.Cleanup(srv.Close)
			l := &loop{model: openai.New(openai.Config{BaseURL: srv.URL + "/v1", Key: "secret-key-1", Model: "m", HTTP: srv.Client()})}
			l.run(t, c)
			l.judge(t, c)
			for _, bad := range stub.Check(c) {
				t.Errorf("on the wire: %s", bad)
			}
		})
	}
}

// loop asks the model until it answers without calls.
type loop struct {
	model    *openai.Model
	messages []agent.Message
	executed []agent.ToolCall
	shown    string // all text, as it was streamed
	last     agent.Answer
	err      error
}

func (l *loop) run(t *testing.T, c *llmstub.Case) {
	t.Helper()
	l.messages = []agent.Message{{Role: agent.System, Text: "You help."}, {Role: agent.User, Text: c.UserMessage}}
	for range 12 {
		said := ""
		l.last, l.err = l.model.Stream(t.Context(), agent.Prompt{Messages: l.messages, Tools: tools(c)}, agent.OnText(func(delta string) { said += delta }))
		l.shown += said
		if l.last.Text != said {
			t.Errorf("got text %q, but %q was streamed", l.last.Text, said)
		}
		if l.err != nil || !l.last.Complete || len(l.last.Calls) == 0 {
			return
		}
		l.messages = append(l.messages, agent.Message{Role: agent.Assistant, Text: l.last.Text, Reasoning: l.last.Reasoning, Calls: l.last.Calls})
		for _, call := range l.last.Calls {
			l.messages = append(l.messages, agent.Message{Role: agent.Tool, ToolCallID: call.ID, Text: l.execute(c, call)})
		}
	}
	t.Error("the loop did not end")
}

// execute runs a call if the tool is there and its arguments are one object.
func (l *loop) execute(c *llmstub.Case, call agent.ToolCall) string {
	var object map[string]any
	if !slices.Contains(c.Tools, call.Name) || json.Unmarshal(call.Args, &object) != nil || object == nil {
		return `{"error":{"code":"invalid","message":"the arguments are not one JSON object"}}`
	}
	l.executed = append(l.executed, call)
	return `{"done":true}`
}

func tools(c *llmstub.Case) []capability.Definition {
	var out []capability.Definition
	for _, name := range c.Tools {
		out = append(out, capability.Definition{Name: name, Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

func (l *loop) judge(t *testing.T, c *llmstub.Case) {
	t.Helper()
	want := endings()[c.ID]
	complete, empty := l.last.Complete, l.last.Text == ""
	if fault.CodeOf(l.err) != want.code || !strings.Contains(fault.MessageOf(l.err), want.says) {
		t.Errorf("got %v, want %q and %q", l.err, want.code, want.says)
	}
	if want.code == "" && (complete == want.incomplete || (!want.incomplete && empty != want.empty)) {
		t.Errorf("got complete %v, text %q, want %+v", complete, l.last.Text, want)
	}
	if l.err != nil && (complete || strings.Contains(l.err.Error(), "secret-key-1")) {
		t.Errorf("got complete %v beside %v", complete, l.err)
	}
	for _, text := range c.Expected.AnswerContains {
		if !strings.Contains(l.shown, text) {
			t.Errorf("got %q, want %q in it", l.shown, text)
		}
	}
	for _, text := range c.Expected.AnswerNotContains {
		if strings.Contains(l.shown, text) {
			t.Errorf("got %q, want no %q in it", l.shown, text)
		}
	}
	for _, e := range c.Expected.Executed {
		if n := l.times(e); (e.Times == 0 && n == 0) || (e.Times > 0 && n != e.Times) {
			t.Errorf("%s(%s) ran %d times, want %d, among %v", e.Tool, e.Arguments, n, e.Times, l.executed)
		}
	}
	for _, name := range c.Expected.NotExecuted {
		if l.times(llmstub.ExpectedCall{Tool: name}) > 0 {
			t.Errorf("%s ran", name)
		}
	}
	sum := 0
	for _, e := range c.Expected.Executed {
		sum += e.Times
	}
	if sum > 0 && len(l.executed) != sum {
		t.Errorf("got %d calls, want %d: %v", len(l.executed), sum, l.executed)
	}
}

// times counts the runs of a tool; without arguments, of any.
func (l *loop) times(e llmstub.ExpectedCall) int {
	n := 0
	for _, call := range l.executed {
		var got, want any
		_, _ = json.Unmarshal(call.Args, &got), json.Unmarshal(e.Arguments, &want)
		if call.Name == e.Tool && (len(e.Arguments) == 0 || reflect.DeepEqual(got, want)) {
			n++
		}
	}
	return n
}
