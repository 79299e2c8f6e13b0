package app_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app/meshtest"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// TestKilledAfterAnEdit leaves the databases as a kill between the yes to an edited order and the record of
// what became of it leaves them. The order must be what the person made of it, once.
func TestKilledAfterAnEdit(t *testing.T) {
	t.Parallel()
	const (
		held     = `UPDATE reservations SET state = 'HELD' WHERE rkey LIKE '%/2'`
		bothHeld = `UPDATE reservations SET state = 'HELD', reason = ''`
		allowed  = `UPDATE invocations SET status = 'ALLOWED'`
	)
	for name, c := range map[string]struct {
		catalog string
		also    []string // of the orchestrator
	}{
		"before the old hold was released":  {bothHeld, []string{allowed, `UPDATE outbox SET done_at = 0`}},
		"before the call began":             {held, []string{allowed}},
		"between the beginning and the end": {held, nil},
		"between commit and record":         {"", nil},
		"the release was delivered last":    {"", []string{`UPDATE outbox SET done_at = 0`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := meshtest.Start(t, meshtest.Options{Dir: dir})
			before := stock(t, m, "food-001")
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			if status, body := talk.Answer("confirm", edited(talk.Question(), twoPortions)); status != http.StatusOK {
				t.Fatalf("confirm: %d %s", status, body)
			}
			talk.Rest()
			awaitDelivered(t, m)
			m.Stop()
			kill(t, dir, "")
			execute(t, filepath.Join(dir, "orchestrator.db"), c.also...)
			execute(t, filepath.Join(dir, "catalog.db"), c.catalog)

			again := meshtest.Start(t, meshtest.Options{Dir: dir})
			again.Follow("ann", talk.RunID, "").Rest()
			awaitSettled(t, again)
			if list := orders(again, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" || list[0].Total != "64.00" {
				t.Errorf("orders: %+v, want one CONFIRMED for 64.00", list)
			}
			awaitStock(t, again, before-2)
			awaitDelivered(t, again)
			again.Stop()
			checkBooks(t, dir)
			if held := keys(t, filepath.Join(dir, "catalog.db"), `SELECT rkey FROM reservations WHERE state = 'HELD'`); len(held) > 0 {
				t.Errorf("still held: %q", held)
			}
		})
	}
}

// TestKilledBeforeAnEditCounts: portions that were held for an edit whose decision was never written go back,
// and the question is as it was.
func TestKilledBeforeAnEditCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verb, args string
		total      string // of the order, or its reason
		gone       int
	}{
		"then a plain yes":  {"confirm", "", "32.00", 1},
		"then a no":         {"reject", "", "rejected", 0},
		"then another edit": {"confirm", twoPortions, "64.00", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := meshtest.Start(t, meshtest.Options{Dir: dir})
			before := stock(t, m, "food-001")
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			q := talk.Question()
			go talk.Rest()
			m.Stop()
			holdForAnEdit(t, dir, q.InvocationID, 5)

			again := meshtest.Start(t, meshtest.Options{Dir: dir})
			follow := again.Follow("ann", talk.RunID, "")
			if open := follow.Question(); open.ID != q.ID {
				t.Errorf("the open question is %s, want %s", open.ID, q.ID)
			}
			awaitStock(t, again, before-1)
			body := `{"confirmationId":"` + q.ID + `"}`
			if c.args != "" {
				body = edited(q, c.args)
			}
			if status, body := follow.Answer(c.verb, body); status != http.StatusOK {
				t.Fatalf("%s: %d %s", c.verb, status, body)
			}
			follow.Rest()
			if list := orders(again, "ann"); len(list) != 1 || (list[0].Total != c.total && list[0].Reason != c.total) {
				t.Errorf("orders: %+v, want %s", list, c.total)
			}
			awaitStock(t, again, before-c.gone)
			awaitDelivered(t, again)
			again.Stop()
			checkBooks(t, dir)
		})
	}
}

// holdForAnEdit does what comes before the decision: the next quote is counted, with the release of its hold
// queued, here for the past; and the portions are held.
func holdForAnEdit(t *testing.T, dir, invocation string, portions int) {
	t.Helper()
	ctx := context.Background()
	runs, err := rundb.Open(ctx, filepath.Join(dir, "orchestrator.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = runs.Close() }()
	o, err := runs.OrderByInvocation(ctx, invocation)
	if err != nil {
		t.Fatal(err)
	}
	n, err := runs.Requote(ctx, o, time.Now().Add(-time.Second))
	if err != nil || n != 2 {
		t.Fatalf("quote %d, %v", n, err)
	}
	stocks, err := catalogdb.Open(ctx, filepath.Join(dir, "catalog.db"), catalogdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stocks.Close() }()
	r, err := stocks.Reserve(ctx, catalog.Request{
		Key: order.Reservation(invocation, n), Group: invocation, Owner: "ann", TTL: time.Hour,
		Lines: []catalog.Wanted{{DishID: "food-001", Quantity: portions}},
	})
	if err != nil || r.State != catalog.Held {
		t.Fatalf("hold: %+v, %v", r, err)
	}
}

// TestCancelUnderAnEditedQuestion: a question that took another's place is cancelled with the run, and
// nothing of either stays held.
func TestCancelUnderAnEditedQuestion(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	if status, body := talk.Answer("confirm", edited(q, `{"items":[{"dish":"food-001","quantity":2},{"dish":"food-002","quantity":1}]}`)); status != http.StatusConflict {
		t.Fatalf("%d %s, want a new question", status, body)
	}
	again := talk.Question()
	m.Do("ann", http.MethodPost, "/runs/"+talk.RunID+"/cancel", `{}`)
	talk.Rest()
	if status, _ := talk.Decide("confirm", again); status != http.StatusGone {
		t.Errorf("a yes after the cancel: %d, want 410", status)
	}
	awaitStock(t, m, before)
	awaitDelivered(t, m)
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "REJECTED" {
		t.Errorf("orders: %+v", list)
	}
	var r struct{ Confirmations []agent.Confirmation }
	m.Get("ann", "/api/v1/runs/"+talk.RunID, &r)
	for _, c := range r.Confirmations {
		if c.Status != agent.ConfirmationCancelled {
			t.Errorf("the question %s is %s", c.ID, c.Status)
		}
	}
	m.Stop()
	checkBooks(t, m.Dir)
}
