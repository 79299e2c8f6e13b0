package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestModelRetry: an endpoint that is busy is asked again, and the next model where the first is refused. The
// stream tells of both, and the run names the model that answered.
func TestModelRetry(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int // of the first answer of model a
		class  agent.ErrorClass
		next   string
	}{
		{"busy", http.StatusTooManyRequests, agent.RateLimit, "a"},
		{"broken", http.StatusBadGateway, agent.Upstream, "a"},
		{"wrong_key", http.StatusUnauthorized, agent.Authentication, "b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var request struct{ Model string }
				if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&request) != nil {
					return
				}
				if asked.Add(1) == 1 {
					w.Header().Set("Retry-After-Ms", "1")
					w.WriteHeader(c.status)
					return
				}
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"I am %s.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", request.Model)
			}))
			t.Cleanup(s.Close)
			m := meshtest.Start(t, meshtest.Options{Change: func(o *app.Config) { o.LLMBaseURL, o.LLMModels = s.URL+"/v1", "a, b" }})
			got := m.Ask("anna", "t1", "hello")
			if want := "I am " + c.next + "."; got.Text() != want || asked.Load() != 2 {
				t.Errorf("got %q after %d requests, want %q after 2", got.Text(), asked.Load(), want)
			}
			i := slices.IndexFunc(got.Events, func(e agui.Event) bool { return e.Name == agui.ModelRetry })
			if i < 0 {
				t.Fatalf("no event tells of it: %s", got.Types())
			}
			var told agent.RetryData
			if err := json.Unmarshal(got.Events[i].Value, &told); err != nil || told.Model != "a" || told.Class != c.class || told.Next != c.next {
				t.Errorf("got %+v, %v", told, err)
			}
			var runs struct{ Items []struct{ Model string } }
			m.Get("anna", "/api/v1/runs", &runs)
			if len(runs.Items) != 1 || runs.Items[0].Model != c.next {
				t.Errorf("got %+v, want the model %s", runs, c.next)
			}
		})
	}
}
