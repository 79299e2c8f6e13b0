package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/agent/demo"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

const secret = "sk-secret-key-of-somebody"

// endpoint is an OpenAI-compatible server of somebody else: it wants a key, and repeats it when refusing.
func endpoint(t *testing.T, calls *atomic.Int32) *httptest.Server {
	t.Helper()
	model := demo.Handler(demo.WithDelay(0))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"bad key ` + r.Header.Get("Authorization") + `"}}`))
			return
		}
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Agentmesh-") || name == "Traceparent" {
				t.Errorf("somebody's endpoint gets %s", name)
			}
		}
		calls.Add(1)
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestConfiguredEndpointAnswers(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := endpoint(t, &calls)
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) {
		c.LLMBaseURL, c.LLMKey, c.LLMModel = s.URL+"/v1", secret, "somebody-s-model"
	}})
	got := m.Ask("ann", "t1", "水煮牛肉多少钱，还有库存吗？")
	if !strings.Contains(got.Text(), "32.00") || calls.Load() < 2 {
		t.Errorf("said %q after %d calls of the endpoint", got.Text(), calls.Load())
	}
	var about struct {
		Model struct {
			Name string
			Demo bool
		}
	}
	m.Get("ann", "/api/v1/about", &about)
	if about.Model.Name != "somebody-s-model" || about.Model.Demo {
		t.Errorf("about: %+v", about)
	}
	if status, body := m.Do("ann", http.MethodGet, "/api/v1/runs/"+got.RunID, ""); strings.Contains(body, secret) {
		t.Errorf("the key is in the stored run (%d)", status)
	}
}

func TestRefusedKeyIsSaidWithoutTheKey(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := endpoint(t, &calls)
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) {
		c.LLMBaseURL, c.LLMKey = s.URL+"/v1", "sk-another-secret"
	}})
	got := m.Ask("ann", "t1", "你好")
	last := got.Last()
	if last.Type != agui.RunError || !strings.Contains(last.Message, "LLM_API_KEY") {
		t.Errorf("ended with %s %q, want an error that names LLM_API_KEY", last.Type, last.Message)
	}
	_, body := m.Do("ann", http.MethodGet, "/api/v1/runs/"+got.RunID, "")
	if strings.Contains(body, "sk-another-secret") || strings.Contains(last.Message, "sk-") {
		t.Errorf("the key came back: %s %s", last.Message, body)
	}
}

func TestCombinedFoodTool(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.FoodTools = "combined" }})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	if q.Tool != "call_food" || !strings.Contains(string(q.Summary), `"total":"32.00"`) {
		t.Errorf("asked about %s with %s", q.Tool, q.Summary)
	}
	talk.Decide("confirm", q)
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" || stock(t, m, "food-001") != before-1 {
		t.Errorf("orders %+v, stock %d of %d", list, stock(t, m, "food-001"), before)
	}
	again := m.Say("ann", "t2", "帮我推荐一道菜")
	q = again.Question()
	again.Decide("confirm", q)
	again.Rest()
	if len(orders(m, "ann")) != 1 {
		t.Error("a recommendation was stored as an order")
	}
}
