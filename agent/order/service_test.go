package order_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

func TestPrepare(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.wants = []string{"用户不吃辣"}
	p, err := w.Prepare(t.Context(), theCall())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(p.Summary), "warnings") || !strings.Contains(string(p.Summary), `"totalFen":6700`) || !strings.Contains(string(p.Warnings), "spicy") {
		t.Errorf("got summary %s and warnings %s", p.Summary, p.Warnings)
	}
	o := p.Changes[0].(order.Place).Order
	if len(p.Changes) != 1 || o.ID != "order-1" || o.UserID != "anna" || o.RunID != "run-1" || o.ThreadID != "t1" || o.InvocationID != "inv-1" ||
		o.Reservation != "inv-1/1" || o.Status != order.Placing || o.TotalFen != 6700 || len(o.Lines) != 2 || o.Lines[0].Note != "不要辣" || o.Note != "快一点" || o.Date != "2026-11-29" {
		t.Errorf("got %+v", o)
	}
	var quote, hold map[string]any
	q, h := w.made("quote_order")[0], w.made("reserve_stock")[0]
	if json.Unmarshal(q.Args, &quote) != nil || json.Unmarshal(h.Args, &hold) != nil {
		t.Fatal("arguments cannot be read")
	}
	if !reflect.DeepEqual(quote["preferences"], []any{"用户不吃辣"}) || quote["note"] != "快一点" || q.Source != "order" || q.UserID != "anna" || q.RunID != "run-1" {
		t.Errorf("got quote %s of %+v", q.Args, q)
	}
	want := map[string]any{
		"key": "inv-1/1", "group": "inv-1", "owner": "anna", "ttlSeconds": 900.0,
		"lines": []any{map[string]any{"dishId": "food-001", "quantity": 2.0}, map[string]any{"dishId": "food-002", "quantity": 1.0}},
	}
	if !reflect.DeepEqual(hold, want) {
		t.Errorf("got %v, want %v", hold, want)
	}
}

// TestPrepare_SameDishTwice: two lines of a dish, with different notes, are one line of stock.
func TestPrepare_SameDishTwice(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.tools["quote_order"] = answers(`{"lines":[{"dishId":"a","quantity":2,"unitFen":5,"note":"x"},{"dishId":"b","quantity":1,"unitFen":7},{"dishId":"a","quantity":3,"unitFen":5,"note":"y"}],"totalFen":32}`)
	w.tools["reserve_stock"] = func(args map[string]any) (string, error) {
		want := []any{map[string]any{"dishId": "a", "quantity": 5.0}, map[string]any{"dishId": "b", "quantity": 1.0}}
		if !reflect.DeepEqual(args["lines"], want) {
			t.Errorf("got %v, want %v", args["lines"], want)
		}
		return `{"state":"HELD","lines":[{"dishId":"a","unitFen":5},{"dishId":"b","unitFen":7}]}`, nil
	}
	if p, err := w.Prepare(t.Context(), theCall()); err != nil || len(p.Changes[0].(order.Place).Order.Lines) != 3 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPrepare_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool, answer string
		code               fault.Code // of a tool that fails
		want               fault.Code
		says               string
	}{
		{"quote_refused", "quote_order", "", fault.Invalid, fault.Invalid, "it is invalid"},
		{"food_agent_away", "quote_order", "", fault.Unavailable, fault.Unavailable, "it is unavailable"},
		{"quote_of_nothing", "quote_order", `{"lines":[]}`, "", fault.Internal, "quoted nothing"},
		{"quote_is_no_json", "quote_order", `好的`, "", fault.Internal, "cannot be read"},
		{"catalog_away", "reserve_stock", "", fault.Unavailable, fault.Unavailable, "it is unavailable"},
		{"too_few", "reserve_stock", `{"state":"REFUSED","reason":"out_of_stock","short":[{"name":"水煮牛肉","available":1,"wanted":2}]}`, "", fault.Conflict, "水煮牛肉只剩 1 份，不够 2 份 / only 1 of Sichuan boiled beef left, 2 wanted"},
		{"sold_out", "reserve_stock", `{"state":"REFUSED","reason":"out_of_stock","short":[{"name":"水煮牛肉","available":0,"wanted":2}]}`, "", fault.Conflict, "水煮牛肉今天已售完 / Sichuan boiled beef is sold out today"},
		{"too_many_holds", "reserve_stock", `{"state":"REFUSED","reason":"too_many_holds"}`, "", fault.Conflict, "three orders waiting"},
		{"too_many_portions", "reserve_stock", `{"state":"REFUSED","reason":"too_many_portions"}`, "", fault.Conflict, "20 portions"},
		{"expired_before", "reserve_stock", `{"state":"EXPIRED"}`, "", fault.Conflict, "EXPIRED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.tools[tt.tool] = answers(tt.answer)
			if tt.code != "" {
				w.tools[tt.tool] = fails(tt.code)
			}
			p, err := w.Prepare(t.Context(), theCall())
			wantCode(t, err, tt.want)
			lost := tt.name == "catalog_away" // what is held then is not known, so its release is queued
			if !strings.Contains(fault.MessageOf(err), tt.says) || (p.Changes != nil) != lost {
				t.Errorf("got %v, %+v, want %q", err, p, tt.says)
			}
		})
	}
}

