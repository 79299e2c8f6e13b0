package run_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

// badStore refuses steps as long as a function says so.
type badStore struct {
	agent.RunStore
	mu     sync.Mutex
	refuse func(agent.Step) error
}

func (b *badStore) Append(ctx context.Context, s agent.Step) error {
	b.mu.Lock()
	refuse := b.refuse
	b.mu.Unlock()
	if refuse != nil {
		if err := refuse(s); err != nil {
			return err
		}
	}
	return b.RunStore.Append(ctx, s)
}

func (b *badStore) set(refuse func(agent.Step) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = refuse
}

func onBadStore(w *world) *badStore {
	b := &badStore{}
	w.store = func(s agent.RunStore) agent.RunStore { b.RunStore = s; return b }
	return b
}

// TestFullDisk_EndsTheRun: a step that does not fit ends the run, whose last step still does; what its calls
// have done is not done again.
func TestFullDisk_EndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store *badStore
		w := newWorld(t, func(w *world) { store = onBadStore(w) })
		w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{}`)}})
		store.set(func(s agent.Step) error {
			if len(s.Invocations) > 0 && s.Invocations[0].Status.Final() && !s.To.Final() {
				return fault.New(fault.StorageFull, "the disk is full")
			}
			return nil
		})
		got := w.end(w.send("t1", "go").ID)
		want(t, "status", got.Status, agent.Failed)
		want(t, "code", got.ErrorCode, "storage_full")
		want(t, "message", got.ErrorMessage, "the disk is full")
		want(t, "looks", w.tools.count("look"), 1)
		want(t, "rounds", w.model.rounds(), 1)
		w.stop()
	})
}

// TestFullDisk_WatchersAreTold: when not even a run's end can be written, who watches hears of it at once;
// with room the run goes on.
func TestFullDisk_WatchersAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store *badStore
		w := newWorld(t, func(w *world) { store = onBadStore(w) })
		store.set(func(agent.Step) error { return fault.New(fault.StorageFull, "the disk is full") })
		r := w.send("t1", "go")
		for range 2 { // also who comes later
			var told error
			for _, err := range w.runs.Follow(t.Context(), r.ID, run.Cursor{}) {
				told = err
			}
			want(t, "told", fault.CodeOf(told), fault.StorageFull)
		}
		want(t, "meanwhile", w.journal(r.ID).Run.Status, agent.Pending)
		store.set(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		want(t, "with room", w.end(r.ID).Status, agent.Succeeded)
		w.stop()
	})
}

// TestLocked_TheRunGoesOn: while another program has the database, a run waits with what it has done.
func TestLocked_TheRunGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store *badStore
		w := newWorld(t, func(w *world) { store = onBadStore(w) })
		w.model.script(turn{calls: []agent.ToolCall{call("c1", "note", `{}`)}})
		freed := time.Now().Add(time.Minute)
		store.set(func(s agent.Step) error {
			if len(s.Invocations) > 0 && time.Now().Before(freed) {
				time.Sleep(5 * time.Second) // as SQLite waits
				return fault.New(fault.Unavailable, "another program keeps the database from being written")
			}
			return nil
		})
		r := w.send("t1", "buy")
		got := w.end(r.ID)
		want(t, "status", got.Status, agent.Succeeded)
		want(t, "notes", w.tools.count("note"), 1)
		want(t, "rounds", w.model.rounds(), 2)
		if time.Now().Before(freed) {
			t.Error("it ended before anything could be written")
		}
		w.stop()
	})
}
