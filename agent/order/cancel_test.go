package order_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
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
	for name, c := range map[string]struct {
		status order.Status
		age    int // days since the order's day
		user   string
		code   fault.Code
	}{
		"placing":      {order.Placing, 0, "anna", fault.Conflict},
		"rejected":     {order.Rejected, 0, "anna", fault.Conflict},
		"its_day_past": {order.Confirmed, 1, "anna", fault.Conflict},
		"another_s":    {order.Confirmed, 0, "bob", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				o := w.confirmed(t, time.Now().AddDate(0, 0, -c.age).Format(time.DateOnly))
				o.Status = c.status
				w.books.orders[o.InvocationID] = o
				_, err := w.Cancel(t.Context(), c.user, o.ID, "")
				if c.code == "" && !errors.Is(err, agent.ErrNotFound) {
					t.Errorf("got %v, want not found", err)
				}
				if c.code != "" {
					wantCode(t, err, c.code)
				}
				if w.books.open() != 0 {
					t.Errorf("%d deliveries are queued, want none", w.books.open())
				}
			})
		})
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
