package order_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// TestSettle_CommitTriedAgain: a commit carries its key, so it may be sent again.
func TestSettle_CommitTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.placed(t)
		w.tools["commit_reservation"] = inTurn(fails(fault.Unavailable), fails(fault.Timeout), answers(`{"state":"COMMITTED"}`))
		_, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(quoted), nil)
		if _, ok := changes[0].(order.Confirm); err != nil || !ok {
			t.Errorf("got %+v, %v, want confirmed", changes, err)
		}
		if got := w.waits()[2:]; !reflect.DeepEqual(got, []float64{0, 0.3, 0.9}) {
			t.Errorf("got commits at %v", got)
		}
	})
}

// TestSettle_UnknownOutcome: nobody knows whether the catalog committed, so the order stays PLACING and
// the person is told where to look.
func TestSettle_UnknownOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for code, tries := range map[fault.Code]int{fault.Unavailable: 3, fault.Timeout: 3, fault.Internal: 1} {
			w := newWorld()
			w.placed(t)
			w.tools["commit_reservation"] = fails(code)
			_, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(quoted), nil)
			wantCode(t, err, fault.Unavailable)
			if !reflect.DeepEqual(changes, []capability.Change{order.Committing{InvocationID: "inv-1"}}) || len(w.made("commit_reservation")) != tries || len(w.made("release_reservation")) != 0 {
				t.Errorf("%s: got %+v after %d commits, want the order left as it is", code, changes, len(w.made("commit_reservation")))
			}
		}
	})
}

// TestPrepare_OwnReleasesFirst: an order that follows a no finds what the no gave up, also when the relay is behind.
func TestPrepare_OwnReleasesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.books.queue("inv-0/1")
	w.books.queue("inv-00/1")
	w.books.due[1].UserID = "somebody else"
	w.tools["release_reservation"] = answers(`{"state":"RELEASED"}`)
	if _, err := w.Prepare(t.Context(), theCall()); err != nil {
		t.Fatal(err)
	}
	first := w.calls[0]
	if first.Name != "release_reservation" || len(w.made("release_reservation")) != 1 || !w.books.due[0].done || w.books.due[1].done {
		t.Errorf("first came %s %s, of %d releases, want the person's own, before the quote", first.Name, first.Args, len(w.made("release_reservation")))
	}
}

// start runs the relay until the end of the test.
func start(t *testing.T, w *world) {
	t.Helper()
	w.Start(t.Context())
	t.Cleanup(w.Stop)
}

// TestReconcile: what a crash or an unreachable catalog left open is settled as the catalog says.
func TestReconcile(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]any{"COMMITTED": order.Confirm{}, "RELEASED": order.Reject{}, "EXPIRED": order.Reject{}} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				o := w.placed(t)
				w.books.unsettled = []order.Order{o}
				w.tools["release_reservation"] = inTurn(fails(fault.Unavailable), answers(`{"state":"`+state+`"}`))
				start(t, w)
				synctest.Wait()
				if got := w.books.changes(); len(got) != 0 {
					t.Errorf("got %+v while the catalog was away", got)
				}
				time.Sleep(61 * time.Second) // in a bubble
				synctest.Wait()
				got := w.books.changes()
				if len(got) != 1 || reflect.TypeOf(got[0]) != reflect.TypeOf(want) {
					t.Fatalf("got %+v, want %T", got, want)
				}
				if r, ok := got[0].(order.Reject); ok && (r.Reason != "unsettled" || r.InvocationID != "inv-1") {
					t.Errorf("got %+v", r)
				}
				if c := w.made("release_reservation")[0]; c.UserID != "anna" || c.RunID != "run-1" {
					t.Errorf("got %+v, want the order's owner and run", c)
				}
			})
		})
	}
}

// TestReconcile_CommitsAgain: a yes counts also when the catalog was away for as long as the call waited for
// it. A late commit is refused openly.
func TestReconcile_CommitsAgain(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"COMMITTED": "", "EXPIRED": "hold_expired", "RELEASED": "hold_released", "not_found": "hold_lost"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				o := w.placed(t)
				o.Committing = true
				w.books.unsettled = []order.Order{o}
				answer := answers(`{"state":"` + state + `"}`)
				if state == "not_found" {
					answer = fails(fault.NotFound)
				}
				w.tools["commit_reservation"] = inTurn(fails(fault.Timeout), answers(`{"key":"another/1","state":"COMMITTED"}`), answer)
				start(t, w)
				time.Sleep(61 * time.Second) // in a bubble
				synctest.Wait()
				got := w.books.changes()
				if len(got) != 1 || len(w.made("release_reservation")) != 0 {
					t.Fatalf("got %+v after %d releases", got, len(w.made("release_reservation")))
				}
				reject, refused := got[0].(order.Reject)
				if _, confirmed := got[0].(order.Confirm); confirmed != (want == "") || refused == confirmed || reject.Reason != want {
					t.Errorf("got %+v, want %q", got, want)
				}
			})
		})
	}
}

