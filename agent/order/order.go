// Package order keeps an order and its stock exact: quote and hold before the person is asked, commit
// after the yes, release otherwise (design, section 7). The catalog is the only judge of stock: an order
// is CONFIRMED if and only if its reservation is COMMITTED. The package must not know the run engine,
// SQL, or how the catalog and the Food agent are reached.
package order

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// Status is an order's state.
type Status string

// The states of an order.
const (
	Placing   Status = "PLACING"
	Confirmed Status = "CONFIRMED"
	Rejected  Status = "REJECTED"
	Cancelled Status = "CANCELLED"
)

// Line is one dish of an order. Money is integer fen.
type Line struct {
	DishID    string `json:"dishId"`
	Name      string `json:"name"`
	NameEn    string `json:"nameEn"`
	Quantity  int    `json:"quantity"`
	UnitFen   int64  `json:"unitFen"`
	AmountFen int64  `json:"amountFen"`
	Note      string `json:"note,omitempty"`
}

// Order is what was ordered. There is one for each invocation of place_order that was asked about.
type Order struct {
	ID           string
	UserID       string
	RunID        string
	ThreadID     string
	InvocationID string
	Reservation  string // the catalog's key
	Status       Status
	Reason       string
	Date         string
	Note         string
	TotalFen     int64
	Lines        []Line
	Committing   bool // the person said yes, and the catalog did not say what became of the commit
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// MarshalJSON writes an order as the API shows it.
func (o Order) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"id": o.ID, "status": o.Status, "reason": o.Reason, "date": o.Date, "note": o.Note,
		"totalFen": o.TotalFen, "total": text.Yuan(o.TotalFen), "lines": o.Lines, "runId": o.RunID,
		"threadId": o.ThreadID, "invocationId": o.InvocationID, "createdAt": o.CreatedAt, "updatedAt": o.UpdatedAt,
	})
}

// The changes that go into the transaction of the step that caused them.
type (
	// Place stores a new order in the state PLACING.
	Place struct{ Order Order }
	// Replace puts another quote, and the hold made for it, in place of those of a PLACING order, and queues
	// the release of the hold Old. It fails as stale when either is no longer there to be replaced.
	Replace struct {
		Order  Order
		Old    string
		Reason string
	}
	// Abandon makes the release of a hold due that no order has taken over.
	Abandon struct {
		Reservation string
		At          time.Time
	}
	// Committing notes of a PLACING order that its commit was sent and not answered.
	Committing struct{ InvocationID string }
	// Confirm takes a PLACING order to CONFIRMED.
	Confirm struct {
		InvocationID string
		At           time.Time
	}
	// Reject takes a PLACING order to REJECTED and queues the release of its reservation. Without an order
	// it only queues the release of Reservation; an order that is settled already stays as it is.
	Reject struct {
		InvocationID string
		UserID       string
		Reservation  string
		Reason       string
		At           time.Time
	}
)

// Change marks the type as one that the store writes with a step.
func (Place) Change() {}

// Change marks the type as one that the store writes with a step.
func (Replace) Change() {}

// Change marks the type as one that the store writes with a step.
func (Abandon) Change() {}

// Change marks the type as one that the store writes with a step.
func (Committing) Change() {}

// Change marks the type as one that the store writes with a step.
func (Confirm) Change() {}

// Change marks the type as one that the store writes with a step.
func (Reject) Change() {}

// Delivery is an outbox row: a call that is made at least once, for the call of place_order whose key it
// is. RunID, ThreadID and TraceID are empty when that run is gone.
type Delivery struct {
	N        int64
	Key      string
	Op       Op
	Reason   string
	UserID   string
	RunID    string
	ThreadID string
	TraceID  string
	Attempts int
}

// Op is what is delivered: the catalog's tool.
type Op string

// The operations of the outbox.
const (
	Release Op = "release_reservation" // gives a hold back
	Return  Op = "return_stock"        // gives a committed reservation's portions back
)

// Store keeps orders and their outbox.
type Store interface {
	OrderByInvocation(ctx context.Context, invocationID string) (Order, error)
	Order(ctx context.Context, userID, id string) (Order, error)
	// CancelOrder takes a CONFIRMED order to CANCELLED and queues the return of its portions. agent.ErrStale:
	// it is not CONFIRMED.
	CancelOrder(ctx context.Context, id, reason string, at time.Time) error
	// Requote counts one more quote of a PLACING order and gives its number n. In the same transaction it
	// queues the release of the hold <invocation>/n for a later time, so that a hold which no Replace takes
	// over ends. agent.ErrStale: the order is no longer PLACING.
	Requote(ctx context.Context, o Order, release time.Time) (n int, err error)
	// Unsettled lists the PLACING orders whose invocation has ended: a crash or an unreachable catalog
	// kept their outcome from being written.
	Unsettled(ctx context.Context) ([]Order, error)
	Apply(ctx context.Context, changes ...capability.Change) error
	// Outbox lists the deliveries that are due, of a user or, without one, of all, oldest first.
	Outbox(ctx context.Context, userID string, now time.Time, limit int) ([]Delivery, error)
	Delivered(ctx context.Context, n int64, at time.Time) error
	Retry(ctx context.Context, n int64, at time.Time) error
	// OutboxChanged gives a token after a transaction that queued something, or that ended a call whose order
	// has no outcome yet.
	OutboxChanged() <-chan struct{}
}
