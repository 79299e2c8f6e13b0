package rundb_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store/rundb"
	"agentmesh/store/storetest"
)

// TestUpgrade: a database of each earlier version becomes one of this one, and what is in it means the same.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	means := []func(*testing.T, *rundb.DB){
		meansRuns, meansOrders, meansPeople, meansTraces, meansEdits, meansOrigin, meansLeases, meansOutcome, meansInputs, meansCommitting,
		meansReasoning, meansContext, meansTasks, meansClientTools, meansGrants, meansSchedules,
	}
	v := storetest.Versions{Open: func(t *testing.T, path string) {
		db := openAt(t, path)
		must(t, db.Invariant(t.Context()))
		must(t, db.Close())
	}}
	for _, check := range means {
		v.Means = append(v.Means, func(t *testing.T, path string) {
			t.Helper()
			db, err := rundb.OpenReader(t.Context(), path)
			must(t, err)
			defer func() { _ = db.Close() }()
			check(t, db)
		})
	}
	v.Test(t)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got  %+v\nwant %+v", what, got, want)
	}
}

func meansRuns(t *testing.T, db *rundb.DB) {
	r, err := db.Run(t.Context(), "anna", "run-ended")
	must(t, err)
	if r.Status != agent.Succeeded || r.Usage.Output != 7 || r.Head != 3 || r.Origin != agent.ByAPI || r.EndedAt.IsZero() {
		t.Errorf("got %+v", r)
	}
	events, err := db.Events(t.Context(), "run-ended", 0)
	if err != nil || len(events) != 3 || events[2].Type != "run_finished" {
		t.Errorf("got events %+v, %v", events, err)
	}
	calls, err := db.ModelCalls(t.Context(), "run-ended")
	if err != nil || len(calls) != 1 || string(calls[0].Request) != `{"messages":[]}` {
		t.Errorf("got model calls %+v, %v", calls, err)
	}
	talk, err := db.History(t.Context(), "anna", "t1", true, 10)
	if err != nil || len(talk) != 4 || talk[2].Text != `{"dishes":3}` || talk[3].Text != "水煮牛肉。" || string(talk[1].Calls[0].Args) != `{"n":0}` {
		t.Errorf("got the talk %+v, %v", talk, err)
	}
	records, _, err := db.Records(t.Context(), "anna", capability.Selection{RunID: "run-ended"}, agent.Page{Limit: 10})
	if err != nil || len(records) != 1 || records[0].Output != `{"dishes":3}` || records[0].ArgsDigest != "" {
		t.Errorf("got audit %+v, %v", records, err)
	}
	j, err := db.Journal(t.Context(), "run-asking")
	if err != nil || j.Run.Status != agent.AwaitingConfirmation || len(j.Messages) != 1 || len(j.Invocations) != 1 || j.Invocations[0].Status != capability.Asking {
		t.Errorf("got the journal %+v, %v", j, err)
	}
	open, err := db.OpenConfirmations(t.Context(), "anna")
	must(t, err)
	same(t, "the open question", open, []agent.Confirmation{{
		ID: "conf-2", Kind: agent.AskConfirm, RunID: "run-asking", UserID: "anna", ThreadID: "t2", InvocationID: "inv-2", CallID: "call-inv-2", Tool: "place_order",
		Args: json.RawMessage(`{"items":[]}`), ArgsDigest: "d", Summary: json.RawMessage(`{"totalFen":3200}`), Warnings: json.RawMessage(`["辣"]`),
		Status: agent.ConfirmationOpen, CreatedAt: moment(1795924800000123), Deadline: moment(1795925100000123),
	}})
	closed, err := db.Confirmation(t.Context(), "anna", "conf-1")
	if err != nil || closed.Status != agent.ConfirmationConfirmed || closed.DecidedBy != "anna" || closed.Edited != nil {
		t.Errorf("got %+v, %v", closed, err)
	}
}

func meansOrders(t *testing.T, db *rundb.DB) {
	o, err := db.OrderByInvocation(t.Context(), "inv-2")
	must(t, err)
	want := placed("inv-2", "anna").Order
	want.ID, want.RunID, want.ThreadID, want.CreatedAt, want.UpdatedAt = "order-2", "run-asking", "t2", moment(1795924800000123), moment(1795924800000123)
	same(t, "the order", o, want)
	due, err := db.Outbox(t.Context(), "", moment(1795924800000123), 10)
	if err != nil || len(due) != 1 || due[0].Key != "inv-9/1" || due[0].Op != order.Release || due[0].Attempts != 2 {
		t.Errorf("got the outbox %+v, %v", due, err)
	}
	queued, err := db.Queued(t.Context())
	must(t, err)
	same(t, "queued", queued, []string{"inv-9/1"})
}

