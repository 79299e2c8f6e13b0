package rundb_test

import (
	"testing"

	"agentmesh/agent"
	"agentmesh/store/rundb"
)

func meansContext(t *testing.T, db *rundb.DB) {
	past, err := db.Past(t.Context(), "dora", "t12", "", 10)
	must(t, err)
	same(t, "the summary", past.Summary, agent.Summary{
		RunID: "run-telling", Covers: "run-told", Text: "对花生过敏", Messages: 1, Before: 7000, After: 900, At: moment(1795924802000124),
	})
	if len(past.Messages) != 1 || past.Messages[0].ID != "ask-122" || past.Reported != 1000 || past.Guessed != 900 {
		t.Errorf("got %+v, want only what came after the summary", past)
	}
}
