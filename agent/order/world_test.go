package order_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// books is a store of orders and deliveries in memory.
type books struct {
	readOnly  bool // nothing can be written of a delivery
	mu        sync.Mutex
	orders    map[string]order.Order
	unsettled []order.Order
	due       []row
	applied   []capability.Change
	queued    chan struct{}
	quotes    int  // after the first
	settled   bool // the order is no longer PLACING
	err       error
}

type row struct {
	order.Delivery
	at   time.Time
	done bool
}

func newBooks() *books {
	return &books{orders: map[string]order.Order{}, queued: make(chan struct{}, 1)}
}

func (b *books) OrderByInvocation(_ context.Context, id string) (order.Order, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.orders[id]
	if b.err == nil && !ok {
		return order.Order{}, agent.ErrNotFound
	}
	return o, b.err
}

func (b *books) Order(_ context.Context, userID, id string) (order.Order, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.orders {
		if o.ID == id && o.UserID == userID {
			return o, nil
		}
	}
	return order.Order{}, agent.ErrNotFound
}

func (b *books) CancelOrder(_ context.Context, id, reason string, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, o := range b.orders {
		if o.ID == id && o.Status == order.Confirmed {
			o.Status, o.Reason, o.UpdatedAt = order.Cancelled, reason, at
			b.orders[key] = o
			b.due = append(b.due, row{Delivery: order.Delivery{N: int64(len(b.due)), Key: o.Reservation, Op: order.Return, Reason: reason, UserID: o.UserID}})
			return b.err
		}
	}
	return agent.ErrStale
}

// Requote counts from the first quote on, and notes the release as a row that is due later.
func (b *books) Requote(_ context.Context, o order.Order, release time.Time) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.settled {
		return 0, agent.ErrStale
	}
	b.quotes++
	b.due = append(b.due, row{at: release, Delivery: order.Delivery{
		N: int64(len(b.due)), Key: order.Reservation(o.InvocationID, b.quotes+1), Op: "release_reservation", UserID: o.UserID,
	}})
	return b.quotes + 1, b.err
}

func (b *books) Unsettled(context.Context) ([]order.Order, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unsettled, b.err
}

func (b *books) Apply(_ context.Context, changes ...capability.Change) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.applied, b.unsettled = append(b.applied, changes...), nil
		b.makeDue(changes)
	}
	return b.err
}

func (b *books) makeDue(changes []capability.Change) {
	for _, change := range changes {
		for i := range b.due {
			if a, ok := change.(order.Abandon); ok && b.due[i].Key == a.Reservation {
				b.due[i].at = a.At
			}
		}
	}
}

func (b *books) Outbox(_ context.Context, userID string, now time.Time, limit int) ([]order.Delivery, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []order.Delivery
	for _, r := range b.due {
		if !r.done && !r.at.After(now) && len(out) < limit && (userID == "" || r.UserID == userID) {
			out = append(out, r.Delivery)
		}
	}
	return out, b.err
}

func (b *books) Delivered(_ context.Context, n int64, _ time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readOnly {
		return errors.New("the store cannot be written")
	}
	b.due[n].done = true
	return nil
}

func (b *books) Retry(_ context.Context, n int64, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readOnly {
		return errors.New("the store cannot be written")
	}
	b.due[n].at = at
	b.due[n].Attempts++
	return nil
}

func (b *books) OutboxChanged() <-chan struct{} { return b.queued }

// queue adds a delivery and gives the token.
func (b *books) queue(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due = append(b.due, row{Delivery: order.Delivery{N: int64(len(b.due)), Key: key, Op: "release_reservation", Reason: "rejected", UserID: "anna"}})
	select {
	case b.queued <- struct{}{}:
	default:
	}
}

func (b *books) changes() []capability.Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.applied
}

func (b *books) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, r := range b.due {
		if !r.done {
			n++
		}
	}
	return n
}

