package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentmesh/agent"
)

// active owns the lifetime of work: at most one worker a run in this process, all of which end with
// the engine. It is never a source of truth; whatever it forgets, the journal knows.
type active struct {
	work func(ctx context.Context, w *worker)

	mu      sync.Mutex
	base    context.Context // the one context kept in a struct: it bounds all work
	stop    context.CancelCauseFunc
	workers map[string]*worker
	wg      sync.WaitGroup
}

// worker is the goroutine that takes a run's steps at present.
type worker struct {
	runID  string
	wake   chan struct{} // something happened to the run
	cancel context.CancelCauseFunc
	lease  agent.Lease // guarded by active.mu; without an owner: none
	fence  *time.Timer // ends the work shortly before the lease
}

func newActive(work func(context.Context, *worker)) *active {
	return &active{work: work, workers: map[string]*worker{}}
}

func (a *active) open(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.base, a.stop = context.WithCancelCause(context.WithoutCancel(ctx))
}

// close ends all work with ErrShutdown and waits for it, or for ctx.
func (a *active) close(ctx context.Context) error {
	a.mu.Lock()
	if a.stop != nil {
		a.stop(ErrShutdown)
	}
	a.mu.Unlock()
	done := make(chan struct{})
	go func() { a.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// goWork runs a function until the engine stops.
func (a *active) goWork(fn func(ctx context.Context)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base == nil || a.base.Err() != nil {
		return
	}
	base := a.base
	a.wg.Go(func() { fn(base) })
}

// schedule wakes the run's worker, or starts one; it tells whether it did.
func (a *active) schedule(runID string) (started bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base == nil || a.base.Err() != nil {
		return false
	}
	if w := a.workers[runID]; w != nil {
		select {
		case w.wake <- struct{}{}:
		default:
		}
		return false
	}
	ctx, cancel := context.WithCancelCause(a.base)
	w := &worker{runID: runID, wake: make(chan struct{}, 1), cancel: cancel}
	a.workers[runID] = w
	a.wg.Go(func() {
		defer a.drop(w)
		a.work(ctx, w)
	})
	return true
}

// leave lets a worker end, unless something happened to its run in the meantime.
func (a *active) leave(w *worker) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-w.wake:
		return false
	default:
		a.remove(w)
		return true
	}
}

func (a *active) drop(w *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(w)
	w.cancel(nil)
}

func (a *active) remove(w *worker) {
	if a.workers[w.runID] == w {
		delete(a.workers, w.runID)
	}
}

// cancel ends what the run's worker is doing.
func (a *active) cancel(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.workers[runID]; w != nil {
		w.cancel(ErrUserCancelled)
	}
}

// leased notes that a worker's run is its process's until the lease ends that was asked for at a time.
func (a *active) leased(w *worker, l agent.Lease, asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.lease = l
	w.fence = time.AfterFunc(workTime(asked), func() { w.cancel(ErrLeaseLost) })
}

// unleased gives a worker's lease and forgets it.
func (a *active) unleased(w *worker) (agent.Lease, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := w.lease
	if l.Owner == "" {
		return l, false
	}
	w.lease = agent.Lease{}
	w.fence.Stop()
	return l, true
}

// ended forgets the lease of a run that has ended: nobody claims it again.
func (a *active) ended(runID string) {
	a.mu.Lock()
	w := a.workers[runID]
	a.mu.Unlock()
	if w != nil {
		a.unleased(w)
	}
}

// epoch is the number of the worker's claim, 0 without one.
func (a *active) epoch(w *worker) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return w.lease.Epoch
}

// leases lists what the workers of this process hold.
func (a *active) leases() []agent.Lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	var held []agent.Lease
	for _, w := range a.workers {
		if w.lease.Owner != "" {
			held = append(held, w.lease)
		}
	}
	return held
}

// renewed puts the end of work off for the leases that hold, and ends it for those that are lost.
func (a *active) renewed(held []agent.Lease, lost []string, asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range held {
		w := a.workers[l.RunID]
		switch {
		case w == nil || w.lease.Epoch != l.Epoch:
		case slices.Contains(lost, l.RunID):
			w.cancel(ErrLeaseLost)
		default:
			w.fence.Reset(workTime(asked))
		}
	}
}
