package rundb_test

import (
	"encoding/json"
	"testing"

	"agentmesh/agent"
)

func granting(id, confirmation, args string) (agent.Decision, agent.Step) {
	d := decision(agent.ConfirmationConfirmed)
	d.Remember = agent.SuggestArgs
	s := after()
	s.Grants = []agent.Grant{{ID: id, UserID: "anna", Capability: "look", Args: json.RawMessage(args), ConfirmationID: confirmation, CreatedAt: later(3)}}
	return d, s
}

// TestGrants_ComeWithTheDecision: a grant is there if and only if the decision that it came with counted.
func TestGrants_ComeWithTheDecision(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
	d, s := granting("grant-1", "conf-1", `{"n":0}`)
	for range 2 { // the second one comes too late
		if _, _, err := db.Decide(t.Context(), "conf-1", d, s); err != nil {
			t.Fatal(err)
		}
		s.Grants[0].ID = "grant-late"
		s.Grants[0].Args = nil
	}
	list, _, err := db.Grants(t.Context(), "anna", agent.Page{Limit: 10})
	if err != nil || len(list) != 1 || list[0].ID != "grant-1" || string(list[0].Args) != `{"n":0}` {
		t.Fatalf("got %+v, %v", list, err)
	}
	if c, err := db.Confirmation(t.Context(), "anna", "conf-1"); err != nil || c.Remembered != agent.SuggestArgs {
		t.Errorf("got %+v, %v, want it to say what it was remembered as", c, err)
	}
	d, s = granting("grant-2", "conf-2", `{"n":0}`)
	if _, won, err := db.Decide(t.Context(), "conf-2", d, s); err != nil || !won {
		t.Fatalf("the same grant again: got %v, %v", won, err)
	}
	if list, _, err = db.Grants(t.Context(), "anna", agent.Page{Limit: 10}); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v, want the grant once", list, err)
	}
}

// TestRevoke: once, by its owner alone, and then the same may be granted anew.
func TestRevoke(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"), question("conf-2", "inv-2"))
	d, s := granting("grant-1", "conf-1", "")
	if _, _, err := db.Decide(t.Context(), "conf-1", d, s); err != nil {
		t.Fatal(err)
	}
	wantErr(t, db.Revoke(t.Context(), "bob", "grant-1", later(4)), agent.ErrNotFound)
	must(t, db.Revoke(t.Context(), "anna", "grant-1", later(4)))
	wantErr(t, db.Revoke(t.Context(), "anna", "grant-1", later(4)), agent.ErrNotFound)
	if rules, err := db.Granted(t.Context(), "anna", "look"); err != nil || len(rules) != 0 {
		t.Errorf("got %+v, %v, want no rule any more", rules, err)
	}
	d, s = granting("grant-2", "conf-2", "")
	if _, _, err := db.Decide(t.Context(), "conf-2", d, s); err != nil {
		t.Fatal(err)
	}
	if rules, err := db.Granted(t.Context(), "anna", "look"); err != nil || len(rules) != 1 || rules[0].Grant != "grant-2" {
		t.Errorf("got %+v, %v, want the new one", rules, err)
	}
}
