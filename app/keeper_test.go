package app

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/mesh"
	"agentmesh/app/platform/span"
	"agentmesh/store/spandb"
)

// TestServePrune_WhileStarting: a module's own listener serves before the others have started.
func TestServePrune_WhileStarting(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Data, c.InternalKey = t.TempDir(), "0123456789abcdef0123456789abcdef"
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, prunePath, http.NoBody)
	r.Header.Set(mesh.HeaderOperator, a.wiring.network.OperatorKey())
	w := httptest.NewRecorder()
	a.servePrune(w, r)
	if w.Code != http.StatusServiceUnavailable || a.disagreements() != 0 {
		t.Errorf("got %d %s, want %d", w.Code, w.Body, http.StatusServiceUnavailable)
	}
}

// TestKeeper_PrunesOnceADay: nobody has to start the program anew for that.
func TestKeeper_PrunesOnceADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := spandb.Open(t.Context(), filepath.Join(t.TempDir(), "food.db"))
		if err != nil {
			t.Fatal(err)
		}
		k := &keeper{config: Default(), now: time.Now, spans: map[string]*spandb.DB{"food": db}}
		k.start(t.Context())
		const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
		db.Record(span.Span{TraceID: trace, ID: "0000000000000001", Start: time.Now(), End: time.Now()})
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {k.config.KeepSpans - time.Hour, 1}, {25 * time.Hour, 0}} {
			time.Sleep(c.wait)
			synctest.Wait()
			if got, err := db.Spans(t.Context(), trace); err != nil || len(got) != c.want {
				t.Errorf("%s later: got %d spans, %v, want %d", c.wait, len(got), err, c.want)
			}
		}
		k.stop()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDays: 30d is what people write.
func TestDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"30d": 30 * day, "0": 0, "0d": 0, "36h": 36 * time.Hour} {
		var d days
		if err := d.Set(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s: got %s, %v, want %s", text, time.Duration(d), err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "3", "99999999d"} {
		var d days
		if err := d.Set(text); err == nil {
			t.Errorf("%q was read as %s", text, time.Duration(d))
		}
	}
	if got := (*days)(new(36*time.Hour)).String() + (*days)(new(48*time.Hour)).String(); got != "36h0m0s2d" {
		t.Errorf("got %s", got)
	}
}
