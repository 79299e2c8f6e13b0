package rundb_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
)

func TestCreateRun(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	got, err := db.Run(t.Context(), "anna", "run-1")
	must(t, err)
	want := agent.Run{
		Origin: agent.ByAGUI, Mode: capability.ModeDefault,
		ID: "run-1", ClientRunID: "client-run-1", UserID: "anna", ThreadID: "t1", TraceID: "trace-run-1",
		Skills: []string{}, Tools: []string{}, CreatedAt: at,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	j, err := db.Journal(t.Context(), "run-1")
	must(t, err)
	if len(j.Messages) != 1 || j.Messages[0].Text != "ask run-1" || j.Messages[0].Role != agent.User || j.Messages[0].ThreadID != "t1" {
		t.Errorf("got %+v", j.Messages)
	}
	_, err = db.Journal(t.Context(), "run-9")
	wantErr(t, err, agent.ErrNotFound)
}

// TestCreateRun_MessageSentAgain: a client may send its history's last message under the same id; the
// engine then gives it one of its own.
func TestCreateRun_MessageSentAgain(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	again := agent.Run{ID: "run-2", ClientRunID: "client-run-1", UserID: "bob", ThreadID: "t1", CreatedAt: at}
	err := db.CreateRun(t.Context(), again, "t", agent.Message{ID: "msg-run-1", Role: agent.User, Text: "again", CreatedAt: at})
	wantErr(t, err, agent.ErrMessageExists)
	_, err = db.Run(t.Context(), "bob", "run-2")
	wantErr(t, err, agent.ErrNotFound)
	twice := agent.Run{ID: "run-1", UserID: "anna", ThreadID: "t1", CreatedAt: at}
	if err := db.CreateRun(t.Context(), twice, "t", agent.Message{ID: "other", Role: agent.User}); err == nil {
		t.Error("a run was created twice")
	}
}

func TestRunByLabel(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	got, err := db.RunByLabel(t.Context(), "anna", "client-run-1")
	if err != nil || got.ID != "run-1" {
		t.Errorf("got %s, %v", got.ID, err)
	}
	_, err = db.RunByLabel(t.Context(), "bob", "client-run-1")
	wantErr(t, err, agent.ErrNotFound)
	must(t, db.CreateRun(t.Context(), agent.Run{ID: "run-2", ClientRunID: "client-run-1", UserID: "anna", ThreadID: "t2", CreatedAt: at}, "t", agent.Message{ID: "m2", Role: agent.User}))
	_, err = db.RunByLabel(t.Context(), "anna", "client-run-1")
	wantErr(t, err, agent.ErrAmbiguous)
}

func TestAppend_CompareAndSet(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	wantErr(t, db.Append(t.Context(), step("run-9", agent.Pending, agent.Running)), agent.ErrNotFound)
	wantErr(t, db.Append(t.Context(), step("run-1", agent.Running, agent.Succeeded)), agent.ErrStale)
	begin(t, db, "run-1")
	wantErr(t, db.Append(t.Context(), step("run-1", agent.Pending, agent.Running)), agent.ErrStale)
	if err := db.Append(t.Context(), step("run-1", agent.Running, agent.Pending)); err == nil {
		t.Error("a run went back to PENDING")
	}
	must(t, db.Append(t.Context(), step("run-1", agent.Running, agent.Keep)))
	wantStatus(t, db, "anna", "run-1", agent.Running)
	finish(t, db, "run-1", agent.Succeeded)
	for _, to := range []agent.Status{agent.Running, agent.Failed, agent.Cancelled, agent.AwaitingConfirmation} {
		if err := db.Append(t.Context(), step("run-1", agent.Succeeded, to)); err == nil {
			t.Errorf("a run that had succeeded became %s", to)
		}
	}
}

func TestAppend_WritesTheRow(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	s := step("run-1", agent.Pending, agent.Running)
	s.Skills, s.Tools, s.Lease = []string{"builtin.basics"}, []string{"look"}, &agent.Lease{ID: "run-1", Owner: "me", Epoch: 1, Until: later(15)}
	must(t, db.Append(t.Context(), s))
	for range 2 {
		s = step("run-1", agent.Running, agent.Keep)
		s.Usage, s.Active, s.Model, s.At = agent.Usage{Input: 10, Output: 3}, 1500*time.Millisecond, "demo", later(5)
		must(t, db.Append(t.Context(), s))
	}
	s = step("run-1", agent.Running, agent.Failed)
	s.Finish, s.ErrorCode, s.ErrorMessage, s.At = agent.Broken, "unavailable", "no model", later(9)
	must(t, db.Append(t.Context(), s))
	got, err := db.Run(t.Context(), "anna", "run-1")
	must(t, err)
	want := agent.Run{
		Origin: agent.ByAGUI, Mode: capability.ModeDefault,
		ID: "run-1", ClientRunID: "client-run-1", UserID: "anna", ThreadID: "t1", TraceID: "trace-run-1", Status: agent.Failed,
		FinishReason: agent.Broken, ErrorCode: "unavailable", ErrorMessage: "no model", Model: "demo",
		Usage: agent.Usage{Input: 20, Output: 6}, Skills: []string{"builtin.basics"}, Tools: []string{"look"},
		Active: 3 * time.Second, CreatedAt: at, StartedAt: later(1), EndedAt: later(9), Epoch: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestAppend_AllOrNothing makes the last thing of a step fail; nothing of it may be there.
func TestAppend_AllOrNothing(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	s := step("run-1", agent.Running, agent.Succeeded)
	s.Events = []agent.Event{agent.NewEvent(agent.RunEnded, agent.EndData{}, at)}
	s.Events = append(s.Events, saying(agent.Message{ID: "m", Role: agent.Assistant, Text: "x"})...)
	s.Invocations = []agent.Invocation{invocation("inv-1", "m", 0, capability.Proposed)}
	s.Confirmations = []agent.Confirmation{question("conf-1", "inv-1")}
	s.Records = []capability.Record{{UserID: "anna", RunID: "run-1"}}
	s.Changes = []capability.Change{placed("inv-1", "anna"), nonsense{}}
	if err := db.Append(t.Context(), s); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Fatalf("got %v, want an error that names the type", err)
	}
	j, err := db.Journal(t.Context(), "run-1")
	must(t, err)
	events, err := db.Events(t.Context(), "run-1", 0)
	must(t, err)
	records, _, err := db.Records(t.Context(), "anna", capability.Selection{}, agent.Page{Limit: 10})
	must(t, err)
	orders, _, err := db.Orders(t.Context(), "anna", agent.Page{Limit: 10})
	must(t, err)
	if j.Run.Status != agent.Running || j.Run.Head != 0 || len(j.Messages) != 1 || len(j.Invocations)+len(j.Confirmations)+len(events)+len(records)+len(orders) != 0 {
		t.Errorf("got %+v, %d events, %d records, %d orders", j, len(events), len(records), len(orders))
	}
}

type nonsense struct{}

func (nonsense) Change() {}

func TestAppend_NumbersEvents(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	create(t, db, "anna", "t2", "run-2")
	event := func(kind agent.EventType) agent.Event {
		return agent.NewEvent(kind, map[string]string{"kind": string(kind)}, later(3))
	}
	s := step("run-1", agent.Pending, agent.Running)
	s.Events = []agent.Event{event(agent.RunStarted), event(agent.SkillsRouted)}
	must(t, db.Append(t.Context(), s))
	s = step("run-2", agent.Pending, agent.Running)
	s.Events = []agent.Event{event(agent.RunStarted)}
	must(t, db.Append(t.Context(), s))
	must(t, db.Append(t.Context(), step("run-1", agent.Running, agent.Keep)))
	s = step("run-1", agent.Running, agent.Keep)
	s.Events = []agent.Event{event(agent.ModelCalled), event(agent.ModelAnswered)}
	must(t, db.Append(t.Context(), s))

	got, err := db.Events(t.Context(), "run-1", 0)
	must(t, err)
	for i, kind := range []agent.EventType{agent.RunStarted, agent.SkillsRouted, agent.ModelCalled, agent.ModelAnswered} {
		if i >= len(got) || got[i].Seq != int64(i+1) || got[i].Type != kind || got[i].RunID != "run-1" || !got[i].At.Equal(later(3)) || !strings.Contains(string(got[i].Data), string(kind)) {
			t.Fatalf("got %+v", got)
		}
	}
	if r, err := db.Run(t.Context(), "anna", "run-1"); err != nil || r.Head != 4 {
		t.Errorf("got head %d, %v, want 4", r.Head, err)
	}
	rest, err := db.Events(t.Context(), "run-1", 2)
	must(t, err)
	if len(rest) != 2 || rest[0].Seq != 3 {
		t.Errorf("got %+v, want what comes after 2", rest)
	}
	if none, err := db.Events(t.Context(), "run-1", 4); err != nil || len(none) != 0 {
		t.Errorf("got %+v, %v, want nothing after the last", none, err)
	}
	_, err = db.Events(t.Context(), "run-9", 0)
	wantErr(t, err, agent.ErrNotFound)
}

// TestOneActiveRun: a conversation's runs go one after another, in their order; others do not wait.
func TestOneActiveRun(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, id := range []string{"run-1", "run-2", "run-3"} {
		create(t, db, "anna", "t1", id)
	}
	create(t, db, "anna", "t2", "elsewhere")
	create(t, db, "bob", "t1", "bobs")
	wantErr(t, db.Append(t.Context(), step("run-2", agent.Pending, agent.Running)), agent.ErrBusy) // run-1 is first
	begin(t, db, "run-1")
	for _, id := range []string{"elsewhere", "bobs"} {
		begin(t, db, id)
	}
	wantErr(t, db.Append(t.Context(), step("run-2", agent.Pending, agent.Running)), agent.ErrBusy)
	await(t, db, "run-1", question("conf-1", "inv-1"))
	wantErr(t, db.Append(t.Context(), step("run-2", agent.Pending, agent.Running)), agent.ErrBusy)
	must(t, db.Append(t.Context(), step("run-2", agent.Pending, agent.Cancelled))) // one that waits may be cancelled
	must(t, db.Append(t.Context(), step("run-1", agent.AwaitingConfirmation, agent.Cancelled)))
	begin(t, db, "run-3")
	open, err := db.OpenRuns(t.Context())
	must(t, err)
	if len(open) != 3 || open[0].ID != "run-3" || open[1].ID != "elsewhere" || open[2].ID != "bobs" {
		t.Errorf("got %d open runs: %+v", len(open), open)
	}
}

func TestOneActiveRun_AtOnce(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	const workers = 8
	results := make(chan error, workers)
	for range workers {
		go func() {
			results <- db.Append(context.WithoutCancel(t.Context()), step("run-1", agent.Pending, agent.Running))
		}()
	}
	won := 0
	for range workers {
		err := <-results
		if err == nil {
			won++
			continue
		}
		wantErr(t, err, agent.ErrStale)
	}
	if won != 1 {
		t.Errorf("%d of %d began the run, want 1", won, workers)
	}
}

func TestRequestCancel(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	for _, why := range []agent.FinishReason{agent.ByUser, agent.ClientLeft} {
		if open, err := db.RequestCancel(t.Context(), "run-1", why); err != nil || !open {
			t.Errorf("got %v, %v, want open", open, err)
		}
	}
	r, err := db.Run(t.Context(), "anna", "run-1")
	if err != nil || r.CancelReason != agent.ByUser || r.Status != agent.Pending {
		t.Errorf("got %s, %q, %v, want the first reason and the same state", r.Status, r.CancelReason, err)
	}
	begin(t, db, "run-1")
	wantErr(t, db.Append(t.Context(), step("run-1", agent.Running, agent.Succeeded)), agent.ErrStale) // cancel wins
	finish(t, db, "run-1", agent.Cancelled)
	for _, id := range []string{"run-1", "run-9"} {
		if open, err := db.RequestCancel(t.Context(), id, agent.ByUser); err != nil || open {
			t.Errorf("%s: got %v, %v, want not open", id, open, err)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	create(t, db, "anna", "t2", "run-2")
	create(t, db, "anna", "t1", "run-3")
	create(t, db, "bob", "t1", "run-4")
	for thread, want := range map[string]string{"": "run-3 run-2 run-1", "t1": "run-3 run-1", "t9": ""} {
		got, _, err := db.Runs(t.Context(), "anna", thread, agent.Page{Limit: 10})
		must(t, err)
		var ids []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("thread %q: got %q, want %q", thread, ids, want)
		}
	}
	if got, _, err := db.Runs(t.Context(), "anna", "", agent.Page{Limit: 1}); err != nil || len(got) != 1 || got[0].ID != "run-3" {
		t.Errorf("got %+v, %v, want the newest", got, err)
	}
}