func meansPeople(t *testing.T, db *rundb.DB) {
	for query, want := range map[string]int{"辣": 1, "吃辣": 1, "清淡": 0, "": 1} {
		if got, err := db.Recall(t.Context(), "anna", query, 10); err != nil || len(got) != want {
			t.Errorf("recall %q: got %+v, %v, want %d", query, got, err, want)
		}
	}
	chosen, err := db.Installations(t.Context(), "anna")
	if err != nil || len(chosen) != 1 || !chosen[0].Installed || chosen[0].Enabled || chosen[0].Version != "1.0.0" || !reflect.DeepEqual(chosen[0].Granted, []string{"orders"}) {
		t.Errorf("got %+v, %v", chosen, err)
	}
}

func meansTraces(t *testing.T, db *rundb.DB) {
	runs, err := db.RunsOfTrace(t.Context(), "anna", "trace-1", 10)
	if err != nil || len(runs) != 2 || runs[0].ID != "run-ended" || runs[1].ErrorCode != "unavailable" {
		t.Errorf("got %+v, %v", runs, err)
	}
}

func meansEdits(t *testing.T, db *rundb.DB) {
	c, err := db.Confirmation(t.Context(), "bob", "conf-5")
	if err != nil || c.ReplacedBy != "conf-6" || c.Edited == nil || string(c.Edited.Args) != `{"items":[2]}` {
		t.Errorf("got %+v, %v", c, err)
	}
	if open, err := db.OpenConfirmations(t.Context(), "bob"); err != nil || len(open) != 1 || open[0].ID != "conf-6" {
		t.Errorf("got open %+v, %v", open, err)
	}
	j, err := db.Journal(t.Context(), "run-edited")
	if err != nil || len(j.Invocations) != 1 || string(j.Invocations[0].Proposed) != `{"items":[1]}` {
		t.Errorf("got %+v, %v", j, err)
	}
	if o, err := db.OrderByInvocation(t.Context(), "inv-5"); err != nil || o.Reservation != "inv-5/2" || o.Status != order.Placing {
		t.Errorf("got %+v, %v", o, err)
	}
	records, _, err := db.Records(t.Context(), "bob", capability.Selection{RunID: "run-edited"}, agent.Page{Limit: 10})
	if err != nil || len(records) != 1 || records[0].ProposedDigest != "d" || records[0].ArgsDigest != "e" {
		t.Errorf("got %+v, %v", records, err)
	}
}

func meansOrigin(t *testing.T, db *rundb.DB) {
	r, err := db.Run(t.Context(), "anna", "run-pending")
	if err != nil || r.Origin != agent.ByAGUI || r.Status != agent.Pending {
		t.Errorf("got %+v, %v", r, err)
	}
}

func meansOutcome(t *testing.T, db *rundb.DB) {
	open, err := db.OpenConfirmations(t.Context(), "carol")
	if err != nil || len(open) != 1 || open[0].Kind != agent.AskOutcome || open[0].Attempt == nil || open[0].Attempt.Number != 2 || open[0].Attempt.Why != "timeout" || len(open[0].Answers) != 3 {
		t.Errorf("got %+v, %v", open, err)
	}
	said, err := db.Confirmation(t.Context(), "carol", "conf-8")
	if err != nil || said.Status != agent.ConfirmationAnswered || said.Answer != agent.TryAgain {
		t.Errorf("got %+v, %v", said, err)
	}
	for run, want := range map[string]int{"run-unknown": 2, "run-working": 1} { // one that an earlier version began
		if j, err := db.Journal(t.Context(), run); err != nil || len(j.Invocations) != 1 || j.Invocations[0].Attempts != want || j.Invocations[0].BeganAt.IsZero() {
			t.Errorf("%s: got %+v, %v, want %d attempts", run, j.Invocations, err, want)
		}
	}
}

func meansCommitting(t *testing.T, db *rundb.DB) {
	if o, err := db.OrderByInvocation(t.Context(), "inv-10"); err != nil || !o.Committing || o.Status != order.Placing {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err := db.OrderByInvocation(t.Context(), "inv-2"); err != nil || o.Committing {
		t.Errorf("got %+v, %v", o, err)
	}
}

func meansInputs(t *testing.T, db *rundb.DB) {
	r, err := db.Run(t.Context(), "carol", "run-known")
	if err != nil || r.Status != agent.Pending {
		t.Errorf("got %+v, %v", r, err)
	}
}

func meansLeases(t *testing.T, db *rundb.DB) {
	r, err := db.Run(t.Context(), "bob", "run-working")
	if err != nil || r.Status != agent.Running || r.Epoch != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
	for at, want := range map[int64]int{1795924815000122: 0, 1795924815000123: 1} {
		if got, err := db.Orphans(t.Context(), moment(at), moment(0)); err != nil || len(got) != want {
			t.Errorf("orphans at %d: got %q, %v, want %d", at, got, err, want)
		}
	}
}

func meansReasoning(t *testing.T, db *rundb.DB) {
	talk, err := db.History(t.Context(), "anna", "t1", false, 20)
	must(t, err)
	thought := map[string]string{}
	for _, m := range talk {
		if m.Reasoning != "" {
			thought[m.ID] = m.Reasoning
		}
	}
	same(t, "what was thought", thought, map[string]string{"msg-11": "Let me think."})
}
