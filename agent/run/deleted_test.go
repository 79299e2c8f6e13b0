package run_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
)

// logged keeps what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A worker that is woken for a run whose conversation was deleted ends, and no other one follows; whoever
// watches the run learns that it is gone.
func TestWorkerOfADeletedRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		w := newWorld(t, func(w *world) { w.log = log })
		r := w.end(w.send("t1", "hello").ID)
		must(t, w.db.DeleteConversation(context.Background(), "ann", "t1"))
		w.runs.Begin(r.ID)
		time.Sleep(time.Minute)
		if log.String() != "" {
			t.Errorf("it said %s", log)
		}
		for _, err := range w.runs.Follow(context.Background(), r.ID, run.Cursor{}) {
			if !errors.Is(err, agent.ErrNotFound) {
				t.Errorf("a watcher got %v, want that there is no such run", err)
			}
		}
	})
}
