package spandb_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/span"
	"agentmesh/store/spandb"
)

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

func noon() time.Time { return time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC) }

func open(t *testing.T, path string) *spandb.DB {
	t.Helper()
	db, err := spandb.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func spansOf(t *testing.T, db *spandb.DB, trace string) []span.Span {
	t.Helper()
	got, err := db.Spans(t.Context(), trace)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func sample(id string) span.Span {
	return span.Span{
		TraceID: trace, ID: id, ParentID: "00f067aa0ba902b7", RunID: "run-1", UserID: "ann", Module: "food", Kind: span.Agent, Name: "invoke_agent food",
		Start: noon(), End: noon().Add(1500 * time.Microsecond), Error: "unavailable", Attributes: map[string]string{"gen_ai.agent.name": "food"},
	}
}

func TestSpans_AreReadAsSoonAsTheyAreRecorded(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "food.db"))
	want := sample("0000000000000001")
	db.Record(want)
	elsewhere := sample("0000000000000002")
	elsewhere.TraceID = "0af7651916cd43dd8448eb211c80319c"
	db.Record(elsewhere)
	if got := spansOf(t, db, trace); !reflect.DeepEqual(got, []span.Span{want}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSpans_SurviveACloseAndArePrunedWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "food.db")
	db := open(t, path)
	old := sample("0000000000000001")
	old.Start = noon().Add(-time.Hour)
	db.Record(old)
	db.Record(sample("0000000000000002"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	for _, c := range []struct {
		before     time.Time
		dry        bool
		gone, left int
	}{{noon().Add(-2 * time.Hour), false, 0, 2}, {noon(), true, 1, 2}, {noon(), false, 1, 1}, {noon().Add(time.Hour), false, 1, 0}} {
		n, err := db.Prune(t.Context(), c.before, c.dry)
		if got := spansOf(t, db, trace); err != nil || n != c.gone || len(got) != c.left {
			t.Errorf("before %s: got %d gone, %v, %d left, want %d and %d", c.before, n, err, len(got), c.gone, c.left)
		}
	}
}

func TestRecord_ManyAtOnce(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "food.db"))
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			for j := range 100 {
				db.Record(sample(fmt.Sprintf("%016d", i*100+j)))
				if j%50 == 0 {
					_, _ = db.Spans(t.Context(), trace)
				}
			}
		})
	}
	all.Wait()
	if got := spansOf(t, db, trace); len(got) != 1000 {
		t.Errorf("got %d spans, want 1000", len(got))
	}
}

// TestSpans_AReaderWhoLeavesLosesNothing: the batch that a read writes first is everybody's.
func TestSpans_AReaderWhoLeavesLosesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "food.db"))
	db.Record(sample("0000000000000001"))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, _ = db.Spans(ctx, trace)
	if got := spansOf(t, db, trace); len(got) != 1 {
		t.Errorf("got %d spans, want the one that was recorded", len(got))
	}
}