// TestPrepare_AgainAfterACrash: the portions that the first try holds must not count as sold to others,
// and must not stay held when the order cannot be prepared any more.
func TestPrepare_AgainAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.tools["get_reservation"] = answers(`{"key":"inv-1/1","state":"HELD"}`)
	w.tools["quote_order"] = func(args map[string]any) (string, error) {
		if args["held"] != true {
			return "", fault.New(fault.Conflict, "sold out")
		}
		return quoted, nil
	}
	if p, err := w.Prepare(t.Context(), theCall()); err != nil || len(p.Changes) != 1 {
		t.Errorf("the last portion: got %+v, %v, want it prepared", p, err)
	}
	w.tools["quote_order"] = fails(fault.Invalid)
	p, err := w.Prepare(t.Context(), theCall())
	wantCode(t, err, fault.Invalid)
	wantRejected(t, p.Changes, "invalid")
}

// TestPrepare_CatalogAwayAfterACrash: when nobody can say whether the first try holds portions, their release is
// queued: they must not stay held for an order that was refused.
func TestPrepare_CatalogAwayAfterACrash(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world) (capability.Prepared, error){
		"place_order": func(w *world) (capability.Prepared, error) { return w.Prepare(t.Context(), theCall()) },
		"call_food":   func(w *world) (capability.Prepared, error) { return w.PrepareText(t.Context(), theCall()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for _, tool := range []string{"quote_order", "food_intent", "get_reservation"} {
				w.tools[tool] = fails(fault.Unavailable)
			}
			p, err := prepare(w)
			wantCode(t, err, fault.Unavailable)
			wantRejected(t, p.Changes, "unavailable")
		})
	}
}

func TestPrepare_PriceChanged(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another_price": strings.Replace(held, "3200", "3500", 1),
		"a_line_lacks":  `{"state":"HELD","lines":[{"dishId":"food-001","unitFen":3200}]}`,
	} {
		w := newWorld()
		w.tools["reserve_stock"] = answers(answer)
		p, err := w.Prepare(t.Context(), theCall())
		wantCode(t, err, fault.Conflict)
		t.Log(name)
		wantRejected(t, p.Changes, "conflict")
	}
}

func TestPrepare_PreferencesFail(t *testing.T) {
	t.Parallel()
	w := newWorld()
	disk := errors.New("disk full")
	w.lost = disk
	if _, err := w.Prepare(t.Context(), theCall()); !errors.Is(err, disk) || len(w.made("quote_order"))+len(w.made("reserve_stock")) != 0 {
		t.Errorf("got %v after %d calls", err, len(w.calls))
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.placed(t)
	for range 2 { // a crash after the commit makes the engine settle again
		result, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(quoted), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			OrderID, Status, Total, Note, Date string
			TotalFen                           int64
			Lines                              []order.Line
		}
		if err := json.Unmarshal(result, &got); err != nil || got.OrderID != "order-1" || got.Status != "CONFIRMED" || got.Total != "67.00" ||
			got.TotalFen != 6700 || len(got.Lines) != 2 || got.Note != "快一点" || got.Date != "2026-11-29" {
			t.Errorf("got %s, %v", result, err)
		}
		if c, ok := changes[0].(order.Confirm); !ok || len(changes) != 1 || c.InvocationID != "inv-1" || c.At.IsZero() {
			t.Errorf("got %+v", changes)
		}
	}
	commits := w.made("commit_reservation")
	if len(commits) != 2 || string(commits[0].Args) != `{"key":"inv-1/1"}` {
		t.Errorf("got %+v, want two commits of the hold", commits)
	}
}

func wantRejected(t *testing.T, changes []capability.Change, reason string) {
	t.Helper()
	if len(changes) != 1 {
		t.Fatalf("got %+v, want one change", changes)
	}
	if c, ok := changes[0].(order.Reject); !ok || c.InvocationID != "inv-1" || c.Reason != reason || c.At.IsZero() {
		t.Errorf("got %+v, want a rejection because of %s", changes, reason)
	}
}

