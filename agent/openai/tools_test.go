package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"agentmesh/agent"
	"agentmesh/capability"
)

// withTools is a prompt that offers so many tools.
func withTools(n int) agent.Prompt {
	p := agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "hi"}}}
	for i := range n {
		p.Tools = append(p.Tools, capability.Definition{Name: fmt.Sprintf("tool_%d", i), Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return p
}

// TestStream_OffersAtMost128Tools: case tool-hundred-and-thirty. And with none, no word of tools (case tool-none).
func TestStream_OffersAtMost128Tools(t *testing.T) {
	t.Parallel()
	for offered, want := range map[int]int{0: -1, 1: 1, 130: 128} {
		var sent map[string]json.RawMessage
		m := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewDecoder(r.Body).Decode(&sent)
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))
		}), "")
		if _, err := m.Stream(t.Context(), withTools(offered), agent.OnText(func(string) {})); err != nil {
			t.Fatal(err)
		}
		got := -1
		if raw, ok := sent["tools"]; ok {
			var list []any
			_ = json.Unmarshal(raw, &list)
			got = len(list)
		}
		if got != want || sent["tool_choice"] != nil || sent["parallel_tool_calls"] != nil {
			t.Errorf("%d offered: got %d tools, want %d; sent %s %s", offered, got, want, sent["tool_choice"], sent["parallel_tool_calls"])
		}
	}
}