func TestRelay_DeliversAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		start(t, w)
		synctest.Wait()
		began := time.Now()
		w.books.queue("inv-1/1")
		synctest.Wait()
		calls := w.made("release_reservation")
		if len(calls) != 1 || string(calls[0].Args) != `{"key":"inv-1/1","reason":"rejected"}` || calls[0].UserID != "anna" || w.books.open() != 0 || time.Since(began) != 0 {
			t.Errorf("got %+v after %s", calls, time.Since(began))
		}
	})
}

func TestRelay_DeliversWhatAnEarlierProcessLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for range 120 { // more than one batch
			w.books.queue("k")
		}
		<-w.books.queued
		start(t, w)
		synctest.Wait()
		if w.books.open() != 0 || len(w.made("release_reservation")) != 120 {
			t.Errorf("%d are left", w.books.open())
		}
	})
}

// TestRelay_Backoff: a catalog that is away is asked less and less often, and the row is never lost.
func TestRelay_Backoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.tools["release_reservation"] = fails(fault.Unavailable)
		w.books.queue("inv-1/1")
		start(t, w)
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		want := []float64{0, 1, 3, 7, 15, 31, 63, 123, 183}
		if got := w.waits(); !reflect.DeepEqual(got, want) {
			t.Errorf("got tries at %v, want %v", got, want)
		}
		w.mu.Lock()
		w.tools["release_reservation"] = answers(`{"state":"RELEASED"}`)
		w.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.books.open() != 0 {
			t.Error("the row was not delivered in the end")
		}
	})
}

// TestRelay_OtherWorkDoesNotDelay: a delivery that goes well in between does not put off the one that
// waits for its next try.
func TestRelay_OtherWorkDoesNotDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.tools["release_reservation"] = inTurn(fails(fault.Unavailable), fails(fault.Unavailable), answers(`{"state":"RELEASED"}`))
		w.books.queue("a/1")
		start(t, w)
		time.Sleep(1500 * time.Millisecond) // tried at 0 and 1; next at 3
		w.books.queue("b/1")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.waits(); !reflect.DeepEqual(got, []float64{0, 1, 1.5, 3}) || w.books.open() != 0 {
			t.Errorf("got tries at %v, %d left", got, w.books.open())
		}
	})
}

func TestRelay_StoreAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.books.err = errors.New("disk full")
		w.books.queue("inv-1/1")
		start(t, w)
		synctest.Wait()
		w.books.mu.Lock()
		w.books.err = nil
		w.books.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if w.books.open() != 0 {
			t.Error("the row was not delivered once the store was back")
		}
	})
}

// TestRelay_ReadOnlyStore: rows that are due still, since nothing can be written about them, keep nobody busy.
func TestRelay_ReadOnlyStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for range 50 { // a whole batch
			w.books.queue("k")
		}
		<-w.books.queued
		w.books.readOnly = true
		calls := 0
		w.tools["release_reservation"] = func(args map[string]any) (string, error) {
			if calls++; calls == 1000 { // or it would never end
				w.books.mu.Lock()
				w.books.readOnly = false
				w.books.mu.Unlock()
			}
			return answers(`{"state":"RELEASED"}`)(args)
		}
		start(t, w)
		synctest.Wait()
		if got := len(w.made("release_reservation")); got != 50 {
			t.Errorf("%d calls at once, want one for each row", got)
		}
		w.books.mu.Lock()
		w.books.readOnly = false
		w.books.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if w.books.open() != 0 {
			t.Errorf("%d rows are left once the store can be written", w.books.open())
		}
	})
}

func TestRelay_StopWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Stop() // never started
		w.Start(t.Context())
		synctest.Wait()
		w.Stop()
		w.books.queue("inv-1/1")
		time.Sleep(time.Hour)
		if n := len(w.made("release_reservation")); n != 0 || w.books.open() != 1 {
			t.Errorf("got %d deliveries after the stop", n)
		}
	})
}
