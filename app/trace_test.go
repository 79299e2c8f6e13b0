package app_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentmesh/agent/trace"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// traceOf reads the trace of a run once it has a number of spans: a module records a request's span when
// the request ends, which is a moment after its caller has the answer.
func traceOf(t *testing.T, m *meshtest.Mesh, user, runID string, spans int) trace.Trace {
	t.Helper()
	var r struct{ TraceID string }
	m.Get(user, "/api/v1/runs/"+runID, &r)
	var got trace.Trace
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		m.Get(user, "/api/v1/traces/"+r.TraceID, &got)
		if len(got.Spans) >= spans {
			break
		}
	}
	return got
}

// outline writes a trace as a tree without its times.
func outline(t trace.Trace) string {
	var b strings.Builder
	for _, n := range t.Spans {
		fmt.Fprintf(&b, "%s%s: %s (%s)\n", strings.Repeat("  ", n.Depth), n.Module, n.Name, n.Status)
	}
	return b.String()
}

// orderTrace is an order's way through the modules (layout, section 5). Food is asked three times: before
// the question, once there is a yes, and to place the order.
const orderTrace = `orchestrator: invoke_agent agentmesh (ok)
  orchestrator: chat demo (ok)
  orchestrator: execute_tool place_order (ok)
    gateway: forward to food (ok)
      food: invoke_agent Food Agent (ok)
        mcp: tools/call list_menu_by_day (ok)
    mcp: tools/call reserve_stock (ok)
    orchestrator: confirm place_order (ok)
    gateway: forward to food (ok)
      food: invoke_agent Food Agent (ok)
        mcp: tools/call list_menu_by_day (ok)
    gateway: forward to food (ok)
      food: invoke_agent Food Agent (ok)
        mcp: tools/call list_menu_by_day (ok)
    mcp: tools/call commit_reservation (ok)
  orchestrator: chat demo (ok)
`

// TestOneTraceInEveryPlacement: one order is one tree, whoever runs where (D-90, D-91).
func TestOneTraceInEveryPlacement(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{})
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			talk.Decide("confirm", talk.Question())
			talk.Rest()
			got := traceOf(t, m, "ann", talk.RunID, strings.Count(orderTrace, "\n"))
			if outline(got) != orderTrace || len(got.Missing) != 0 {
				t.Errorf("got %v missing and\n%s\nwant\n%s", got.Missing, outline(got), orderTrace)
			}
			if sum := got.Took.ModelMS + got.Took.MCPMS + got.Took.AgentMS + got.Took.PersonMS + got.Took.OwnMS; sum <= 0 || sum > got.DurationMS+1 {
				t.Errorf("the parts add up to %g ms of %g", sum, got.DurationMS)
			}
			if status, _ := m.Do("bob", http.MethodGet, "/api/v1/traces/"+got.TraceID, ""); status != http.StatusNotFound {
				t.Errorf("another user gets %d, want 404", status)
			}
			if status, body := m.Do("ann", http.MethodGet, "/spans/mcp/"+got.TraceID, ""); status != http.StatusNotFound {
				t.Errorf("without the internal key spans are answered with %d %s, want 404", status, body)
			}
		})
	}
}

// TestDamagedSpansKeepNobodyFromStarting: spans explain, and nothing depends on them.
func TestDamagedSpansKeepNobodyFromStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "spans"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "spans", "gateway.db"), strings.Repeat("no database ", 1000))
	_, a := serving(t, func(c *app.Config) { c.Data = dir })
	if resp, err := http.Get("http://" + a.Addr() + "/readyz"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("readyz: %v, %v", resp, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "spans", "gateway.db.damaged")); err != nil {
		t.Errorf("the damaged file: %v, want it put aside", err)
	}
}

// TestLockedSpansAreNotDamaged: a file that another program keeps locked while we start is whole, and stays with its log.
func TestLockedSpansAreNotDamaged(t *testing.T) {
	t.Parallel()
	c := app.Default()
	c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
	path := filepath.Join(c.Data, "spans", "gateway.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite3", "file:"+path+"?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	a, err := app.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("the start says %v, want that the database is locked", err)
	}
	if found, _ := filepath.Glob(path + "*.damaged"); len(found) > 0 { // the pattern is good
		t.Errorf("%v was put aside", found)
	}
}

// TestSharedTraceShowsOwnRunsOnly: two users whose client gives both the same trace see their own runs.
func TestSharedTraceShowsOwnRunsOnly(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	runs := map[string]string{}
	for _, user := range []string{"ann", "bob"} {
		resp := m.Open(user, http.MethodPost, "/api/v1/runs", meshtest.Input("t1", "今天有什么菜？"), http.Header{"Traceparent": {"00-" + id + "-00f067aa0ba902b7-01"}})
		runs[user] = resp.Header.Get("X-Run-Id")
		readAll(t, resp)
		_ = resp.Body.Close()
	}
	for user, own := range runs {
		got := traceOf(t, m, user, own, 4)
		if got.TraceID != id || len(got.Runs) != 1 || got.Runs[0] != own {
			t.Errorf("%s sees trace %s with runs %v, want only %s", user, got.TraceID, got.Runs, own)
		}
		for _, n := range got.Spans {
			if n.RunID != own {
				t.Errorf("%s sees %s of %s", user, n.Name, n.RunID)
			}
		}
	}
}
