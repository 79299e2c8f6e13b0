package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/openai"
	"agentmesh/app/platform/fault"
)

// A stream that never ends is stopped, whatever it is made of.
func TestStream_EndlessAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60<<10)
	for name, piece := range map[string]string{
		"text":      `{"choices":[{"delta":{"content":"` + long + `"}}]}`,
		"arguments": `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"` + long + `"}}]}}]}`,
		"names":     `{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"` + long + `"}}]}}]}`,
		"calls":     `{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"{}"}}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for i := 0; r.Context().Err() == nil; i++ {
					data := piece
					if strings.Contains(piece, "%d") {
						data = fmt.Sprintf(piece, i, i)
					}
					if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
						return
					}
				}
			}))
			defer s.Close()
			m := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "m", HTTP: s.Client()})
			prompt := agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "hi"}}}
			if _, err := m.Stream(context.Background(), prompt, agent.OnText(func(string) {})); fault.CodeOf(err) != fault.TooLarge {
				t.Errorf("got %v, want too_large", err)
			}
		})
	}
}
