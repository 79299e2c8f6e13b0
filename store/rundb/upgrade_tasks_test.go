package rundb_test

import (
	"testing"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

func meansTasks(t *testing.T, db *rundb.DB) {
	running, err := db.Task(t.Context(), "dora", "task-13")
	if err != nil || running.Ended() || running.Origin != agent.ByCall || running.RunID != "run-slow" || string(running.Args) != `{"q":1}` || running.Epoch != 1 {
		t.Errorf("got %+v, %v", running, err)
	}
	for at, want := range map[int64]int{1795924835000122: 0, 1795924835000123: 1} {
		if got, err := db.OrphanTasks(t.Context(), moment(at)); err != nil || len(got) != want {
			t.Errorf("orphans at %d: got %q, %v, want %d", at, got, err, want)
		}
	}
	untold, err := db.Untold(t.Context(), "dora", "t13")
	if err != nil || len(untold) != 1 || untold[0].ID != "task-14" || untold[0].Status != capability.Failed || string(untold[0].Result) != `{"error":{"code":"timeout"}}` {
		t.Errorf("got untold %+v, %v", untold, err)
	}
	j, err := db.Journal(t.Context(), "run-slow")
	if err != nil || len(j.Invocations) != 2 || j.Invocations[1].TaskID != "task-14" || string(j.Invocations[1].Told()) != string(agent.Placeholder("task-14")) {
		t.Errorf("got %+v, %v", j.Invocations, err)
	}
}
