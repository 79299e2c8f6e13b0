package rundb_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// shared opens the file for two processes at once.
func shared(t *testing.T) (a, b *rundb.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orchestrator.db")
	var open [2]*rundb.DB
	for i := range open {
		db, err := rundb.OpenShared(t.Context(), path)
		must(t, err)
		t.Cleanup(func() { _ = db.Close() })
		open[i] = db
	}
	return open[0], open[1]
}

// leased begins a run under a lease of a process.
func leased(t *testing.T, db *rundb.DB, runID, owner string) agent.Lease {
	t.Helper()
	l := agent.Lease{ID: runID, Owner: owner, Epoch: 1, Until: later(15)}
	s := step(runID, agent.Pending, agent.Running)
	s.Lease = &l
	must(t, db.Append(t.Context(), s))
	return l
}

func under(l agent.Lease, to agent.Status) agent.Step {
	s := step(l.ID, agent.Running, to)
	s.Epoch = l.Epoch
	return s
}

// TestLease_Fence: a process that slept for longer than its lease writes nothing for the run any more, not
// even after the other has ended, and the other is not disturbed.
func TestLease_Fence(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	create(t, a, "anna", "t1", "run-1")
	mine := leased(t, a, "run-1", "a")
	_, err := b.Claim(t.Context(), "run-1", "b", later(14), later(29))
	wantErr(t, err, agent.ErrStale) // it holds
	theirs, err := b.Claim(t.Context(), "run-1", "b", later(15), later(30))
	must(t, err)
	if theirs.Epoch != 2 {
		t.Errorf("got epoch %d, want 2", theirs.Epoch)
	}
	wantErr(t, a.Append(t.Context(), under(mine, agent.Keep)), agent.ErrStale)
	lost, _, err := a.Renew(t.Context(), []agent.Lease{mine}, later(60))
	if err != nil || !slices.Equal(lost, []string{"run-1"}) {
		t.Errorf("got lost %q, %v", lost, err)
	}
	must(t, a.Release(t.Context(), mine)) // of what is not its own any more: nothing happens
	must(t, b.Append(t.Context(), under(theirs, agent.Keep)))
	must(t, b.Append(t.Context(), under(theirs, agent.Succeeded)))
	wantErr(t, a.Append(t.Context(), under(mine, agent.Failed)), agent.ErrStale)
}

// TestLease_OneClaimWins: many processes see the same orphan.
func TestLease_OneClaimWins(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	create(t, a, "anna", "t1", "run-1")
	leased(t, a, "run-1", "dead")
	var won sync.Map
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			db, owner := a, string(rune('A'+i))
			if i%2 == 1 {
				db = b
			}
			if l, err := db.Claim(t.Context(), "run-1", owner, later(16), later(31)); err == nil {
				won.Store(owner, l.Epoch)
			}
		})
	}
	wg.Wait()
	n := 0
	won.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d processes claimed the run, want 1", n)
	}
}

func TestLease_Orphans(t *testing.T) {
	t.Parallel()
	a, _ := shared(t)
	for _, id := range []string{"dead", "alive", "released", "waits", "works", "cancelled", "first", "ended"} {
		create(t, a, "anna", id, id)
	}
	create(t, a, "anna", "first", "second")
	leased(t, a, "dead", "a")
	renewed := leased(t, a, "alive", "a")
	must(t, a.Release(t.Context(), leased(t, a, "released", "a")))
	leased(t, a, "waits", "a")
	await(t, a, "waits", question("conf-1", "inv-1"))
	leased(t, a, "works", "a")
	await(t, a, "works", question("conf-2", "inv-2"))
	calls := step("works", agent.AwaitingConfirmation, agent.Keep)
	calls.Invocations = []agent.Invocation{invocation("inv-2", "m", 0, capability.Asking), invocation("inv-3", "m", 1, capability.Allowed)}
	must(t, a.Append(t.Context(), calls))
	leased(t, a, "cancelled", "a")
	await(t, a, "cancelled", question("conf-4", "inv-4"))
	_, err := a.RequestCancel(t.Context(), "cancelled", agent.ByUser)
	must(t, err)
	leased(t, a, "ended", "a")
	finish(t, a, "ended", agent.Succeeded)
	lost, cancelled, err := a.Renew(t.Context(), []agent.Lease{renewed}, later(40))
	if err != nil || len(lost)+len(cancelled) > 0 {
		t.Errorf("got lost %q, cancelled %q, %v", lost, cancelled, err)
	}
	got, err := a.Orphans(t.Context(), later(20), later(1))
	if err != nil || !slices.Equal(got, []string{"dead", "released", "works", "cancelled", "first"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := a.Orphans(t.Context(), later(20), at); err != nil || !slices.Equal(got, []string{"dead", "released", "works", "cancelled"}) {
		t.Errorf("before anybody waited: got %q, %v", got, err)
	}
}

// TestLease_CancelElsewhere: a process learns of a cancel that another one recorded.
func TestLease_CancelElsewhere(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	create(t, a, "anna", "t1", "run-1")
	l := leased(t, a, "run-1", "a")
	if open, err := b.RequestCancel(t.Context(), "run-1", agent.ByUser); err != nil || !open {
		t.Errorf("got %v, %v", open, err)
	}
	lost, cancelled, err := a.Renew(t.Context(), []agent.Lease{l}, later(30))
	if err != nil || len(lost) > 0 || !slices.Equal(cancelled, []string{"run-1"}) {
		t.Errorf("got lost %q, cancelled %q, %v", lost, cancelled, err)
	}
}

// TestLease_ReleaseDead: a lock on the file tells that all earlier processes are dead; without it nobody knows.
func TestLease_ReleaseDead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orchestrator.db")
	db := openAt(t, path)
	create(t, db, "anna", "t1", "run-1")
	leased(t, db, "run-1", "dead")
	must(t, db.ReleaseDead(t.Context()))
	_, err := db.Claim(t.Context(), "run-1", "me", later(1), later(15))
	must(t, err)

	a, b := shared(t)
	create(t, a, "anna", "t1", "run-1")
	leased(t, a, "run-1", "a")
	must(t, b.ReleaseDead(t.Context()))
	_, err = b.Claim(t.Context(), "run-1", "b", later(1), later(15))
	wantErr(t, err, agent.ErrStale)
}
