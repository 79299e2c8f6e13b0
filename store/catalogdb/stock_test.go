package catalogdb_test

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
)

func TestReserve_HoldsAtThePriceOfTheMoment(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	before := stock(t, db, "food-001")
	got := reserve(t, db, request("k", "anna", line("food-002", 1), line("food-001", 1), line("food-001", 2)))
	want := catalog.Reservation{
		Key: "k", State: catalog.Held, ExpiresAt: clock.now().Add(15 * time.Minute),
		Lines: []catalog.Line{
			{DishID: "food-001", Name: "水煮牛肉", Quantity: 3, UnitFen: 3200},
			{DishID: "food-002", Name: "米饭", Quantity: 1, UnitFen: 200},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := stock(t, db, "food-001"); got != before-3 {
		t.Errorf("got stock %d, want %d", got, before-3)
	}
	checkBooks(t, db)
}

func TestReserve_SameKey(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	r := request("k", "anna", line("food-001", 1))
	first := reserve(t, db, r)
	again := reserve(t, db, r)
	first.Replayed = true
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %+v, want the first answer %+v", again, first)
	}
	for name, other := range map[string]catalog.Request{
		"quantity": request("k", "anna", line("food-001", 2)),
		"dish":     request("k", "anna", line("food-002", 1)),
		"owner":    request("k", "ben", line("food-001", 1)),
	} {
		_, err := db.Reserve(t.Context(), other)
		if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("other %s: got %v, want a conflict", name, err)
		}
	}
	if _, err := db.Commit(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if got := reserve(t, db, r); got.State != catalog.Committed || !got.Replayed {
		t.Errorf("got %+v, want what has become of it", got)
	}
	checkBooks(t, db)
}

func TestReserve_Invalid(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	for name, r := range map[string]catalog.Request{
		"unknown_dish": request("k", "anna", line("food-001", 1), line("nope", 1)),
		"zero":         request("k", "anna", line("food-001", 0)),
		"negative":     request("k", "anna", line("food-001", -1)),
		"too_many":     request("k", "anna", line("food-001", 100000000)),
		"empty_list":   request("k", "anna"),
		"no_key":       request("", "anna", line("food-001", 1)),
		"no_time":      {Key: "k", Owner: "anna", Lines: []catalog.Wanted{line("food-001", 1)}},
	} {
		_, err := db.Reserve(t.Context(), r)
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	if _, err := db.Reservation(t.Context(), "k"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v, want that an invalid request leaves nothing behind", err)
	}
	checkBooks(t, db)
}

func TestReserve_AllOrNothing(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	sellDownTo(t, db, "food-003", 0)
	r := request("k", "anna", line("food-001", 1), line("food-003", 2), line("food-002", 1))
	got := reserve(t, db, r)
	want := []catalog.Short{{DishID: "food-003", Name: "宫保鸡丁", Available: 0, Wanted: 2}}
	if got.State != catalog.Refused || got.Reason != catalog.ReasonOutOfStock || !reflect.DeepEqual(got.Short, want) {
		t.Errorf("got %+v, want REFUSED with %+v", got, want)
	}
	if stock(t, db, "food-001") != 40 || stock(t, db, "food-002") != 60 {
		t.Error("the other dishes were taken")
	}
	again := reserve(t, db, r)
	got.Replayed = true
	if !reflect.DeepEqual(again, got) {
		t.Errorf("got %+v, want the same refusal %+v", again, got)
	}
	checkBooks(t, db)
}

func TestReserve_Oversell(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	sellDownTo(t, db, "food-001", 5)
	var held, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			id := strconv.Itoa(i)
			got, err := db.Reserve(t.Context(), request("key-"+id, "owner-"+id, line("food-001", 1)))
			switch {
			case err != nil:
				t.Errorf("reserve: %v", err)
			case got.State == catalog.Held:
				held.Add(1)
				if got, err := db.Commit(t.Context(), "key-"+id); err != nil || got.State != catalog.Committed {
					t.Errorf("commit: got %s, %v", got.State, err)
				}
			case got.State == catalog.Refused && got.Reason == catalog.ReasonOutOfStock:
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	if held.Load() != 5 || refused.Load() != 15 || stock(t, db, "food-001") != 0 {
		t.Errorf("got %d sold, %d refused, %d left, want 5, 15, 0", held.Load(), refused.Load(), stock(t, db, "food-001"))
	}
	checkBooks(t, db)
}

func TestReserve_LostResponse(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	var wg sync.WaitGroup
	for range 10 { // ten retries of one order, some at once
		wg.Go(func() {
			if _, err := db.Reserve(t.Context(), request("k", "anna", line("food-001", 2))); err != nil {
				t.Errorf("reserve: %v", err)
			}
			if _, err := db.Commit(t.Context(), "k"); err != nil {
				t.Errorf("commit: %v", err)
			}
		})
	}
	wg.Wait()
	if got := stock(t, db, "food-001"); got != 38 {
		t.Errorf("got %d left, want one deduction: 38", got)
	}
	checkBooks(t, db)
}

func TestReserve_Limits(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	for i := range 3 {
		reserve(t, db, request(fmt.Sprint("k", i), "anna", line("food-002", 1)))
	}
	fourth := reserve(t, db, request("k4", "anna", line("food-002", 1)))
	if fourth.State != catalog.Refused || fourth.Reason != catalog.ReasonTooManyHolds {
		t.Errorf("fourth hold: got %+v", fourth)
	}
	if got := reserve(t, db, request("b1", "ben", line("food-002", 1))); got.State != catalog.Held {
		t.Errorf("another owner: got %+v", got)
	}
	if _, err := db.Commit(t.Context(), "k0"); err != nil { // what is ordered is not held
		t.Fatal(err)
	}
	if got := reserve(t, db, request("k5", "anna", line("food-002", 18))); got.State != catalog.Held {
		t.Errorf("20 portions in all: got %+v", got)
	}
	if _, err := db.Release(t.Context(), "k1", "rejected"); err != nil {
		t.Fatal(err)
	}
	got := reserve(t, db, request("k6", "anna", line("food-001", 1), line("food-003", 1)))
	if got.State != catalog.Refused || got.Reason != catalog.ReasonTooManyPortions {
		t.Errorf("21 portions in all: got %+v", got)
	}
	clock.move(time.Hour) // the holds ran out, though no sweeper came by
	if got := reserve(t, db, request("k7", "anna", line("food-001", 20))); got.State != catalog.Held {
		t.Errorf("after the holds: got %+v", got)
	}
	checkBooks(t, db)
}

func TestCommit(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	_, err := db.Commit(t.Context(), "nope")
	wantCode(t, err, fault.NotFound)

	reserve(t, db, request("k", "anna", line("food-001", 1)))
	clock.move(15*time.Minute - time.Millisecond)
	got, err := db.Commit(t.Context(), "k")
	wantState(t, got, err, catalog.Committed)
	clock.move(time.Hour)
	got, err = db.Commit(t.Context(), "k")
	wantState(t, got, err, catalog.Committed)
	if !got.Replayed {
		t.Error("a repeated commit does not say so")
	}
	got, err = db.Release(t.Context(), "k", "cancelled") // too late: the order stands
	wantState(t, got, err, catalog.Committed)
	if got := stock(t, db, "food-001"); got != 39 {
		t.Errorf("got %d left, want 39", got)
	}
	checkBooks(t, db)
}

func TestCommit_Late(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	reserve(t, db, request("k", "anna", line("food-001", 4)))
	clock.move(15 * time.Minute)
	for range 2 {
		got, err := db.Commit(t.Context(), "k")
		wantState(t, got, err, catalog.Expired)
	}
	if got := stock(t, db, "food-001"); got != 40 {
		t.Errorf("got %d left, want the stock back: 40", got)
	}
	checkBooks(t, db)
}

func TestRelease(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	reserve(t, db, request("k", "anna", line("food-001", 4)))
	for _, reason := range []string{"rejected", "another"} {
		got, err := db.Release(t.Context(), "k", reason)
		wantState(t, got, err, catalog.Released)
		if got.Reason != "rejected" {
			t.Errorf("got reason %q, want the first", got.Reason)
		}
	}
	if got := stock(t, db, "food-001"); got != 40 {
		t.Errorf("got %d left, want 40", got)
	}
	got, err := db.Commit(t.Context(), "k")
	wantState(t, got, err, catalog.Released)
	checkBooks(t, db)
}

func TestRelease_Tombstone(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	got, err := db.Release(t.Context(), "k", "cancelled")
	wantState(t, got, err, catalog.Released)
	if got.Lines == nil {
		t.Error("got nil lines")
	}
	late := reserve(t, db, request("k", "anna", line("food-001", 4))) // overtaken by its release
	if late.State != catalog.Released || stock(t, db, "food-001") != 40 {
		t.Errorf("got %+v, want RELEASED and nothing taken", late)
	}
	_, err = db.Release(t.Context(), "", "")
	wantCode(t, err, fault.Invalid)
	checkBooks(t, db)
}

func TestReturn_TwiceAtOnce(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	_, err := db.Return(t.Context(), "k")
	wantCode(t, err, fault.NotFound)
	reserve(t, db, request("k", "anna", line("food-001", 4)))
	got, err := db.Return(t.Context(), "k") // not sold yet
	wantState(t, got, err, catalog.Held)
	got, err = db.Commit(t.Context(), "k")
	wantState(t, got, err, catalog.Committed)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := db.Return(t.Context(), "k")
			wantState(t, got, err, catalog.Returned)
		})
	}
	wg.Wait()
	if got := stock(t, db, "food-001"); got != 40 {
		t.Errorf("got %d left, want the stock back once: 40", got)
	}
	checkBooks(t, db)
}

