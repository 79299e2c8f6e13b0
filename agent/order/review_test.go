package order_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// theEdit is the call with one portion of beef instead of two.
func theEdit() capability.Call {
	c := theCall()
	c.Proposed, c.Args = c.Args, json.RawMessage(strings.Replace(string(c.Args), `"quantity":2`, `"quantity":1`, 1))
	return c
}

const (
	fewer     = `{"lines":[{"dishId":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","quantity":1,"unitFen":3200,"amountFen":3200,"note":"不要辣"}],"totalFen":3200,"total":"32.00","date":"2026-11-29"}`
	fewerHeld = `{"key":"inv-1/2","state":"HELD","lines":[{"dishId":"food-001","quantity":1,"unitFen":3200}]}`
)

// quotes lets the world quote and hold otherwise from now on.
func (w *world) quotes(quote, hold string) {
	w.tools["quote_order"], w.tools["reserve_stock"] = answers(quote), answers(hold)
}

// TestReview_NothingChanged: a plain yes goes on with the hold that there is, and holds nothing more.
func TestReview_NothingChanged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.placed(t)
	r, err := w.Review(t.Context(), theCall())
	if err != nil || r.Ask || r.Changes != nil || r.Drop != nil || len(w.made("reserve_stock")) != 1 || w.books.open() != 0 {
		t.Errorf("got %+v, %v, and %d holds", r, err, len(w.made("reserve_stock")))
	}
	var args map[string]any
	if err := json.Unmarshal(w.made("quote_order")[1].Args, &args); err != nil || args["held"] != true {
		t.Errorf("quoted with %v, want that its own portions are held", args)
	}
}

// TestReview_Edited: what follows from the edit is held under the next n, as an alternative, and takes the
// order's place with the decision.
func TestReview_Edited(t *testing.T) {
	t.Parallel()
	w := newWorld()
	before := w.placed(t)
	w.quotes(fewer, fewerHeld)
	r, err := w.Review(t.Context(), theEdit())
	if err != nil || r.Ask || !strings.Contains(string(r.Summary), `"totalFen":3200`) || len(r.Changes) != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	c := r.Changes[0].(order.Replace)
	if c.Old != "inv-1/1" || c.Order.ID != before.ID || c.Order.Reservation != "inv-1/2" || c.Order.TotalFen != 3200 || len(c.Order.Lines) != 1 || c.Order.Note != "" {
		t.Errorf("got %+v", c)
	}
	var hold map[string]any
	if err := json.Unmarshal(w.made("reserve_stock")[1].Args, &hold); err != nil || hold["key"] != "inv-1/2" || hold["group"] != "inv-1" || hold["owner"] != "anna" {
		t.Errorf("held with %v, %v", hold, err)
	}
	if w.books.open() != 1 {
		t.Errorf("%d releases are queued for the hold, want one for the case of a crash", w.books.open())
	}
}

// TestReview_AsksAgain: at another price, for another day or for a dish that was on no card, a yes does not
// count yet.
func TestReview_AsksAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ quote, hold string }{
		"another_price": {strings.Replace(fewer, `"unitFen":3200`, `"unitFen":3300`, 1), strings.Replace(fewerHeld, "3200", "3300", 1)},
		"cheaper":       {strings.Replace(fewer, `"unitFen":3200`, `"unitFen":100`, 1), strings.Replace(fewerHeld, "3200", "100", 1)},
		"another_day":   {strings.Replace(fewer, "11-29", "11-30", 1), fewerHeld},
		"another_name":  {strings.Replace(fewer, "水煮牛肉", "水煮鱼", 1), fewerHeld},
		"another_dish":  {strings.Replace(fewer, "food-001", "food-003", 1), strings.Replace(fewerHeld, "food-001", "food-003", 1)},
	} {
		w := newWorld()
		w.placed(t)
		w.quotes(c.quote, c.hold)
		if r, err := w.Review(t.Context(), theEdit()); err != nil || !r.Ask || len(r.Changes) != 1 {
			t.Errorf("%s: got %+v, %v, want that the person is asked again", name, r, err)
		}
	}
}

