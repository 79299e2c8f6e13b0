package rundb_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store"
	"agentmesh/store/rundb"
	"agentmesh/store/storetest"
)

// lived gives a run with everything that a run leaves behind; it ends as of later(1), if it ends.
func lived(t *testing.T, db *rundb.DB, thread, id string, to agent.Status) {
	t.Helper()
	create(t, db, "anna", thread, id)
	begin(t, db, id)
	s := step(id, agent.Running, to)
	inv := done(invocation("inv-"+id, "answer-"+id, 0, capability.Proposed))
	s.Events = []agent.Event{{Type: agent.RunStarted, Data: []byte(`{}`), At: at}, {Type: agent.RunEnded, Data: []byte(`{}`), At: at}}
	s.Events = append(s.Events, saying(agent.Message{ID: "answer-" + id, Role: agent.Assistant, Text: "answer", CreatedAt: at, Calls: []agent.ToolCall{{ID: inv.CallID, Name: "look", Args: inv.Args}}})...)
	s.Invocations = []agent.Invocation{inv}
	s.ModelCalls = []agent.ModelCall{{ID: "llm-" + id, Round: 1, Model: "demo", Request: []byte(`{"messages":[]}`), StartedAt: at}}
	s.Records = []capability.Record{{At: at, UserID: "anna", ThreadID: thread, RunID: id, Receipt: capability.Receipt{InvocationID: inv.ID, Capability: "look"}}}
	must(t, db.Append(t.Context(), s))
}

// pruned is what Prune gives for cutoffs so many seconds later; 0 keeps for ever.
func pruned(t *testing.T, db *rundb.DB, events, audit int, dry bool) rundb.Pruned {
	t.Helper()
	var c rundb.Cutoffs
	for into, seconds := range map[*time.Time]int{&c.Events: events, &c.Audit: audit} {
		if seconds != 0 {
			*into = later(seconds)
		}
	}
	got, err := db.Prune(t.Context(), c, dry)
	must(t, err)
	must(t, db.Invariant(t.Context()))
	return got
}

func audits(t *testing.T, db *rundb.DB) int {
	t.Helper()
	list, _, err := db.Records(t.Context(), "anna", capability.Selection{}, agent.Page{Limit: 100})
	must(t, err)
	return len(list)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	db := open(t)
	lived(t, db, "t1", "run-1", agent.Succeeded)
	lived(t, db, "t2", "open", agent.Running)
	lived(t, db, "t3", "unsettled", agent.Failed)
	placing := placed("inv-unsettled", "anna")
	placing.Order.RunID = "unsettled"
	must(t, db.Apply(t.Context(), placing))
	must(t, db.Apply(t.Context(), order.Reject{UserID: "anna", Reservation: "inv-7/1", InvocationID: "inv-7", At: at}, order.Reject{UserID: "anna", Reservation: "inv-8/1", InvocationID: "inv-8", At: at}))
	must(t, db.Delivered(t.Context(), outbox(t, db, 1)[0].N, later(1)))
	remember(t, db, "不吃辣")

	for _, keep := range []struct{ events, audit int }{{0, 0}, {1, -1}} {
		if got := pruned(t, db, keep.events, keep.audit, false); got != (rundb.Pruned{}) {
			t.Errorf("cutoffs %v: got %+v, want nothing gone", keep, got)
		}
	}
	want := rundb.Pruned{Events: 4, Requests: 1, Deliveries: 1, Audit: 1}
	if got := pruned(t, db, 10, 10, true); got != want {
		t.Errorf("dry: got %+v, want %+v", got, want)
	}
	if events, err := db.Events(t.Context(), "run-1", 0); err != nil || len(events) != 4 || audits(t, db) != 3 {
		t.Errorf("after a dry one: got %+v, %v", events, err)
	}
	if got := pruned(t, db, 10, 10, false); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := pruned(t, db, 10, 10, false); got != (rundb.Pruned{}) {
		t.Errorf("again: got %+v, want nothing left", got)
	}
	if events, audit, err := db.Oldest(t.Context()); err != nil || !events.IsZero() || !audit.IsZero() {
		t.Errorf("got %s, %s, %v for the oldest, want none: what is kept whatever its age does not count", events, audit, err)
	}

	for _, after := range []int64{-1, 0, 1} {
		_, err := db.Events(t.Context(), "run-1", after)
		wantErr(t, err, agent.ErrEventsGone)
	}
	for _, id := range []string{"open", "unsettled"} {
		if events, err := db.Events(t.Context(), id, 0); err != nil || len(events) != 4 {
			t.Errorf("%s: got %+v, %v, want its events", id, events, err)
		}
		if calls, err := db.ModelCalls(t.Context(), id); err != nil || len(calls[0].Request) == 0 {
			t.Errorf("%s: got %+v, %v, want its requests", id, calls, err)
		}
	}
	wantStatus(t, db, "anna", "run-1", agent.Succeeded)
	if calls, err := db.ModelCalls(t.Context(), "run-1"); err != nil || len(calls) != 1 || calls[0].Request != nil || calls[0].Model != "demo" {
		t.Errorf("got %+v, %v, want the call without its request", calls, err)
	}
	if talk, err := db.History(t.Context(), "anna", "t1", false, 10); err != nil || len(talk) != 3 || talk[2].Text != `{"of":"inv-run-1"}` {
		t.Errorf("got %+v, %v, want the whole talk", talk, err)
	}
	if got := recalled(t, db, "辣"); got != "a" {
		t.Errorf("got %q, want the preference", got)
	}
	if left := outbox(t, db, 1); len(left) != 1 || left[0].Key != "inv-8/1" {
		t.Errorf("got %+v, want what is still to deliver", left)
	}
	if got := audits(t, db); got != 2 {
		t.Errorf("got %d audit records, want those of what is not settled", got)
	}
}

