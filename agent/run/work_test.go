package run_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"agentmesh/agent/run"
)

// What is put around runs is around each stretch of work; a bug in it is caught as one in the work is, and another
// worker follows.
func TestWrappersAreAroundTheWorkOnARun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, s)
	}
	broken := true
	w := newWorld(t, func(w *world) {
		w.around = func(next run.Work) run.Work {
			return func(ctx context.Context, runID string) error {
				note("begin " + runID)
				if broken {
					broken = false
					panic("a bug")
				}
				err := next(ctx, runID)
				note("end " + runID)
				return err
			}
		}
	})
	r := w.end(w.send("t1", "hello").ID)
	w.stop()
	want(t, "status", r.Status.String(), "SUCCEEDED")
	if !slices.Equal(seen, []string{"begin " + r.ID, "begin " + r.ID, "end " + r.ID}) {
		t.Errorf("got %q, want a broken and a whole stretch", seen)
	}
}
