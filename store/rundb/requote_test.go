package rundb_test

import (
	"reflect"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// requoted counts another quote of the order of inv-1 and gives it with what it would be replaced by.
func requoted(t *testing.T, db *rundb.DB, seconds int) order.Replace {
	t.Helper()
	o := placed("inv-1", "anna").Order
	n, err := db.Requote(t.Context(), o, later(seconds))
	must(t, err)
	o.Reservation, o.Note, o.TotalFen, o.UpdatedAt = order.Reservation("inv-1", n), "", 9600, later(5)
	o.Lines = []order.Line{{DishID: "food-001", Name: "水煮牛肉", NameEn: "Sichuan boiled beef", Quantity: 3, UnitFen: 3200, AmountFen: 9600}}
	return order.Replace{Order: o, Old: "inv-1/1", Reason: "replaced"}
}

func releases(t *testing.T, db *rundb.DB, seconds int) []string {
	t.Helper()
	var out []string
	for _, d := range outbox(t, db, seconds) {
		out = append(out, d.Key+" "+d.Reason)
	}
	return out
}

func wantReleases(t *testing.T, db *rundb.DB, seconds int, want ...string) {
	t.Helper()
	if got := releases(t, db, seconds); !reflect.DeepEqual(got, want) {
		t.Errorf("due after %d s: got %q, want %q", seconds, got, want)
	}
}

// TestRequote_Replace: the new hold is the order's, whose release is taken back; the old one's is queued.
func TestRequote_Replace(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	r := requoted(t, db, 120)
	wantReleases(t, db, 119)
	wantReleases(t, db, 120, "inv-1/2 abandoned")
	must(t, db.Apply(t.Context(), r))
	if !queued(db) {
		t.Error("the outbox gave no token")
	}
	wantReleases(t, db, 1000, "inv-1/1 replaced")
	got := onlyOrder(t, db, "anna")
	want := r.Order
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	must(t, db.Apply(t.Context(), order.Reject{UserID: "anna", Reservation: "inv-1/1", InvocationID: "inv-1", Reason: "rejected", At: later(9)}))
	wantReleases(t, db, 1000, "inv-1/1 replaced", "inv-1/2 rejected")
}

// TestRequote_Numbers: each quote has a number of its own, also of two that are made at once.
func TestRequote_Numbers(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	first, second := requoted(t, db, 60), requoted(t, db, 60)
	must(t, db.Apply(t.Context(), second))
	wantErr(t, db.Apply(t.Context(), first), agent.ErrStale)
	if got := onlyOrder(t, db, "anna"); got.Reservation != "inv-1/3" {
		t.Errorf("got %s, want the one that came first", got.Reservation)
	}
	wantReleases(t, db, 59, "inv-1/1 replaced")
	must(t, db.Apply(t.Context(), order.Abandon{Reservation: "inv-1/2", At: later(10)}))
	wantReleases(t, db, 10, "inv-1/2 abandoned", "inv-1/1 replaced")
	must(t, db.Apply(t.Context(), order.Abandon{Reservation: "inv-1/3", At: later(10)})) // the order's own: nothing to let go
	wantReleases(t, db, 1000, "inv-1/2 abandoned", "inv-1/1 replaced")
}

// TestRequote_NotPlacing: an order that is decided has no more quotes, and none takes its place.
func TestRequote_NotPlacing(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	r := requoted(t, db, 60)
	must(t, db.Apply(t.Context(), order.Confirm{InvocationID: "inv-1", At: later(1)}))
	wantErr(t, db.Apply(t.Context(), r), agent.ErrStale)
	_, err := db.Requote(t.Context(), r.Order, later(60))
	wantErr(t, err, agent.ErrStale)
	wantReleases(t, db, 60, "inv-1/2 abandoned")
	if got := onlyOrder(t, db, "anna"); got.Reservation != "inv-1/1" || got.TotalFen != 6700 {
		t.Errorf("got %+v, want it as it was", got)
	}
}

// TestRequote_ReleasedMeanwhile: a hold that was let go cannot become the order's any more.
func TestRequote_ReleasedMeanwhile(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	r := requoted(t, db, 0)
	due := outbox(t, db, 1)
	must(t, db.Delivered(t.Context(), due[0].N, later(1)))
	wantErr(t, db.Apply(t.Context(), r), agent.ErrStale)
	if got := onlyOrder(t, db, "anna"); got.Reservation != "inv-1/1" || len(got.Lines) != 2 {
		t.Errorf("got %+v, want it as it was", got)
	}
}

// TestDecide_Edited: decision, arguments and order change together, or none of them does.
func TestDecide_Edited(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	r := requoted(t, db, 60)
	d := decision(agent.ConfirmationConfirmed)
	d.Edited = &agent.Edit{Args: []byte(`{"items":[1]}`), ArgsDigest: "e", Summary: []byte(`{"totalFen":9600}`)}
	inv := invocation("inv-1", "msg", 0, capability.Allowed)
	inv.Edit([]byte(`{"items":[1]}`))
	s := after()
	s.Invocations, s.Changes = []agent.Invocation{inv}, []capability.Change{r}

	stale := s
	stale.Changes = []capability.Change{r, order.Replace{Order: r.Order, Old: "inv-1/7"}}
	_, won, err := db.Decide(t.Context(), "conf-1", d, stale)
	wantErr(t, err, agent.ErrStale)
	if c, err := db.Confirmation(t.Context(), "anna", "conf-1"); won || err != nil || c.Status != agent.ConfirmationOpen || onlyOrder(t, db, "anna").TotalFen != 6700 {
		t.Errorf("got %v, %+v, %v, want nothing written", won, c, err)
	}
	got, won, err := db.Decide(t.Context(), "conf-1", d, s)
	if err != nil || !won || !reflect.DeepEqual(got.Edited, d.Edited) || onlyOrder(t, db, "anna").TotalFen != 9600 {
		t.Errorf("got %v, %+v, %v", won, got, err)
	}
	j, err := db.Journal(t.Context(), "run-1")
	if err != nil || string(j.Invocations[0].Args) != `{"items":[1]}` || string(j.Invocations[0].Proposed) != `{"n":0}` || j.Run.Status != agent.Running {
		t.Errorf("got %+v, %v, want what runs and what was proposed", j, err)
	}
}

// TestDecide_Replaced: the run goes on waiting, for the question that took the old one's place.
func TestDecide_Replaced(t *testing.T) {
	t.Parallel()
	db := asking(t, question("conf-1", "inv-1"))
	d := decision(agent.ConfirmationCancelled)
	d.ReplacedBy = "conf-2"
	s := after()
	s.Confirmations = []agent.Confirmation{question("conf-2", "inv-1")}
	got, won, err := db.Decide(t.Context(), "conf-1", d, s)
	if err != nil || !won || got.ReplacedBy != "conf-2" || got.Status != agent.ConfirmationCancelled {
		t.Errorf("got %v, %+v, %v", won, got, err)
	}
	wantStatus(t, db, "anna", "run-1", agent.AwaitingConfirmation)
	if open, err := db.OpenConfirmations(t.Context(), "anna"); err != nil || len(open) != 1 || open[0].ID != "conf-2" {
		t.Errorf("open: %+v, %v", open, err)
	}
	again := step("run-1", agent.AwaitingConfirmation, agent.Keep)
	again.Confirmations = []agent.Confirmation{question("conf-3", "inv-1")}
	if err := db.Append(t.Context(), again); err == nil {
		t.Error("a call has two open questions")
	}
	if _, won, err := db.Decide(t.Context(), "conf-2", decision(agent.ConfirmationConfirmed), after()); err != nil || !won {
		t.Errorf("got %v, %v", won, err)
	}
	wantStatus(t, db, "anna", "run-1", agent.Running)
}

// TestHistory_ShowsWhatRuns: a call that a person edited is shown with the arguments that it runs with.
func TestHistory_ShowsWhatRuns(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	inv := invocation("inv-1", "answer", 0, capability.Proposed)
	inv.Edit([]byte(`{"n":7}`))
	s := step("run-1", agent.Running, agent.Keep)
	s.Events = append(s.Events, saying(agent.Message{ID: "answer", Role: agent.Assistant, CreatedAt: at, Calls: []agent.ToolCall{
		{ID: inv.CallID, Name: "look", Args: []byte(`{"n":0}`)}, {ID: "other", Name: "look", Args: []byte(`{"n":1}`)},
	}})...)
	s.Invocations = []agent.Invocation{inv}
	must(t, db.Append(t.Context(), s))
	got, err := db.History(t.Context(), "anna", "t1", false, 10)
	must(t, err)
	if len(got) != 2 || string(got[1].Calls[0].Args) != `{"n":7}` || string(got[1].Calls[1].Args) != `{"n":1}` {
		t.Errorf("got %+v", got)
	}
}
