package rundb_test

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store"
	"agentmesh/store/rundb"
)

// asking gives a run of anna's with open questions.
func asking(t *testing.T, questions ...agent.Confirmation) *rundb.DB {
	t.Helper()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	await(t, db, "run-1", questions...)
	return db
}

func decision(status agent.ConfirmationStatus) agent.Decision {
	return agent.Decision{Status: status, Reason: "because", By: "anna", Via: "page", At: later(10)}
}

// after is the step that goes with a decision.
func after() agent.Step {
	s := step("run-1", agent.AwaitingConfirmation, agent.Keep)
	s.Events = []agent.Event{agent.NewEvent(agent.ConfirmationResolved, nil, later(10))}
	return s
}

func TestDecide(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	got, won, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationConfirmed), after())
	must(t, err)
	want := question("conf-1", "inv-1")
	when := later(10)
	want.RunID, want.UserID, want.ThreadID = "run-1", "anna", "t1"
	want.Status, want.Reason, want.DecidedBy, want.DecidedVia, want.DecidedAt = agent.ConfirmationConfirmed, "because", "anna", "page", &when
	if !won || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %+v, want %+v", won, got, want)
	}
	r, err := db.Run(t.Context(), "anna", "run-1")
	if err != nil || r.Status != agent.Running || r.Head != 1 {
		t.Errorf("got %s, head %d, %v, want RUNNING", r.Status, r.Head, err)
	}
}

// TestDecide_Once: whatever comes second gets the decision that stands, and writes nothing.
func TestDecide_Once(t *testing.T) {
	t.Parallel()
	for _, second := range []agent.ConfirmationStatus{agent.ConfirmationConfirmed, agent.ConfirmationRejected, agent.ConfirmationExpired} {
		db := asking(t, question("conf-1", "inv-1"))
		if _, won, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationRejected), after()); err != nil || !won {
			t.Fatalf("got %v, %v", won, err)
		}
		got, won, err := db.Decide(t.Context(), "conf-1", decision(second), after())
		if err != nil || won || got.Status != agent.ConfirmationRejected {
			t.Errorf("%s: got %v, %s, %v, want the first decision", second, won, got.Status, err)
		}
		if events, err := db.Events(t.Context(), "run-1", 0); err != nil || len(events) != 1 {
			t.Errorf("got %d events, %v, want 1", len(events), err)
		}
	}
}

func TestDecide_AtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		db := asking(t, question("conf-1", "inv-1"))
		type result struct {
			c   agent.Confirmation
			won bool
			err error
		}
		results := make(chan result, 2)
		for _, status := range []agent.ConfirmationStatus{agent.ConfirmationConfirmed, agent.ConfirmationRejected} {
			go func() {
				c, won, err := db.Decide(context.WithoutCancel(t.Context()), "conf-1", decision(status), after())
				results <- result{c, won, err}
			}()
		}
		a, b := <-results, <-results
		if a.err != nil || b.err != nil || a.won == b.won || a.c.Status != b.c.Status {
			t.Fatalf("got %+v and %+v, want one winner and one decision", a, b)
		}
	}
}

// TestDecide_BrokenGroup: two answers are committed together, which another transaction breaks; the first is
// then not written, as its caller has gone, and so the second must not let the run go on.
func TestDecide_BrokenGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
		gone, leave := context.WithCancel(t.Context())
		release, held := make(chan struct{}), sync.WaitGroup{}
		inTurn := func(do func()) { held.Go(do); synctest.Wait() }
		inTurn(func() { _ = db.Tx(t.Context(), func(*store.Tx) error { <-release; return nil }) })
		inTurn(func() { _, _, _ = db.Decide(gone, "conf-1", decision(agent.ConfirmationRejected), after()) })
		inTurn(func() { _, _, _ = db.Decide(t.Context(), "conf-2", decision(agent.ConfirmationRejected), after()) })
		inTurn(func() {
			_ = db.Tx(t.Context(), func(tx *store.Tx) error {
				leave()
				_, err := tx.ExecContext(t.Context(), `ROLLBACK`)
				return err
			})
		})
		close(release)
		held.Wait()
		j, err := db.Journal(t.Context(), "run-1")
		must(t, err)
		if j.Confirmations[0].Status != agent.ConfirmationOpen || j.Confirmations[1].Status != agent.ConfirmationRejected {
			t.Fatalf("got %s and %s, want one open and one rejected", j.Confirmations[0].Status, j.Confirmations[1].Status)
		}
		if j.Run.Status != agent.AwaitingConfirmation {
			t.Errorf("got %s while a question is open, want %s", j.Run.Status, agent.AwaitingConfirmation)
		}
	})
}

