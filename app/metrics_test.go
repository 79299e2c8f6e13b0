package app_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// scrape reads /metrics as a scraper does: each line a sample or a comment.
func scrape(t *testing.T, m *meshtest.Mesh) map[string]float64 {
	t.Helper()
	resp := m.Open("", http.MethodGet, "/metrics", "", nil)
	defer func() { _ = resp.Body.Close() }()
	body := readAll(t, resp)
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8") {
		t.Fatalf("GET /metrics: %d %s", resp.StatusCode, resp.Header)
	}
	line := regexp.MustCompile(`^([a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) ([-+0-9.e]+)$`)
	typed := map[string]bool{}
	out := map[string]float64{}
	for text := range strings.Lines(body) {
		text = strings.TrimSuffix(text, "\n")
		if strings.HasPrefix(text, "# ") {
			typed[strings.Fields(text)[2]] = true
			continue
		}
		found := line.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("the line %q is no sample", text)
		}
		name, _, _ := strings.Cut(found[1], "{")
		if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); !typed[name] && !typed[base] {
			t.Errorf("%s has no type", name)
		}
		v, err := strconv.ParseFloat(found[2], 64)
		if _, twice := out[found[1]]; twice || err != nil {
			t.Errorf("%s: twice, or %v", found[1], err)
		}
		out[found[1]] = v
	}
	return out
}

// awaitSamples scrapes until the samples are these: a stream is counted when its handler has ended, a little
// after its client has read it.
func awaitSamples(t *testing.T, m *meshtest.Mesh, want map[string]float64) map[string]float64 {
	t.Helper()
	wrong := ""
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		got := scrape(t, m)
		wrong = ""
		for name, v := range want {
			if there, ok := got[name]; !ok || there != v {
				wrong += fmt.Sprintf("%s is %v, want %v\n", name, there, v)
			}
		}
		if wrong == "" {
			return got
		}
	}
	t.Fatal(wrong)
	return nil
}

func TestMetricsOfAnOrder(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	awaitSamples(t, m, map[string]float64{
		`agentmesh_in_flight{work="run"}`: 0, `agentmesh_in_flight{work="model"}`: 0, `agentmesh_in_flight{work="tool"}`: 0,
		`agentmesh_confirmations_open`: 1, `agentmesh_runs{status="AWAITING_CONFIRMATION"}`: 1, `agentmesh_orders{status="PLACING"}`: 1,
		`agentmesh_tool_calls_total{capability="reserve_stock",status="SUCCEEDED"}`: 1, `agentmesh_runs{status="FAILED"}`: 0,
	})
	talk.Decide("confirm", q)
	talk.Rest()
	m.Do("ann", http.MethodGet, "/api/v1/none", "")
	got := awaitSamples(t, m, map[string]float64{
		`agentmesh_confirmations_open`: 0, `agentmesh_runs{status="SUCCEEDED"}`: 1, `agentmesh_orders{status="CONFIRMED"}`: 1,
		`agentmesh_tool_calls_total{capability="place_order",status="SUCCEEDED"}`:        1,
		`agentmesh_tool_calls_total{capability="commit_reservation",status="SUCCEEDED"}`: 1,
		`agentmesh_model_calls_total{model="demo",outcome="ok"}`:                         2,
		`agentmesh_work_duration_seconds_count{work="model"}`:                            2,
		`agentmesh_http_requests_total{class="4xx",module="orchestrator"}`:               1,
		`agentmesh_http_requests_total{class="2xx",module="orchestrator"}`:               2,
		`agentmesh_http_request_duration_seconds_count{module="orchestrator"}`:           3,
	})
	for _, name := range []string{
		`agentmesh_http_requests_total{class="2xx",module="mcp"}`, `agentmesh_http_requests_total{class="2xx",module="food"}`,
		`agentmesh_http_request_duration_seconds_bucket{module="gateway",le="+Inf"}`,
		`agentmesh_model_tokens_total{direction="input",model="demo"}`, `agentmesh_model_tokens_total{direction="output",model="demo"}`,
		`process_start_time_seconds`, `go_goroutines`,
	} {
		if got[name] <= 0 {
			t.Errorf("%s is %v, want more", name, got[name])
		}
	}
	if status, _ := m.Do("ann", http.MethodDelete, "/api/v1/conversations/t1", ""); status != http.StatusNoContent {
		t.Fatalf("delete: %d", status)
	}
	after := scrape(t, m)
	for name, v := range got {
		if strings.HasSuffix(strings.Split(name, "{")[0], "_total") && after[name] < v {
			t.Errorf("the counter %s fell from %v to %v", name, v, after[name])
		}
	}
}

func TestOperationsAreForReading(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		for _, method := range []string{"POST", "DELETE", "PUT"} {
			resp := m.Open("ann", method, path, `{}`, nil)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, resp.Header.Get("Content-Type"))
			}
		}
		resp := m.Open("ann", http.MethodGet, path, "", http.Header{"Origin": {"https://evil.example"}})
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("GET %s from elsewhere: %d, want 403", path, resp.StatusCode)
		}
	}
}

// A process without the orchestrator answers problems too, and counts what it serves.
func TestOneModuleAlone(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.Modules, c.InternalKey = []string{"weather"}, "key-of-the-test" }})
	for _, path := range []string{"/", "/none", "/api/v1/runs"} {
		problem(t, m, "ann", "GET", path, "", "not_found")
	}
	problem(t, m, "ann", "GET", "/agents/weather/.well-known/agent-card.json", "", "denied") // it has no internal key
	got := scrape(t, m)
	if got[`agentmesh_http_requests_total{class="4xx",module="weather"}`] != 1 {
		t.Errorf("got %v", got)
	}
	for name := range got {
		if strings.HasPrefix(name, "agentmesh_runs") {
			t.Errorf("it shows %s without having a database of runs", name)
		}
	}
}
