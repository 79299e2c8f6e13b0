package order_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
)

// confirmed puts a confirmed order of a day into the books.
func (w *world) confirmed(t *testing.T, day string) order.Order {
	t.Helper()
	o := w.placed(t)
	o.Status, o.Date = order.Confirmed, day
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	w.books.orders[o.InvocationID] = o
	return o
}

func TestCancel_GivesThePortionsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.tools["return_stock"] = inTurn(fails(fault.Unavailable), answers(`{"state":"RETURNED"}`))
		o := w.confirmed(t, time.Now().Format(time.DateOnly))
		for range 2 { // the same again is the same answer
			got, err := w.Cancel(t.Context(), "anna", o.ID, "changed my mind")
			if err != nil || got.Status != order.Cancelled || got.Reason != "changed my mind" {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		start(t, w)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		made := w.made("return_stock")
		if len(made) != 2 || !strings.Contains(string(made[1].Args), `"key":"inv-1/1"`) || made[0].ID != made[1].ID || w.books.open() != 0 {
			t.Errorf("got returns %+v, want one, tried again under its key", made)
		}
	})
}

func TestCancel_Refused(t *testing.T) {
	t.Parallel()
	today := time.Now().In(time.UTC).Format(time.DateOnly)
	for name, c := range map[string]struct {
		status order.Status
		day    string
		user   string
	}{
		"placing":      {order.Placing, today, "anna"},
		"rejected":     {order.Rejected, today, "anna"},
		"its_day_past": {order.Confirmed, "2026-11-28", "anna"},
		"another_s":    {order.Confirmed, today, "bob"},
	} {
		w := newWorld()
		o := w.confirmed(t, c.day)
		o.Status = c.status
		w.books.orders[o.InvocationID] = o
		if _, err := w.Cancel(t.Context(), c.user, o.ID, ""); err == nil || w.books.open() != 0 {
			t.Errorf("%s: got %v and %d deliveries, want a refusal", name, err, w.books.open())
		}
	}
}

// TestRelay_ReturnOfWhatWasNotCommitted is a contradiction that no program repairs.
func TestRelay_ReturnOfWhatWasNotCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.tools["return_stock"] = answers(`{"state":"RELEASED"}`)
		o := w.confirmed(t, time.Now().Format(time.DateOnly))
		if _, err := w.Cancel(t.Context(), "anna", o.ID, ""); err != nil {
			t.Fatal(err)
		}
		start(t, w)
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.books.open() != 1 {
			t.Error("the delivery counts as done")
		}
	})
}
