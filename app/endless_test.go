package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestModelsThatDoNotEnd: whatever a model does instead of answering, its run ends as design section 4 says, with a
// reason, and within its limit. Time is virtual.
func TestModelsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		model  http.HandlerFunc
		last   string // event
		code   string // of the error
		reason string
		within time.Duration
	}{
		{"silent", silentModel, agui.RunError, "connection", "error", 6*time.Minute + 3*time.Second}, // three attempts of two minutes
		{"silent_after_a_word", silentAfter(`{"choices":[{"delta":{"content":"Well"}}]}`), agui.RunError, "connection", "error", time.Minute + time.Second},
		{"silent_after_a_role", silentAfter(`{"choices":[{"delta":{"role":"assistant"}}]}`), agui.RunError, "connection", "error", 3*time.Minute + 3*time.Second},
		{"one_byte_a_second", dribble, agui.RunError, "timeout", "out_of_time", 10*time.Minute + time.Second},
		{"endless_text", endlessText, agui.RunError, "upstream", "error", time.Second},
		{"one_tool_for_ever", callsForEver(func(int) string { return "{}" }), agui.RunFinished, "", "repeated_calls", time.Minute},
		{"a_tool_with_other_arguments_for_ever", callsForEver(func(n int) string { return fmt.Sprintf(`{"query":"%d"}`, n) }), agui.RunFinished, "", "max_rounds", time.Minute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := meshtest.Start(t, meshtest.Options{With: []app.Option{app.WithModel(c.model)}})
				began := time.Now()
				got := m.Ask("anna", "t1", "你好，现在几点？")
				if took := time.Since(began); took > c.within {
					t.Errorf("it took %s, want at most %s", took, c.within)
				}
				if last := got.Last(); last.Type != c.last || last.Code != c.code {
					t.Errorf("got %s %q (%s), want %s %q", last.Type, last.Code, last.Message, c.last, c.code)
				}
				var run struct{ FinishReason string }
				m.Get("anna", "/api/v1/runs/"+got.RunID, &run)
				if run.FinishReason != c.reason {
					t.Errorf("got the reason %q, want %q", run.FinishReason, c.reason)
				}
				synctest.Wait() // the work ends a moment after its last event
				inFlight := scrape(t, m)
				for _, work := range []string{"run", "model", "tool"} {
					if n := inFlight[`agentmesh_in_flight{work="`+work+`"}`]; n != 0 {
						t.Errorf("%v of %s are in flight after the end", n, work)
					}
				}
				m.Stop()
			})
		})
	}
}

// sendData writes events of a stream.
func sendData(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
	}
	w.(http.Flusher).Flush()
}

func silentModel(_ http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost { // the look whether it is there at all gets its answer
		<-r.Context().Done()
	}
}

func silentAfter(event string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sendData(w, event)
		<-r.Context().Done()
	}
}

// dribble sends an endless answer one byte a second.
func dribble(w http.ResponseWriter, r *http.Request) {
	for event := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"); ; {
		for _, b := range event {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

func endlessText(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		sendData(w, `{"choices":[{"delta":{"content":"`+strings.Repeat("and so on ", 400)+`"}}]}`)
	}
}

// callsForEver asks for one more call in every round in which there are tools.
func callsForEver(args func(round int) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body := string(raw)
		if !strings.Contains(body, `"tools"`) {
			sendData(w, `{"choices":[{"delta":{"content":"So far."},"finish_reason":"stop"}]}`, "[DONE]")
			return
		}
		round := strings.Count(body, `"role":"tool"`)
		sendData(w, fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c%d","function":{"name":"recall_preferences","arguments":%q}}]},"finish_reason":"tool_calls"}]}`,
			round, args(round)), "[DONE]")
	}
}
