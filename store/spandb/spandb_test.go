package spandb_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/span"
	"agentmesh/store/spandb"
)

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

func noon() time.Time { return time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC) }

func open(t *testing.T, path string, now time.Time) *spandb.DB {
	t.Helper()
	db, err := spandb.Open(t.Context(), path, func() time.Time { return now })
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
	db := open(t, filepath.Join(t.TempDir(), "food.db"), noon())
	want := sample("0000000000000001")
	db.Record(want)
	elsewhere := sample("0000000000000002")
	elsewhere.TraceID = "0af7651916cd43dd8448eb211c80319c"
	db.Record(elsewhere)
	if got := spansOf(t, db, trace); !reflect.DeepEqual(got, []span.Span{want}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSpans_SurviveACloseAndGoWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "food.db")
	db := open(t, path, noon())
	old := sample("0000000000000001")
	old.Start = noon().Add(-spandb.Retention + time.Hour)
	db.Record(old)
	db.Record(sample("0000000000000002"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		later time.Duration
		want  int
	}{{0, 2}, {2 * time.Hour, 1}, {spandb.Retention + time.Hour, 0}} {
		db := open(t, path, noon().Add(c.later))
		if got := spansOf(t, db, trace); len(got) != c.want {
			t.Errorf("after %s: got %d spans, want %d", c.later, len(got), c.want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecord_ManyAtOnce(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "food.db"), noon())
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

// TestSpans_GoWhileTheProgramRuns: nobody has to start it anew for that.
func TestSpans_GoWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := spandb.Open(t.Context(), filepath.Join(t.TempDir(), "food.db"), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		s := sample("0000000000000001")
		s.Start = time.Now()
		db.Record(s)
		if got := spansOf(t, db, trace); len(got) != 1 {
			t.Errorf("got %d spans at first, want one", len(got))
		}
		time.Sleep(spandb.Retention + 25*time.Hour)
		synctest.Wait()
		if got := spansOf(t, db, trace); len(got) != 0 {
			t.Errorf("got %d spans after their time, want none", len(got))
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSpans_AReaderWhoLeavesLosesNothing: the batch that a read writes first is everybody's.
func TestSpans_AReaderWhoLeavesLosesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "food.db"), noon())
	db.Record(sample("0000000000000001"))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, _ = db.Spans(ctx, trace)
	if got := spansOf(t, db, trace); len(got) != 1 {
		t.Errorf("got %d spans, want the one that was recorded", len(got))
	}
}
