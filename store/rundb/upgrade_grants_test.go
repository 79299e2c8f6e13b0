package rundb_test

import (
	"encoding/json"
	"testing"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

func meansGrants(t *testing.T, db *rundb.DB) {
	list, _, err := db.Grants(t.Context(), "dora", agent.Page{Limit: 10})
	must(t, err)
	same(t, "the grants", list, []agent.Grant{
		{ID: "grant-2", UserID: "dora", Capability: "send", ConfirmationID: "conf-14", CreatedAt: moment(1795924801000123)},
		{ID: "grant-1", UserID: "dora", Capability: "look", Args: json.RawMessage(`{"city":"上海"}`), ConfirmationID: "conf-15", CreatedAt: moment(1795924801000123)},
	})
	rules, err := db.Granted(t.Context(), "dora", "look")
	must(t, err)
	same(t, "the rules", rules, []capability.Rule{{Capability: "look", Effect: capability.Allow, Exact: json.RawMessage(`{"city":"上海"}`), Grant: "grant-1"}})
	j, err := db.Journal(t.Context(), "run-explore")
	must(t, err)
	if c := j.Confirmations; j.Run.Mode != capability.ModeExplore || c[0].Remembered != agent.SuggestArgs || len(c[0].Suggestions) != 2 || c[1].Because != "be careful" || c[1].Remembered != "" {
		t.Errorf("got %s and the questions %+v", j.Run.Mode, c)
	}
	if r, err := db.Run(t.Context(), "anna", "run-ended"); err != nil || r.Mode != capability.ModeDefault {
		t.Errorf("a run of before: got the mode %q, %v", r.Mode, err)
	}
	records, _, err := db.Records(t.Context(), "dora", capability.Selection{Stage: capability.StagePolicy}, agent.Page{Limit: 10})
	if err != nil || len(records) != 1 || records[0].Rule != "mode explore" {
		t.Errorf("got the records %+v, %v", records, err)
	}
}
