package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"agentmesh/app/platform/fault"
)

// State is where a reservation stands. HELD leads to COMMITTED, RELEASED or EXPIRED, and COMMITTED to
// RETURNED; the others are final.
type State string

// The states of a reservation.
const (
	Held      State = "HELD"
	Committed State = "COMMITTED"
	Released  State = "RELEASED"
	Expired   State = "EXPIRED"
	Returned  State = "RETURNED"
	Refused   State = "REFUSED"
)

// What one owner may hold at a time, and the longest hold.
const (
	MaxHolds    = 3
	MaxPortions = 20
	MaxTTL      = 7 * 24 * time.Hour
)

// Why a reservation was refused.
const (
	ReasonOutOfStock      = "out_of_stock"
	ReasonTooManyHolds    = "too_many_holds"
	ReasonTooManyPortions = "too_many_portions"
	ReasonGroupCommitted  = "group_committed"
)

// Wanted is one line of a request.
type Wanted struct {
	DishID   string `json:"dishId"`
	Quantity int    `json:"quantity"`
}

// Request asks for portions under a key that makes it repeatable. The limits are the owner's; a request
// without owner has none. Holds of one group are alternatives: together they take what the largest takes,
// and once one is committed the others are released. Without a group a request is one of its own.
type Request struct {
	Key   string
	Group string
	Owner string
	Lines []Wanted
	TTL   time.Duration
}

// Normal checks a request and gives it with one line per dish, in the order of ids.
func (r Request) Normal() (Request, error) {
	switch {
	case r.Key == "":
		return r, fault.New(fault.Invalid, "a reservation needs a key")
	case len(r.Lines) == 0:
		return r, fault.New(fault.Invalid, "a reservation needs at least one line")
	case r.TTL <= 0 || r.TTL > MaxTTL:
		return r, fault.New(fault.Invalid, "a hold lasts from one second to %s", MaxTTL)
	}
	sums := map[string]int{}
	for _, line := range r.Lines {
		if line.Quantity < 1 || line.Quantity > MaxPortions {
			return r, fault.New(fault.Invalid, "the quantity of %s must be from 1 to %d", line.DishID, MaxPortions)
		}
		sums[line.DishID] += line.Quantity
	}
	r.Group = cmp.Or(r.Group, r.Key)
	r.Lines = make([]Wanted, 0, len(sums))
	for id, quantity := range sums {
		r.Lines = append(r.Lines, Wanted{DishID: id, Quantity: quantity})
	}
	slices.SortFunc(r.Lines, func(a, b Wanted) int { return cmp.Compare(a.DishID, b.DishID) })
	return r, nil
}

// Portions counts the portions of all lines.
func (r Request) Portions() int {
	n := 0
	for _, line := range r.Lines {
		n += line.Quantity
	}
	return n
}

// Hash stands for what a normal request asks for and by whom: the same key with another hash is a conflict.
func (r Request) Hash() string {
	text, _ := json.Marshal(struct { // strings and numbers: cannot fail
		Owner string
		Lines []Wanted
	}{r.Owner, r.Lines})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Line is one dish of a reservation at the price it was reserved at.
type Line struct {
	DishID   string `json:"dishId"`
	Name     string `json:"name"`
	Quantity int    `json:"quantity"`
	UnitFen  int64  `json:"unitFen"`
}

// Short is a dish of which there is less than was wanted.
type Short struct {
	DishID    string `json:"dishId"`
	Name      string `json:"name"`
	Available int    `json:"available"`
	Wanted    int    `json:"wanted"`
}

// Reservation is the answer of every stock tool. Replayed says that this call changed nothing.
type Reservation struct {
	Key       string    `json:"key"`
	State     State     `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Lines     []Line    `json:"lines"`
	Short     []Short   `json:"short,omitempty"`
	Replayed  bool      `json:"replayed,omitempty"`
}

// Store keeps dishes and stock. Each method is one transaction, and each that takes a key may be repeated:
// it gives the first answer, or the state that the reservation has come to since.
type Store interface {
	// Dishes gives all dishes in the order of their ids.
	Dishes(ctx context.Context) ([]Dish, error)
	// Dish gives one dish, or a fault NotFound.
	Dish(ctx context.Context, id string) (Dish, error)
	// Reserve sets all lines aside or none: HELD or REFUSED. An unknown dish is Invalid, the same key
	// with another request a Conflict.
	Reserve(ctx context.Context, r Request) (Reservation, error)
	// Deduct is Reserve and Commit at once, under a key of its own if r has none.
	Deduct(ctx context.Context, r Request) (Reservation, error)
	// Commit makes a hold final and releases its alternatives; one that is late becomes EXPIRED and gives
	// its stock back.
	Commit(ctx context.Context, key string) (Reservation, error)
	// Release gives a hold's stock back. An unknown key leaves a tombstone, so that a reservation which
	// is still on its way takes nothing.
	Release(ctx context.Context, key, reason string) (Reservation, error)
	// Reservation reads one, or gives a fault NotFound.
	Reservation(ctx context.Context, key string) (Reservation, error)
	// Return gives the stock of a committed reservation back.
	Return(ctx context.Context, key string) (Reservation, error)
	// Shelves gives all dishes with what is held of them, in the order of their ids.
	Shelves(ctx context.Context) ([]Shelf, error)
	// Edit does all edits or none, as Plan says; a dry one only tells.
	Edit(ctx context.Context, edits []Edit, dry bool) ([]Change, error)
	// Expire ends the holds whose time is over and tells how many.
	Expire(ctx context.Context, now time.Time) (int, error)
	// Ping tells whether the store can work.
	Ping(ctx context.Context) error
}