func TestDeduct(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	r := catalog.Request{Key: "k", Lines: []catalog.Wanted{line("food-001", 2)}}
	for range 2 {
		got, err := db.Deduct(t.Context(), r)
		wantState(t, got, err, catalog.Committed)
	}
	for range 2 { // without a key each call counts
		got, err := db.Deduct(t.Context(), catalog.Request{Lines: r.Lines})
		wantState(t, got, err, catalog.Committed)
		if got.Key == "" {
			t.Error("got no key")
		}
	}
	if got := stock(t, db, "food-001"); got != 34 {
		t.Errorf("got %d left, want 34", got)
	}
	sellDownTo(t, db, "food-001", 1)
	got, err := db.Deduct(t.Context(), catalog.Request{Key: "k2", Lines: r.Lines})
	wantState(t, got, err, catalog.Refused)
	checkBooks(t, db)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	reserve(t, db, request("early", "anna", line("food-001", 1)))
	clock.move(time.Minute)
	reserve(t, db, request("late", "ben", line("food-001", 2)))
	clock.move(14 * time.Minute)
	got, err := db.Reservation(t.Context(), "early") // nobody is told of a hold that is none
	wantState(t, got, err, catalog.Expired)
	if n, err := db.Expire(t.Context(), clock.now()); n != 0 || err != nil {
		t.Errorf("got %d, %v, want 0", n, err)
	}
	clock.move(time.Minute)
	if n, err := db.Expire(t.Context(), clock.now()); n != 1 || err != nil {
		t.Errorf("got %d, %v, want 1", n, err)
	}
	got, err = db.Reservation(t.Context(), "late")
	wantState(t, got, err, catalog.Expired)
	if got := stock(t, db, "food-001"); got != 40 {
		t.Errorf("got %d left, want 40", got)
	}
	checkBooks(t, db)
}

// TestStock_AnyOrder lets many clients do everything to a few keys at once.
func TestStock_AnyOrder(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 30 {
				key := strconv.Itoa((worker + i) % 6)
				var err error
				switch (worker*7 + i) % 6 {
				case 0, 1:
					_, err = db.Reserve(t.Context(), request(key, key, line("food-001", 3), line("food-00"+strconv.Itoa(2+worker%2), 2)))
				case 2:
					_, err = db.Commit(t.Context(), key)
				case 3:
					_, err = db.Release(t.Context(), key, "x")
				case 4:
					_, err = db.Return(t.Context(), key)
				case 5:
					clock.move(time.Minute)
					_, err = db.Expire(t.Context(), clock.now())
				}
				if code := fault.CodeOf(err); code != "" && code != fault.NotFound && code != fault.Conflict {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	wg.Wait()
	checkBooks(t, db)
}
