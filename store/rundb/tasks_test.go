package rundb_test

import (
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// slowly puts a call of a new run of anna's into the background; the run is RUNNING.
func slowly(t *testing.T, db *rundb.DB, thread, id string) agent.Lease {
	t.Helper()
	create(t, db, "anna", thread, "run-"+id)
	begin(t, db, "run-"+id)
	s, lease := offloading("run-"+id, id)
	must(t, db.Append(t.Context(), s))
	return lease
}

func offloading(runID, id string) (agent.Step, agent.Lease) {
	s := step(runID, agent.Running, agent.Keep)
	inv := invocation("inv-"+id, "answer-"+id, 0, capability.Offloaded)
	inv.TaskID = "task-" + id
	lease := agent.Lease{ID: "task-" + id, Owner: "one", Epoch: 1, Until: later(15)}
	s.Invocations, s.TaskLease = []agent.Invocation{inv}, lease
	s.Tasks = []agent.Task{{
		ID: "task-" + id, Origin: agent.ByCall, UserID: "anna", ThreadID: "t1", InvocationID: inv.ID, Status: capability.Running, StartedAt: at,
	}}
	return s, lease
}

func ending(id string, lease agent.Lease, status capability.Status) agent.TaskEnd {
	inv := done(invocation("inv-"+id, "answer-"+id, 0, capability.Offloaded))
	inv.TaskID = "task-" + id
	return agent.TaskEnd{Lease: lease, Status: status, Invocation: inv, Event: agent.NewEvent(agent.TaskEnded, agent.TaskData{TaskID: "task-" + id}, later(5)), At: later(5)}
}

func telling(runID, id string) agent.Step {
	s := step(runID, agent.Running, agent.Keep)
	s.Told = []string{"task-" + id}
	s.Events = append(s.Events, agent.NewEvent(agent.HintGiven, agent.MessageData{MessageID: "told-task-" + id, Text: "task"}, later(6)))
	return s
}

func TestEndTask_OnceAndUnderItsClaim(t *testing.T) {
	t.Parallel()
	db := open(t)
	lease := slowly(t, db, "t1", "a")
	stale := lease
	newer, err := db.ClaimTask(t.Context(), "task-a", "two", later(20), later(40))
	must(t, err)
	wantErr(t, db.EndTask(t.Context(), ending("a", stale, capability.Failed)), agent.ErrStale)
	must(t, db.EndTask(t.Context(), ending("a", newer, capability.Succeeded)))
	wantErr(t, db.EndTask(t.Context(), ending("a", newer, capability.Failed)), agent.ErrStale)
	got, err := db.Task(t.Context(), "anna", "task-a")
	if err != nil || got.Status != capability.Succeeded || string(got.Result) != `{"of":"inv-a"}` || got.EndedAt != later(5) {
		t.Errorf("got %+v, %v", got, err)
	}
	events, err := db.Events(t.Context(), "run-a", 0)
	if err != nil || len(events) != 1 || events[0].Type != agent.TaskEnded {
		t.Errorf("got the events %+v, %v, want the end once", events, err)
	}
	if _, err := db.ClaimTask(t.Context(), "task-a", "two", later(60), later(80)); err == nil {
		t.Error("a task that has ended was claimed")
	}
}

func TestEndTask_AfterItsRunAddsNothingToIt(t *testing.T) {
	t.Parallel()
	db := open(t)
	lease := slowly(t, db, "t1", "a")
	finish(t, db, "run-a", agent.Succeeded)
	must(t, db.EndTask(t.Context(), ending("a", lease, capability.Succeeded)))
	if events, err := db.Events(t.Context(), "run-a", 0); err != nil || len(events) != 1 || events[0].Type != agent.MessageEnded {
		t.Errorf("got the events %+v, %v", events, err)
	}
	must(t, db.Invariant(t.Context()))
}

func TestTold_Once(t *testing.T) {
	t.Parallel()
	db := open(t)
	lease := slowly(t, db, "t1", "a")
	wantErr(t, db.Append(t.Context(), telling("run-a", "a")), agent.ErrStale) // it runs
	must(t, db.EndTask(t.Context(), ending("a", lease, capability.Succeeded)))
	must(t, db.Append(t.Context(), telling("run-a", "a")))
	wantErr(t, db.Append(t.Context(), telling("run-a", "a")), agent.ErrStale)
	if untold, err := db.Untold(t.Context(), "anna", "t1"); err != nil || len(untold) != 0 {
		t.Errorf("got untold %+v, %v", untold, err)
	}
	must(t, db.Invariant(t.Context()))
}

func TestCreateTelling(t *testing.T) {
	t.Parallel()
	db := open(t)
	tells := agent.Run{ID: "run-tells", ClientRunID: "run-tells", UserID: "anna", ThreadID: "t1", Origin: agent.ByTask, CreatedAt: later(7)}
	lease := slowly(t, db, "t1", "a")
	must(t, db.EndTask(t.Context(), ending("a", lease, capability.Succeeded)))
	wantErr(t, db.CreateTelling(t.Context(), tells), agent.ErrBusy)
	if talks, err := db.UntoldTalks(t.Context()); err != nil || len(talks) != 0 {
		t.Errorf("while its run is open: got %+v, %v", talks, err)
	}
	finish(t, db, "run-a", agent.Failed)
	if talks, err := db.UntoldTalks(t.Context()); err != nil || len(talks) != 1 || talks[0].ThreadID != "t1" {
		t.Errorf("got %+v, %v", talks, err)
	}
	must(t, db.CreateTelling(t.Context(), tells))
	wantStatus(t, db, "anna", "run-tells", agent.Pending)
	begin(t, db, "run-tells")
	must(t, db.Append(t.Context(), telling("run-tells", "a")))
	finish(t, db, "run-tells", agent.Succeeded)
	tells.ID = "run-again"
	wantErr(t, db.CreateTelling(t.Context(), tells), agent.ErrStale)
}

func TestRequestCancel_ReachesTasks(t *testing.T) {
	t.Parallel()
	db := open(t)
	lease := slowly(t, db, "t1", "a")
	_, err := db.RequestCancel(t.Context(), "run-a", agent.ByUser)
	must(t, err)
	late, _ := offloading("run-a", "b")
	wantErr(t, db.Append(t.Context(), late), agent.ErrStale) // nothing of it goes into the background any more
	_, cancelled, err := db.RenewTasks(t.Context(), []agent.Lease{lease}, later(30))
	if err != nil || len(cancelled) != 1 {
		t.Errorf("got %q, %v, want it cancelled", cancelled, err)
	}
	finish(t, db, "run-a", agent.Cancelled)
	must(t, db.EndTask(t.Context(), ending("a", lease, capability.Cancelled)))
	if got, err := db.Task(t.Context(), "anna", "task-a"); err != nil || got.DeliveredRun != "run-a" {
		t.Errorf("got %+v, %v, want it told of by the cancel", got, err)
	}
	must(t, db.Invariant(t.Context()))
}

func TestTasks_OwnOnly(t *testing.T) {
	t.Parallel()
	db := open(t)
	slowly(t, db, "t1", "a")
	for user, want := range map[string]int{"anna": 1, "bob": 0} {
		got, _, err := db.Tasks(t.Context(), user, agent.TaskFilter{Status: capability.Running}, agent.Page{Limit: 10})
		if err != nil || len(got) != want {
			t.Errorf("%s: got %+v, %v, want %d", user, got, err, want)
		}
		running, err := db.RunningTasks(t.Context(), user, "t1")
		if err != nil || len(running) != want {
			t.Errorf("%s: got running %+v, %v, want %d", user, running, err, want)
		}
	}
	_, err := db.Task(t.Context(), "bob", "task-a")
	wantErr(t, err, agent.ErrNotFound)
	must(t, db.CancelTask(t.Context(), "bob", "task-a", agent.ByUser))
	if got, err := db.Task(t.Context(), "anna", "task-a"); err != nil || got.CancelReason != "" {
		t.Errorf("another cancelled it: %+v, %v", got, err)
	}
}

// TestTask_KeepsWhatIsItsOwn: its conversation is not deleted, and its run's events are not pruned, while it runs.
func TestTask_KeepsWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	db := open(t)
	lease := slowly(t, db, "t1", "a")
	s := step("run-a", agent.Running, agent.Succeeded)
	s.Events = []agent.Event{agent.NewEvent(agent.RunEnded, agent.EndData{}, later(1))}
	must(t, db.Append(t.Context(), s))
	old := rundb.Cutoffs{Events: later(1).Add(time.Hour)}
	if got, err := db.Prune(t.Context(), old, false); err != nil || got.Events != 0 {
		t.Errorf("pruned %+v, %v, want nothing", got, err)
	}
	if err := db.DeleteConversation(t.Context(), "anna", "t1"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("deleting its conversation: %v, want a conflict", err)
	}
	must(t, db.EndTask(t.Context(), ending("a", lease, capability.Succeeded)))
	if got, err := db.Prune(t.Context(), old, false); err != nil || got.Events != 1 {
		t.Errorf("pruned %+v, %v, want its events", got, err)
	}
	must(t, db.DeleteConversation(t.Context(), "anna", "t1"))
}