func TestDecide_Unknown(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	for _, id := range []string{"conf-9", "", "\xff"} {
		_, won, err := db.Decide(t.Context(), id, decision(agent.ConfirmationConfirmed), after())
		wantErr(t, err, agent.ErrNotFound)
		if won {
			t.Errorf("%q was decided", id)
		}
	}
}

// TestDecide_StaleStep: a step that may not be written leaves the question open.
func TestDecide_StaleStep(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	stale := after()
	stale.From = []agent.Status{agent.Running}
	_, _, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationConfirmed), stale)
	wantErr(t, err, agent.ErrStale)
	if c, err := db.Confirmation(t.Context(), "anna", "conf-1"); err != nil || c.Status != agent.ConfirmationOpen || c.DecidedAt != nil {
		t.Errorf("got %+v, %v, want it open", c, err)
	}
}

// TestDecide_LastQuestionLetsTheRunGoOn: one of two leaves the other usable and the run waiting.
func TestDecide_LastQuestionLetsTheRunGoOn(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
	for i, want := range []agent.Status{agent.AwaitingConfirmation, agent.Running} {
		id := []string{"conf-1", "conf-2"}[i]
		if _, won, err := db.Decide(t.Context(), id, decision(agent.ConfirmationRejected), after()); err != nil || !won {
			t.Fatalf("%s: got %v, %v", id, won, err)
		}
		if r, err := db.Run(t.Context(), "anna", "run-1"); err != nil || r.Status != want {
			t.Errorf("after %s: got %s, %v, want %s", id, r.Status, err, want)
		}
	}
}

func TestAppend_ClosesOpenQuestionsOnly(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
	if _, won, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationConfirmed), after()); err != nil || !won {
		t.Fatal(err)
	}
	s := step("run-1", agent.AwaitingConfirmation, agent.Cancelled)
	when := later(20)
	for _, id := range []string{"conf-1", "conf-2"} {
		c := question(id, "")
		c.Status, c.Reason, c.DecidedAt = agent.ConfirmationCancelled, "cancelled", &when
		s.Closed = append(s.Closed, c)
	}
	must(t, db.Append(t.Context(), s))
	for id, want := range map[string]agent.ConfirmationStatus{"conf-1": agent.ConfirmationConfirmed, "conf-2": agent.ConfirmationCancelled} {
		if c, err := db.Confirmation(t.Context(), "anna", id); err != nil || c.Status != want {
			t.Errorf("%s: got %s, %v, want %s", id, c.Status, err, want)
		}
	}
}

func TestOpenConfirmations(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
	create(t, db, "bob", "t1", "run-2")
	begin(t, db, "run-2")
	await(t, db, "run-2", question("conf-3", "inv-3"))
	if _, _, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationExpired), after()); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string][]string{"anna": {"conf-2"}, "bob": {"conf-3"}, "carl": {}, "": {"conf-2", "conf-3"}} {
		got, err := db.OpenConfirmations(t.Context(), user)
		must(t, err)
		ids := []string{}
		for _, c := range got {
			ids = append(ids, c.ID)
		}
		if !reflect.DeepEqual(ids, want) {
			t.Errorf("%q: got %q, want %q", user, ids, want)
		}
	}
}

func TestInvocations_AResultNeverChanges(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	save := func(inv agent.Invocation) error {
		s := step("run-1", agent.Running, agent.Keep)
		s.Invocations = []agent.Invocation{inv}
		return db.Append(t.Context(), s)
	}
	first := invocation("inv-1", "m", 0, capability.Proposed)
	must(t, save(first))
	if _, found, err := db.Finished(t.Context(), "anna", "inv-1"); err != nil || found {
		t.Errorf("got found %v, %v before the end", found, err)
	}
	first.Status = capability.Running
	must(t, save(first))
	must(t, save(done(first)))
	other := done(first)
	other.Result = []byte(`{"other":true}`)
	wantErr(t, save(other), agent.ErrStale)
	got, found, err := db.Finished(t.Context(), "anna", "inv-1")
	if err != nil || !found || string(got.Result) != `{"of":"inv-1"}` || string(got.Args) != `{"n":0}` || got.Receipt.Status != capability.Succeeded {
		t.Errorf("got %+v, %v, %v", got, found, err)
	}
	j, err := db.Journal(t.Context(), "run-1")
	must(t, err)
	want := done(invocation("inv-1", "m", 0, capability.Proposed))
	want.RunID, want.UserID = "run-1", "anna"
	if len(j.Invocations) != 1 || !reflect.DeepEqual(j.Invocations[0], want) {
		t.Errorf("got  %+v\nwant %+v", j.Invocations, want)
	}
}