// TestReview_Refused: nothing of an edit that cannot be stays, and the order is as it was.
func TestReview_Refused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  string
		does  func(map[string]any) (string, error)
		code  fault.Code
		holds bool // something may be held
	}{
		"unknown_dish":    {"quote_order", fails(fault.NotFound), fault.NotFound, false},
		"sold_out":        {"reserve_stock", answers(`{"state":"REFUSED","short":[{"name":"水煮牛肉","available":2,"wanted":3}]}`), fault.Conflict, true},
		"already_placed":  {"reserve_stock", answers(`{"state":"REFUSED","reason":"group_committed"}`), fault.Conflict, true},
		"catalog_away":    {"reserve_stock", fails(fault.Unavailable), fault.Unavailable, true},
		"price_just_then": {"reserve_stock", answers(strings.Replace(fewerHeld, "3200", "3300", 1)), fault.Conflict, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.placed(t)
				w.quotes(fewer, fewerHeld)
				w.tools[c.tool] = c.does
				r, err := w.Review(t.Context(), theEdit())
				wantCode(t, err, c.code)
				if r.Changes != nil {
					t.Errorf("got %+v, want no change", r.Changes)
				}
				start(t, w)
				synctest.Wait()
				if got := len(w.made("release_reservation")); (got == 1) != c.holds || w.books.open() != 0 {
					t.Errorf("%d releases, want the possible hold given back at once", got)
				}
			})
		})
	}
}

// TestReview_Dropped: a review that comes to nothing gives back what it holds.
func TestReview_Dropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.placed(t)
		w.quotes(fewer, fewerHeld)
		r, err := w.Review(t.Context(), theEdit())
		if err != nil {
			t.Fatal(err)
		}
		start(t, w)
		synctest.Wait()
		if n := len(w.made("release_reservation")); n != 0 {
			t.Errorf("%d releases while the decision is written", n)
		}
		r.Drop(t.Context())
		w.books.queued <- struct{}{} // as the store tells it
		synctest.Wait()
		if got := w.made("release_reservation"); len(got) != 1 || !strings.Contains(string(got[0].Args), "inv-1/2") {
			t.Errorf("got %+v", got)
		}
	})
}

// TestReview_Crash: a hold that no decision takes over ends by itself.
func TestReview_Crash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.placed(t)
		w.quotes(fewer, fewerHeld)
		if _, err := w.Review(t.Context(), theEdit()); err != nil {
			t.Fatal(err)
		}
		start(t, w) // the next process
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if n := len(w.made("release_reservation")); n != 1 || w.books.open() != 0 {
			t.Errorf("got %d releases", n)
		}
	})
}

func TestReview_OrderNoLongerWaits(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.placed(t)
	w.books.settled = true
	w.quotes(fewer, fewerHeld)
	_, err := w.Review(t.Context(), theEdit())
	wantCode(t, err, fault.Conflict)
	if n := len(w.made("reserve_stock")); n != 1 {
		t.Errorf("%d holds, want none for the edit", n)
	}
	w.books.orders = map[string]order.Order{}
	if _, err := w.Review(t.Context(), theEdit()); err == nil {
		t.Error("an order that is not there was reviewed")
	}
}

// TestReviewText: a sentence may be edited within what it was: an order, or none.
func TestReviewText(t *testing.T) {
	t.Parallel()
	const orders = `{"lines":[{"dishId":"food-001","quantity":1,"note":"不要辣"}],"note":""}`
	sentence := theCall()
	sentence.Name, sentence.Args = "call_food", json.RawMessage(`{"text":"一份水煮牛肉，不要辣"}`)

	w := newWorld()
	w.placed(t)
	w.tools["food_intent"] = answers(orders)
	w.quotes(fewer, fewerHeld)
	if r, err := w.ReviewText(t.Context(), sentence); err != nil || len(r.Changes) != 1 {
		t.Errorf("an order: got %+v, %v", r, err)
	}
	var items map[string]any
	if err := json.Unmarshal(w.made("quote_order")[1].Args, &items); err != nil || !reflect.DeepEqual(items["items"], []any{map[string]any{"dish": "food-001", "quantity": 1.0, "note": "不要辣"}}) {
		t.Errorf("quoted %v", items)
	}
	w.tools["food_intent"] = answers(`{"lines":[]}`)
	_, err := w.ReviewText(t.Context(), sentence)
	wantCode(t, err, fault.Invalid)

	w = newWorld()
	w.tools["food_intent"] = answers(`{"lines":[]}`)
	if r, err := w.ReviewText(t.Context(), sentence); err != nil || r.Changes != nil {
		t.Errorf("a recommendation: got %+v, %v", r, err)
	}
	w.tools["food_intent"] = answers(orders)
	_, err = w.ReviewText(t.Context(), sentence)
	wantCode(t, err, fault.Invalid)
	w.tools["food_intent"] = fails(fault.Unavailable)
	_, err = w.ReviewText(t.Context(), sentence)
	wantCode(t, err, fault.Unavailable)
	w.tools["food_intent"] = answers(orders)
	disk := errors.New("disk full")
	w.books.err = disk
	if _, err := w.ReviewText(t.Context(), sentence); !errors.Is(err, disk) {
		t.Errorf("got %v", err)
	}
}