// TestSettle_OrderDataMustEqualTheQuote: the person agreed to exactly that (design, section 7).
func TestSettle_OrderDataMustEqualTheQuote(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string][2]string{
		"price":    {`"unitFen":3200`, `"unitFen":3300`},
		"quantity": {`"quantity":2`, `"quantity":3`},
		"dish":     {`food-002`, `food-003`},
		"note":     {`不要辣`, `加辣`},
		"total":    {`"totalFen":6700`, `"totalFen":6800`},
		"date":     {`"date":"2026-11-29"`, `"date":"2026-11-30"`}, // a yes after midnight
		"wish":     {`"note":"快一点"`, `"note":""`},
		"more":     {`"lines":[`, `"lines":[{"dishId":"food-009","quantity":1},`},
	} {
		w := newWorld()
		w.placed(t)
		_, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(strings.Replace(quoted, replace[0], replace[1], 1)), nil)
		wantCode(t, err, fault.Conflict)
		wantRejected(t, changes, "conflict")
		if n := len(w.made("commit_reservation")); n != 0 {
			t.Errorf("%s: got %d commits, want none", name, n)
		}
	}
	w := newWorld()
	w.placed(t)
	_, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(`好的`), nil)
	wantCode(t, err, fault.Internal)
	wantRejected(t, changes, "internal")
}

// TestSettle_CommittedBeforeTheCrash: a call that is made again after a crash may fail for any reason, but
// what the catalog committed stands.
func TestSettle_CommittedBeforeTheCrash(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"the_agent_is_away":  fault.New(fault.Unavailable, "no answer"),
		"the_price_is_other": nil, // seen by the comparison
	} {
		w := newWorld()
		w.placed(t)
		w.tools["release_reservation"] = answers(`{"key":"inv-1/1","state":"COMMITTED"}`)
		answer := strings.Replace(quoted, `"unitFen":3200`, `"unitFen":3300`, 1)
		result, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(answer), failure)
		if _, ok := changes[0].(order.Confirm); err != nil || !ok || !strings.Contains(string(result), `"CONFIRMED"`) {
			t.Errorf("%s: got %s, %+v, %v, want the order confirmed", name, result, changes, err)
		}
	}
	w := newWorld()
	w.placed(t)
	w.tools["release_reservation"] = fails(fault.Unavailable)
	failure := fault.New(fault.Timeout, "too slow")
	if _, changes, err := w.Settle(t.Context(), theCall(), nil, failure); !errors.Is(err, failure) || changes != nil {
		t.Errorf("got %+v, %v, want it left open for the reconciler", changes, err)
	}
}

func TestSettle_TheCallFailed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.placed(t)
	failure := fault.New(fault.Timeout, "too slow")
	_, changes, err := w.Settle(t.Context(), theCall(), nil, failure)
	if !errors.Is(err, failure) || len(w.made("commit_reservation")) != 0 {
		t.Errorf("got %v, want the call's own failure and no commit", err)
	}
	wantRejected(t, changes, "timeout")
}

func TestSettle_TheHoldIsGone(t *testing.T) {
	t.Parallel()
	for state, reason := range map[string]string{"EXPIRED": "hold_expired", "RELEASED": "hold_released", "RETURNED": "hold_returned"} {
		w := newWorld()
		w.placed(t)
		w.tools["commit_reservation"] = answers(`{"state":"` + state + `"}`)
		_, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(quoted), nil)
		wantCode(t, err, fault.Conflict)
		wantRejected(t, changes, reason)
	}
}

func TestSettle_OrderNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.books.err = errors.New("disk full")
	if _, changes, err := w.Settle(t.Context(), theCall(), json.RawMessage(quoted), nil); err == nil || changes != nil || len(w.calls) != 0 {
		t.Errorf("got %+v, %v", changes, err)
	}
}

func TestDismiss(t *testing.T) {
	t.Parallel()
	w := newWorld()
	wantRejected(t, w.Dismiss(theCall(), "expired"), "expired")
}

func TestOrder_JSON(t *testing.T) {
	t.Parallel()
	w := newWorld()
	raw, err := json.Marshal(w.placed(t))
	var doc map[string]any
	if err != nil || json.Unmarshal(raw, &doc) != nil || doc["total"] != "67.00" || doc["totalFen"] != 6700.0 || doc["status"] != "PLACING" || doc["threadId"] != "t1" || len(doc["lines"].([]any)) != 2 {
		t.Errorf("got %s, %v", raw, err)
	}
}
