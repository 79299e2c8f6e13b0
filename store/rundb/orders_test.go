package rundb_test

import (
	"reflect"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

func onlyOrder(t *testing.T, db *rundb.DB, user string) order.Order {
	t.Helper()
	got, _, err := db.Orders(t.Context(), user, agent.Page{Limit: 10})
	must(t, err)
	if len(got) != 1 {
		t.Fatalf("got %d orders, want 1", len(got))
	}
	return got[0]
}

func outbox(t *testing.T, db *rundb.DB, seconds int) []order.Delivery {
	t.Helper()
	got, err := db.Outbox(t.Context(), "", later(seconds), 10)
	must(t, err)
	return got
}

// queued tells whether the outbox gave a token.
func queued(db *rundb.DB) bool {
	select {
	case <-db.OutboxChanged():
		return true
	default:
		return false
	}
}

func TestOrders_KeepEverything(t *testing.T) {
	t.Parallel()
	db := open(t)
	want := placed("inv-1", "anna").Order
	must(t, db.Apply(t.Context(), order.Place{Order: want}))
	if got := onlyOrder(t, db, "anna"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for name, read := range map[string]func() (order.Order, error){
		"by invocation": func() (order.Order, error) { return db.OrderByInvocation(t.Context(), "inv-1") },
		"by id":         func() (order.Order, error) { return db.Order(t.Context(), "anna", "order-inv-1") },
	} {
		if got, err := read(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	_, err := db.OrderByInvocation(t.Context(), "inv-9")
	wantErr(t, err, agent.ErrNotFound)
	if queued(db) {
		t.Error("placing an order queued something")
	}
	if err := db.Apply(t.Context(), placed("inv-1", "anna")); err == nil {
		t.Error("an invocation has two orders")
	}
	must(t, db.Apply(t.Context(), placed("inv-2", "anna")))
	if got, _, err := db.Orders(t.Context(), "anna", agent.Page{Limit: 10}); err != nil || got[0].ID != "order-inv-2" {
		t.Errorf("got %+v, %v, want the newest first", got, err)
	}
}

func TestOrders_Confirmed(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	must(t, db.Apply(t.Context(), order.Confirm{InvocationID: "inv-1", At: later(5)}))
	must(t, db.Apply(t.Context(), order.Reject{UserID: "anna", Reservation: "inv-1/1", InvocationID: "inv-1", Reason: "late", At: later(6)}))
	if got := onlyOrder(t, db, "anna"); got.Status != order.Confirmed || got.Reason != "" || !got.UpdatedAt.Equal(later(5)) {
		t.Errorf("got %+v, want it to stay confirmed", got)
	}
	if len(outbox(t, db, 100)) != 0 || queued(db) {
		t.Error("the stock of a confirmed order was queued for release")
	}
}

// TestOrders_RejectedTwice: the order and the release of its hold change together, and once.
func TestOrders_RejectedTwice(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	for i, reason := range []string{"rejected", "expired"} {
		must(t, db.Apply(t.Context(), order.Reject{UserID: "anna", Reservation: "inv-1/1", InvocationID: "inv-1", Reason: reason, At: later(5)}))
		if queued(db) != (i == 0) {
			t.Errorf("%s: the token of the outbox is wrong", reason)
		}
	}
	must(t, db.Apply(t.Context(), order.Confirm{InvocationID: "inv-1", At: later(6)}))
	must(t, db.Apply(t.Context(), order.Reject{UserID: "anna", Reservation: "inv-9/1", InvocationID: "inv-9", Reason: "no such order", At: later(5)}))
	if got := onlyOrder(t, db, "anna"); got.Status != order.Rejected || got.Reason != "rejected" {
		t.Errorf("got %+v, want the first rejection", got)
	}
	got := outbox(t, db, 5)
	want := []order.Delivery{
		{N: 1, Key: "inv-1/1", Op: "release_reservation", Reason: "rejected", UserID: "anna"},
		{N: 2, Key: "inv-9/1", Op: "release_reservation", Reason: "no such order", UserID: "anna"}, // its hold may be there
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestOrders_WithTheirStep: what a step decides of an order is written with the step or not at all.
func TestOrders_WithTheirStep(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	s := step("run-1", agent.Running, agent.AwaitingConfirmation)
	s.Confirmations = []agent.Confirmation{question("conf-1", "inv-1")}
	s.Changes = []capability.Change{placed("inv-1", "anna")}
	must(t, db.Append(t.Context(), s))

	s = step("run-1", agent.Running, agent.Cancelled) // stale
	s.Changes = []capability.Change{order.Reject{UserID: "anna", Reservation: "inv-1/1", InvocationID: "inv-1", Reason: "cancelled", At: later(5)}}
	wantErr(t, db.Append(t.Context(), s), agent.ErrStale)
	if got := onlyOrder(t, db, "anna"); got.Status != order.Placing || queued(db) || len(outbox(t, db, 100)) != 0 {
		t.Errorf("got %s, want nothing of a stale step", got.Status)
	}
	s.From = []agent.Status{agent.AwaitingConfirmation}
	must(t, db.Append(t.Context(), s))
	if got := onlyOrder(t, db, "anna"); got.Status != order.Rejected || !queued(db) || len(outbox(t, db, 100)) != 1 {
		t.Errorf("got %s, want the order and its outbox", got.Status)
	}

	db = open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	await(t, db, "run-1", question("conf-1", "inv-1"))
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	rejected := after()
	rejected.Changes = s.Changes
	if _, won, err := db.Decide(t.Context(), "conf-1", decision(agent.ConfirmationRejected), rejected); err != nil || !won || !queued(db) {
		t.Errorf("got %v, %v, want a decision that queues the release", won, err)
	}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	db := open(t)
	for i, inv := range []string{"inv-1", "inv-2", "inv-3"} {
		must(t, db.Apply(t.Context(), placed(inv, "anna"), order.Reject{UserID: "anna", Reservation: inv + "/1", InvocationID: inv, Reason: "rejected", At: later(i)}))
	}
	keys := func(seconds int) (out []string) {
		for _, d := range outbox(t, db, seconds) {
			out = append(out, d.Key)
		}
		return out
	}
	if got := keys(1); !reflect.DeepEqual(got, []string{"inv-1/1", "inv-2/1"}) {
		t.Errorf("got %q, want what is due, oldest first", got)
	}
	first := outbox(t, db, 1)[0]
	must(t, db.Retry(t.Context(), first.N, later(30)))
	must(t, db.Delivered(t.Context(), outbox(t, db, 1)[0].N, later(2)))
	if got := keys(29); !reflect.DeepEqual(got, []string{"inv-3/1"}) {
		t.Errorf("got %q, want what is neither delivered nor put off", got)
	}
	again := outbox(t, db, 30)
	if len(again) != 2 || again[0].Key != "inv-1/1" || again[0].Attempts != 1 {
		t.Errorf("got %+v, want the one that was put off, counted", again)
	}
	if got, err := db.Outbox(t.Context(), "", later(30), 1); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v, want one", got, err)
	}
}

func TestUnsettled(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	s := step("run-1", agent.Running, agent.Keep)
	for i, inv := range []string{"asked", "ended", "confirmed"} {
		s.Invocations = append(s.Invocations, invocation(inv, "m", i, capability.Asking))
		s.Changes = append(s.Changes, placed(inv, "anna"))
	}
	must(t, db.Append(t.Context(), s))
	s = step("run-1", agent.Running, agent.Keep)
	failed := done(invocation("ended", "m", 1, capability.Failed))
	failed.Status = capability.Failed
	s.Invocations = []agent.Invocation{failed, done(invocation("confirmed", "m", 2, capability.Succeeded))}
	s.Changes = []capability.Change{order.Confirm{InvocationID: "confirmed", At: at}}
	must(t, db.Append(t.Context(), s))
	got, err := db.Unsettled(t.Context())
	must(t, err)
	if len(got) != 1 || got[0].InvocationID != "ended" || len(got[0].Lines) != 2 {
		t.Errorf("got %+v, want the order whose call ended without an outcome", got)
	}
}

// TestApply_Committing: only an order without an outcome is one whose commit is not answered yet.
func TestApply_Committing(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, id := range []string{"inv-1", "inv-2"} {
		must(t, db.Apply(t.Context(), placed(id, "anna")))
	}
	must(t, db.Apply(t.Context(), order.Confirm{InvocationID: "inv-2", At: later(1)}))
	for id, want := range map[string]bool{"inv-1": true, "inv-2": false} {
		must(t, db.Apply(t.Context(), order.Committing{InvocationID: id}))
		if o, err := db.OrderByInvocation(t.Context(), id); err != nil || o.Committing != want {
			t.Errorf("%s: got %+v, %v, want committing %v", id, o, err, want)
		}
	}
}
