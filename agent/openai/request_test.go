package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/openai"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// sent gives what a model with these switches sends for a prompt: as it arrives, and as it is stored.
func sent(t *testing.T, c openai.Config, p agent.Prompt) (arrived map[string]any) {
	t.Helper()
	c.BaseURL, c.Model = "http://model.test/v1", "m"
	c.HTTP = &http.Client{Transport: endpoint(func(r *http.Request) (*http.Response, error) {
		if err := json.NewDecoder(r.Body).Decode(&arrived); err != nil {
			t.Error(err)
		}
		return answer(r, 200, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`), nil
	})}
	a, err := openai.New(c).Stream(t.Context(), p, agent.OnText(func(string) {}))
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if json.Unmarshal(a.Request, &stored) != nil || !reflect.DeepEqual(stored, arrived) {
		t.Errorf("stored %s, but sent %v", a.Request, arrived)
	}
	return arrived
}

// withTools is a prompt that offers so many tools.
func withTools(n int) agent.Prompt {
	p := agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "hi"}}}
	for i := range n {
		p.Tools = append(p.Tools, capability.Definition{Name: fmt.Sprintf("tool_%d", i), Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return p
}

// TestStream_Switches: what is left out and what is added, for one endpoint.
func TestStream_Switches(t *testing.T) {
	t.Parallel()
	thought := agent.Prompt{Messages: []agent.Message{
		{Role: agent.Assistant, Reasoning: "hm", Calls: []agent.ToolCall{{ID: "c", Name: "f", Args: json.RawMessage(`{}`)}}},
		{Role: agent.Tool, ToolCallID: "c", Text: "{}"},
	}}
	reasoning := func(body map[string]any) any {
		return body["messages"].([]any)[0].(map[string]any)["reasoning_content"]
	}
	plain := sent(t, openai.Config{}, thought)
	if plain["stream"] != true || plain["stream_options"] == nil || reasoning(plain) != "hm" {
		t.Errorf("without switches: got %v", plain)
	}
	if got := sent(t, openai.Config{WithoutReasoning: true}, thought); reasoning(got) != nil {
		t.Errorf("got the thought %v", reasoning(got))
	}
	for field, gone := range map[string][]string{
		"stream": {"stream", "stream_options"}, "stream_options": {"stream_options"},
		"parallel_tool_calls": {"parallel_tool_calls"}, "max_completion_tokens": {"max_completion_tokens"},
	} {
		c := openai.Config{LeaveOut: []string{field}, Extra: map[string]json.RawMessage{
			"parallel_tool_calls": json.RawMessage(`true`), "max_completion_tokens": json.RawMessage(`7`),
			"a.b": json.RawMessage(`{"enable_thinking":false}`),
		}}
		got := sent(t, c, thought)
		for _, name := range []string{"stream", "stream_options", "parallel_tool_calls", "max_completion_tokens"} {
			if _, there := got[name]; there == slices.Contains(gone, name) {
				t.Errorf("left out %s: %s is there: %v", field, name, there)
			}
		}
		if !reflect.DeepEqual(got["a.b"], map[string]any{"enable_thinking": false}) {
			t.Errorf("got %v, want what was added", got)
		}
	}
}

// TestStream_OffersAtMostSoManyTools: case tool-hundred-and-thirty. What is missing is logged once for each model and
// set. With no tools there is no word of them (case tool-none).
func TestStream_OffersAtMostSoManyTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, offered, want int }{{0, 0, 0}, {0, 1, 1}, {0, 130, 128}, {3, 130, 3}, {200, 130, 130}} {
		got := sent(t, openai.Config{MaxTools: c.most}, withTools(c.offered))
		list, there := got["tools"].([]any)
		if len(list) != c.want || there != (c.want > 0) || got["tool_choice"] != nil {
			t.Errorf("%+v: got %d tools, tool_choice %v", c, len(list), got["tool_choice"])
		}
	}
	var log strings.Builder
	ctx := flow.WithLogger(t.Context(), flow.NewLogger(&log, "warn"))
	m := openai.New(openai.Config{BaseURL: "http://model.test/v1", Model: "m", HTTP: &http.Client{Transport: endpoint(func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`), nil
	})}})
	for _, offered := range []int{130, 130, 128, 131, 130} {
		if _, err := m.Stream(ctx, withTools(offered), agent.OnText(func(string) {})); err != nil {
			t.Error(err)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"tools":["tool_128","tool_129"]`) || !strings.Contains(got, `"tool_130"`) {
		t.Errorf("got the log %s, want a line for each of two sets", got)
	}
}

// TestStream_ARefusedField: case tool-params-refused. The words name the setting, and only for what was sent.
func TestStream_ARefusedField(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"Unsupported parameter: 'stream_options'","param":"stream_options"}}`:  "leave_out: [stream_options]",
		`{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`:            "leave_out: [stream_options]",
		`{"object":"error","message":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`: "leave_out: [stream_options]",
		`{"error":{"message":"'stream' does not support true with this model","param":"stream"}}`:   "leave_out: [stream]",
		`{"error":{"message":"parallel_tool_calls is only allowed with tools"}}`:                    "",
		`{"error":{"message":"streaming is off today"}}`:                                            "",
	} {
		m := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(body))
		}), "")
		_, err := ask(t, m)
		words := fault.MessageOf(err)
		if want == "" && strings.Contains(words, "leave_out") || !strings.Contains(words, want) {
			t.Errorf("%s: got %q, want %q", body, words, want)
		}
	}
}

func TestConfig_Check(t *testing.T) {
	t.Parallel()
	good := openai.Config{BaseURL: "http://x/v1", Model: "m", LeaveOut: openai.LeavableFields(), Extra: map[string]json.RawMessage{"seed": json.RawMessage("1")}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	bad := openai.Config{
		BaseURL: "x", LeaveOut: []string{"messages"}, MaxTools: -1,
		Extra: map[string]json.RawMessage{"model": nil, "messages": nil, "tools": nil, "stream": nil},
	}
	err := bad.Check()
	for _, want := range []string{
		`"x" is not an http`, "no name", `"messages" cannot be left out of a request; stream, stream_options, parallel_tool_calls, max_completion_tokens can`, "-1",
		"says model", "says messages", "says tools", "says stream",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
