package app

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/capability"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// unsettledTime is how long orders and stock must have disagreed before a person is told: what the program
// settles by itself is settled by then.
const unsettledTime = 10 * time.Minute

// booksCapability is whose audit records tell of disagreements.
const booksCapability = "books"

// auditor compares orders with reservations where both databases are here. In operation they agree; after a
// restore, or when somebody changed a file, they may not. It tells of that, and mends nothing: what is right
// only a person can say.
type auditor struct {
	data string
	now  func() time.Time
	runs *rundb.DB

	mu   sync.Mutex
	open []finding
}

// watch looks at the start and once a day, twice each time.
func (a *auditor) watch(ctx context.Context) {
	for ctx.Err() == nil {
		first := a.look(ctx)
		if len(first) > 0 && sleep(ctx, unsettledTime) {
			again := a.look(ctx)
			first = slices.DeleteFunc(first, func(f finding) bool { return !slices.Contains(again, f) })
		}
		if ctx.Err() == nil {
			a.tell(ctx, first)
		}
		sleep(ctx, pruneEvery)
	}
}

// sleep tells whether the time has passed, rather than the context.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// look lists what no start and no relay settles.
func (a *auditor) look(ctx context.Context) []finding {
	stocks, err := catalogdb.OpenReader(ctx, filepath.Join(a.data, catalogFile))
	if err != nil {
		flow.Log(ctx).Debug().Err(err).Msg("orders not compared with stock") // another process has the catalog
		return nil
	}
	defer func() { _ = stocks.Close() }()
	found, err := books{stocks, a.runs}.compare(ctx)
	if err != nil && ctx.Err() == nil {
		flow.Log(ctx).Error().Err(err).Msg("orders not compared with stock")
	}
	return slices.DeleteFunc(found, func(f finding) bool { return f.passing })
}

// tell says what is new in the log and in the audit of whom it concerns.
func (a *auditor) tell(ctx context.Context, found []finding) {
	a.mu.Lock()
	before := a.open
	a.open = found
	a.mu.Unlock()
	for _, f := range found {
		if slices.Contains(before, f) {
			continue
		}
		flow.Log(ctx).Error().Str("userId", f.owner).Str("what", f.text).Msg("orders and stock disagree; a person must settle it")
		err := a.runs.Audit(ctx, capability.Record{
			At: a.now(), UserID: f.owner, Source: "doctor", Output: f.text,
			Receipt: capability.Receipt{Capability: booksCapability, Kind: capability.Local, Status: capability.Indeterminate, Stage: capability.StageReceipt, Code: "books_disagree", Message: f.text},
		})
		if err != nil {
			flow.Log(ctx).Error().Err(err).Msg("audit not written")
		}
	}
}

// disagreements counts what a person must settle.
func (a *auditor) disagreements() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}
