package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/agent/demo"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/store/storetest"
)

// gated is a model whose next answer waits for open when it is shut.
type gated struct {
	shut    atomic.Bool
	waiting chan struct{}
	open    chan struct{}
}

func shutModel(t *testing.T) (*gated, func(*app.Config)) {
	t.Helper()
	g := &gated{waiting: make(chan struct{}, 1), open: make(chan struct{})}
	model := demo.Handler(demo.WithDelay(0))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && g.shut.CompareAndSwap(true, false) {
			g.waiting <- struct{}{}
			<-g.open
		}
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return g, func(c *app.Config) { c.LLMBaseURL, c.LLMModel = s.URL+"/v1", "demo" }
}

// wantRefused says that a new run is refused, in clear words.
func wantRefused(t *testing.T, m *meshtest.Mesh, status int, words ...string) {
	t.Helper()
	got, body := m.Do("ann", http.MethodPost, "/api/v1/runs", meshtest.Input("refused", "今天有什么菜？"))
	if got != status || strings.Contains(body, "locked") || strings.Contains(body, "SQL") {
		t.Errorf("a new run: got %d %s, want %d", got, body, status)
	}
	wantWords(t, "the refusal", body, words...)
}

// TestDiskFull: while the disk is full runs under way end FAILED and say why, new ones and orders are
// refused at once, and everything is read; with room everything goes on, and the books agree.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := storetest.SmallDisk(t, 24<<20)
	gate, change := shutModel(t)
	m := meshtest.Start(t, meshtest.Options{Dir: disk.Dir, Change: change})
	before := stock(t, m, "food-001")
	asked := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	question := asked.Question()
	other := m.Say("ann", "t2", "帮我订一份水煮牛肉。")
	other.Question()
	gate.shut.Store(true)
	working := m.Say("ann", "t3", "今天有什么菜？")
	<-gate.waiting

	disk.Fill()
	for end := time.Now().Add(10 * time.Second); ; { // what fits into the pages that are there already
		status, body := m.Do("ann", http.MethodPost, "/api/v1/runs", meshtest.Input(fmt.Sprint("fill", time.Now().UnixNano()), "你好"))
		if status == http.StatusInsufficientStorage {
			wantWords(t, "the first refusal", body, `"code":"storage_full"`, "the disk is full")
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a full disk: got %d %s", status, body)
		}
	}
	close(gate.open)
	said := working.Until(func(e agui.Event) bool { return e.Type == agui.RunError })
	if said.Code != "storage_full" {
		t.Errorf("who watched was told %+v", said)
	}
	var r struct {
		Status string
		Error  struct{ Code, Message string }
	}
	if m.Get("ann", "/api/v1/runs/"+working.RunID, &r); r.Status != "FAILED" || r.Error.Code != "storage_full" {
		t.Errorf("got %+v, want FAILED for the disk", r)
	}
	wantRefused(t, m, http.StatusInsufficientStorage, "the disk is full")
	if status, body := m.Do("ann", http.MethodGet, "/readyz", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, "the disk is full") {
		t.Errorf("readyz: got %d %s", status, body)
	}
	if status, body := asked.Decide("confirm", question); status != http.StatusInsufficientStorage {
		t.Errorf("a yes: got %d %s", status, body)
	}
	if status, body := m.Do("ann", http.MethodPost, "/runs/"+other.RunID+"/cancel", `{}`); status != http.StatusOK {
		t.Errorf("a cancel: got %d %s", status, body)
	}
	if list := orders(m, "ann"); len(list) != 2 || list[0].Status == "CONFIRMED" || list[1].Status != "PLACING" {
		t.Errorf("got %+v, want one undecided and none confirmed", list)
	}

	disk.Empty()
	for end := time.Now().Add(20 * time.Second); ; {
		if status, _ := m.Do("ann", http.MethodGet, "/readyz", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("there is room, and it is not ready")
		}
	}
	if status, body := asked.Decide("confirm", question); status != http.StatusOK {
		t.Errorf("a yes with room: got %d %s", status, body)
	}
	asked.Rest()
	awaitSettled(t, m)
	awaitStock(t, m, before-1)
	if got := m.Ask("ann", "t4", "今天有什么菜？"); got.Last().Type != agui.RunFinished {
		t.Errorf("a run with room ended %+v", got.Last())
	}
	m.Stop()
	checkBooks(t, disk.Dir)
}

// TestDatabaseLocked: another program keeps a database from being written for longer than anybody waits. Who
// asks is told so; runs under way and orders go on afterwards, whole and once.
func TestDatabaseLocked(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"orchestrator.db", "catalog.db"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			gate, change := shutModel(t)
			m := meshtest.Start(t, meshtest.Options{Change: change})
			before := stock(t, m, "food-001")
			asked := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			question := asked.Question()
			gate.shut.Store(true)
			working := m.Say("ann", "t3", "今天有什么菜？")
			<-gate.waiting

			unlock := storetest.Lock(t, filepath.Join(m.Dir, file))
			close(gate.open)
			status, body := asked.Decide("confirm", question)
			if file == "orchestrator.db" {
				if status != http.StatusServiceUnavailable || !strings.Contains(body, "another program") || strings.Contains(body, "locked") {
					t.Errorf("a yes: got %d %s, want 503", status, body)
				}
				wantRefused(t, m, http.StatusServiceUnavailable, "another program")
				unlock()
				asked.Decide("confirm", question)
			} else {
				wantTaken := m.Say("ann", "t5", "帮我订一份水煮牛肉。")
				wantTaken.Rest() // it cannot be held, and the person is told
				unlock()
			}
			working.Rest()
			var r struct{ Status string }
			if m.Get("ann", "/api/v1/runs/"+working.RunID, &r); r.Status != "SUCCEEDED" {
				t.Errorf("a run under way ended %s", r.Status)
			}
			asked.Rest()
			awaitSettled(t, m)
			sold := 0
			for _, o := range orders(m, "ann") {
				if o.Status == "CONFIRMED" {
					sold++
				}
			}
			if file == "orchestrator.db" && sold != 1 {
				t.Errorf("%d orders were confirmed, want the one that was agreed to", sold)
			}
			awaitStock(t, m, before-sold)
			m.Stop()
			checkBooks(t, m.Dir)
		})
	}
}
