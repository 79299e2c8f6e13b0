package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestPrune_WhileServing: a start prunes what is old by itself. The runs that ended still list and their
// conversations read; a run whose question is open is watched and answered as if nothing had been.
func TestPrune_WhileServing(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-2 * time.Hour)
	options := func(now time.Time) meshtest.Options {
		ticking := time.Now()
		return meshtest.Options{Now: func() time.Time { return now.Add(time.Since(ticking)) }, Change: func(c *app.Config) {
			c.KeepEvents, c.KeepAudit, c.KeepSpans, c.ConfirmationTTL = time.Hour, time.Hour, time.Hour, 24*time.Hour
		}}
	}
	m := meshtest.Start(t, options(began))
	old := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	old.Decide("confirm", old.Question())
	old.Rest()
	said := meshtest.Input("t3", "水煮牛肉多少钱，还有库存吗？")
	whole(t, m, "ann", "/api/v1/runs", said)
	asked := m.Say("ann", "t2", "帮我订一份米饭。")
	question := asked.Question()
	asked.Close()
	m.Stop()

	o := options(began.Add(2 * time.Hour))
	o.Dir = m.Dir
	again := meshtest.Start(t, o)
	for end := time.Now().Add(10 * time.Second); ; {
		status, body := again.Do("ann", http.MethodGet, "/api/v1/runs/"+old.RunID+"/events", "")
		if status == http.StatusGone {
			wantWords(t, "the problem", body, "no longer kept", `"code":"gone"`)
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the events are still there: %d", status)
		}
	}
	for _, path := range []string{"/api/v1/runs", "/agui", copilot + "/run"} {
		status, body := again.Do("ann", http.MethodPost, path, said)
		if status != http.StatusGone {
			t.Errorf("the same input again at %s: got %d %s, want %d", path, status, body, http.StatusGone)
		}
	}
	var r struct {
		Status      string
		Invocations []struct{ Status string }
	}
	if again.Get("ann", "/api/v1/runs/"+old.RunID, &r); r.Status != "SUCCEEDED" || len(r.Invocations) == 0 {
		t.Errorf("got %+v, want the run with its calls", r)
	}
	var talk struct{ Items []struct{ Role string } }
	if again.Get("ann", "/api/v1/conversations/t1/messages", &talk); len(talk.Items) < 3 {
		t.Errorf("got %+v, want the whole conversation", talk)
	}
	again.Get("ann", "/api/v1/traces/"+traceID(again, old.RunID), &struct{}{})

	follow := again.Follow("ann", asked.RunID, "")
	if q := follow.Question(); q.ID != question.ID {
		t.Errorf("got the question %+v, want %s", q, question.ID)
	}
	follow.Decide("confirm", question)
	follow.Rest()
	awaitSettled(t, again)
	if list := orders(again, "ann"); len(list) != 2 || list[0].Status != "CONFIRMED" || list[1].Status != "CONFIRMED" {
		t.Errorf("got %+v, want both orders CONFIRMED", list)
	}
	again.Stop()
	checkBooks(t, m.Dir)
}

func traceID(m *meshtest.Mesh, runID string) string {
	var r struct{ TraceID string }
	m.Get("ann", "/api/v1/runs/"+runID, &r)
	return r.TraceID
}

// TestPruneCommand: by hand without a program, and through one.
func TestPruneCommand(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	m.Ask("ann", "t1", "今天有什么菜？")
	m.Stop()
	db := filepath.Join(m.Dir, "orchestrator.db")
	execute(t, db, `UPDATE runs SET ended_at = 1`, `UPDATE audit_log SET at = 1`,
		`INSERT INTO run_events SELECT 1, n + 1000, 'x', hex(randomblob(500)), 1 FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) SELECT n FROM c)`)
	said := wantRun(t, 0, "prune", "--data", m.Dir, "--dry-run")
	if strings.Contains(said, " 0 events") || strings.Contains(said, " 0 audit") || !strings.HasPrefix(said, "would go:") {
		t.Errorf("got %q", said)
	}
	if got := keys(t, db, `SELECT seq FROM run_events`); len(got) < 2000 {
		t.Errorf("a dry run left %d events", len(got))
	}
	wantWords(t, "prune with settings of its own", wantRun(t, 0, "prune", "--data", m.Dir, "--keep-events", "0", "--keep-audit", "0", "--dry-run"), " 0 events", " 0 audit")
	wantWords(t, "a bad setting", wantRun(t, 1, "prune", "--data", m.Dir, "--keep-events", "5m"), "less than an hour")
	before := size(t, db)
	wantWords(t, "prune", wantRun(t, 0, "prune", "--data", m.Dir), "bytes before")
	if after := size(t, db); after > before/2 {
		t.Errorf("got %d bytes after %d: the room did not go back", after, before)
	}
	p := launch(t, "--data", m.Dir, "--listen", "127.0.0.1:0")
	p.ask("t2", "今天有什么菜？")
	execute(t, db, `UPDATE runs SET ended_at = 1`)
	if said := wantRun(t, 0, "prune", "--data", m.Dir); strings.Contains(said, " 0 events") {
		t.Errorf("through the program: got %q", said)
	}
	if resp, err := p.post("/operator/prune", ""); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the operator's key: got %v, %v, want 404", resp, err)
	}
	p.stop(syscall.SIGTERM)
	if status, _, text := examine(t, "--data", m.Dir); status != 0 {
		t.Errorf("doctor after it:\n%s", text)
	}
	wantWords(t, "an empty folder", wantRun(t, 1, "prune", "--data", t.TempDir()), "nothing to prune")
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
