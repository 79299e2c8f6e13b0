package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentmesh/agent"
)

// active owns the lifetime of work: at most one worker a run, or a task, in this process, all of which end with
// the engine. It is never a source of truth; whatever it forgets, the journal knows.
type active struct {
	work func(ctx context.Context, w *worker)

	mu      sync.Mutex
	base    context.Context // the one context kept in a struct: it bounds all work
	stop    context.CancelCauseFunc
	workers map[string]*worker
	wg      sync.WaitGroup
}

// worker is the goroutine that takes a run's steps, or sees to a task, at present.
type worker struct {
	id     string        // of the run or task
	runID  string        // of a task that the run has put into the background
	wake   chan struct{} // something happened to it
	cancel context.CancelCauseFunc
	lease  agent.Lease // guarded by active.mu; without an owner: none
	fence  *time.Timer // ends the work shortly before the lease
	end    func() bool // of one that was enlisted: it no longer ends with the engine
}

func newActive(work func(context.Context, *worker)) *active {
	return &active{work: work, workers: map[string]*worker{}}
}

func (a *active) open(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.base, a.stop = context.WithCancelCause(context.WithoutCancel(ctx))
}

// halt ends all work with ErrShutdown.
func (a *active) halt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		a.stop(ErrShutdown)
	}
}

// wait waits for all work to end, or for ctx.
func (a *active) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { a.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// goWork runs a function until the engine stops; it tells whether it does.
func (a *active) goWork(fn func(ctx context.Context)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base == nil || a.base.Err() != nil {
		return false
	}
	base := a.base
	a.wg.Go(func() { fn(base) })
	return true
}

// enlist makes a worker, for a run, of what is under way already under a context of its own, which ends with the engine
// from now on. It gives nil when the engine stops. Whoever enlists drops or dismisses.
func (a *active) enlist(id, runID string, cancel context.CancelCauseFunc) *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base == nil || a.base.Err() != nil {
		return nil
	}
	w := &worker{id: id, runID: runID, wake: make(chan struct{}, 1), cancel: cancel}
	w.end = context.AfterFunc(a.base, func() { cancel(context.Cause(a.base)) })
	a.workers[id] = w
	return w
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
	w := &worker{id: runID, wake: make(chan struct{}, 1), cancel: cancel}
	a.workers[runID] = w
	a.wg.Go(func() {
		defer a.drop(w)
		a.work(ctx, w)
	})
	return true
}

// dismiss forgets a worker that was enlisted, and lets its work go on.
func (a *active) dismiss(w *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(w)
	w.end()
}

// pause waits; it tells whether the engine still works.
func (a *active) pause(d time.Duration) bool {
	a.mu.Lock()
	base := a.base
	a.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-base.Done():
		return false
	}
}

// cancelOf ends what a run has put into the background.
func (a *active) cancelOf(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		if w.runID == runID {
			w.cancel(ErrUserCancelled)
		}
	}
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
	if w.end != nil {
		w.end()
	}
	w.cancel(nil)
}

func (a *active) remove(w *worker) {
	if a.workers[w.id] == w {
		delete(a.workers, w.id)
	}
}

// cancel ends what the worker is doing.
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
		w := a.workers[l.ID]
		switch {
		case w == nil || w.lease.Epoch != l.Epoch:
		case slices.Contains(lost, l.ID):
			w.cancel(ErrLeaseLost)
		default:
			w.fence.Reset(workTime(asked))
		}
	}
}