// world is the service with its store, and with tools that answer as the test says.
type world struct {
	*order.Service
	books *books
	tools map[string]func(args map[string]any) (string, error)
	wants []string // preferences
	lost  error    // of reading them

	mu    sync.Mutex
	calls []capability.Call
	times []time.Time
}

const quoted = `{"lines":[{"dishId":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","quantity":2,"unitFen":3200,"amountFen":6400,"note":"不要辣"},` +
	`{"dishId":"food-002","name":"米饭","nameEn":"Rice","quantity":1,"unitFen":300,"amountFen":300}],"totalFen":6700,"total":"67.00","date":"2026-11-29","note":"快一点",` +
	`"warnings":[{"code":"spicy","dishId":"food-001"}]}`

const held = `{"key":"inv-1/1","state":"HELD","lines":[{"dishId":"food-001","quantity":2,"unitFen":3200},{"dishId":"food-002","quantity":1,"unitFen":300}]}`

func newWorld() *world {
	w := &world{books: newBooks(), tools: map[string]func(map[string]any) (string, error){
		"quote_order":         answers(quoted),
		"get_reservation":     fails(fault.NotFound),
		"reserve_stock":       answers(held),
		"commit_reservation":  answers(`{"state":"COMMITTED"}`),
		"release_reservation": answers(`{"state":"RELEASED"}`),
	}}
	w.Service = order.New(order.Deps{
		Store: w.books, Call: w.call,
		Preferences:     func(context.Context, string) ([]string, error) { return w.wants, w.lost },
		ConfirmationTTL: 5 * time.Minute, Zone: time.UTC, Now: time.Now,
		NewID: func(kind string) string { return kind + "-1" },
	})
	return w
}

// answers gives a result; one about a reservation names the one that was asked for, as the catalog does.
func answers(result string) func(map[string]any) (string, error) {
	return func(args map[string]any) (string, error) {
		key, asked := args["key"].(string)
		if !asked || strings.Contains(result, `"key"`) {
			return result, nil
		}
		return `{"key":"` + key + `",` + strings.TrimPrefix(result, "{"), nil
	}
}

func fails(code fault.Code) func(map[string]any) (string, error) {
	return func(map[string]any) (string, error) { return "", fault.New(code, "it is %s", code) }
}

// inTurn answers call by call; the last answer stays.
func inTurn(tools ...func(map[string]any) (string, error)) func(map[string]any) (string, error) {
	n := 0
	return func(args map[string]any) (string, error) {
		tool := tools[min(n, len(tools)-1)]
		n++
		return tool(args)
	}
}

func (w *world) call(_ context.Context, c capability.Call) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls, w.times = append(w.calls, c), append(w.times, time.Now())
	var args map[string]any
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, err
	}
	tool := w.tools[c.Name]
	if tool == nil {
		return nil, fmt.Errorf("no tool %s", c.Name)
	}
	result, err := tool(args)
	return json.RawMessage(result), err
}

// made lists the calls of a tool.
func (w *world) made(name string) []capability.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []capability.Call
	for _, c := range w.calls {
		if c.Name == name {
			out = append(out, c)
		}
	}
	return out
}

// waits lists the seconds from the first call of anything to each call.
func (w *world) waits() []float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []float64
	for _, at := range w.times {
		out = append(out, at.Sub(w.times[0]).Seconds())
	}
	return out
}

func theCall() capability.Call {
	return capability.Call{
		ID: "inv-1", Name: "place_order", UserID: "anna", ThreadID: "t1", RunID: "run-1", Source: "model",
		Args: json.RawMessage(`{"items":[{"dish":"水煮牛肉","quantity":2,"note":"不要辣"},{"dish":"米饭","quantity":1}],"note":"快一点"}`),
	}
}

// placed prepares the call and puts the order into the books, as the engine does.
func (w *world) placed(t *testing.T) order.Order {
	t.Helper()
	p, err := w.Prepare(t.Context(), theCall())
	if err != nil {
		t.Fatal(err)
	}
	o := p.Changes[0].(order.Place).Order
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	w.books.orders[o.InvocationID] = o
	return o
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