// TestPrune_Cards: what a decided question showed goes with the audit; the question and its answer stay.
func TestPrune_Cards(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	if got := pruned(t, db, 1000, 1000, false); got.Cards != 0 {
		t.Errorf("open: got %+v", got)
	}
	d := decision(agent.ConfirmationConfirmed)
	_, _, err := db.Decide(t.Context(), "conf-1", d, after())
	must(t, err)
	finish(t, db, "run-1", agent.Succeeded)
	if got := pruned(t, db, 1000, 1000, false); got.Cards != 1 {
		t.Errorf("decided: got %+v, want one card", got)
	}
	c, err := db.Confirmation(t.Context(), "anna", "conf-1")
	if err != nil || c.Summary != nil || c.Status != agent.ConfirmationConfirmed || c.ArgsDigest != "d" || !reflect.DeepEqual(c.Args, question("", "").Args) {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestPrune_Many: more than fits one transaction goes as well, each run's events together.
func TestPrune_Many(t *testing.T) {
	t.Parallel()
	db := open(t)
	const runs, events = 9, 100
	for i := range runs {
		id := fmt.Sprintf("run-%d", i)
		create(t, db, "anna", "t1", id)
		begin(t, db, id)
		s := step(id, agent.Running, agent.Succeeded)
		for range events {
			s.Events = append(s.Events, agent.Event{Type: agent.ModelCalled, Data: []byte(`{}`), At: at})
		}
		must(t, db.Append(t.Context(), s))
	}
	if got := pruned(t, db, 10, 10, false); got.Events != runs*events {
		t.Errorf("got %+v, want %d events", got, runs*events)
	}
}

// TestPrune_OnAFullDisk: what makes room needs none.
func TestPrune_OnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := storetest.SmallDisk(t, 24<<20)
	db := openAt(t, filepath.Join(disk.Dir, "orchestrator.db"))
	const runs, events = 40, 60
	for i := range runs {
		id := fmt.Sprintf("run-%d", i)
		create(t, db, "anna", "t1", id)
		begin(t, db, id)
		s := step(id, agent.Running, agent.Succeeded)
		for range events {
			s.Events = append(s.Events, agent.NewEvent(agent.SkillsRouted, strings.Repeat("x", 2000), at))
		}
		must(t, db.Append(t.Context(), s))
	}
	must(t, db.Checkpoint(t.Context()))
	disk.Fill()
	var err error
	for i := 0; err == nil; i++ {
		_, err = db.Remember(t.Context(), preference(fmt.Sprintf("p-%d", i), "anna", fmt.Sprintf("喜欢 %d", i)))
	}
	if !store.IsFull(err) {
		t.Fatalf("got %v, want a full disk", err)
	}
	if got := pruned(t, db, 10, 10, false); got.Events != runs*events {
		t.Errorf("got %+v, want %d events", got, runs*events)
	}
	must(t, db.Check(t.Context()))
}
