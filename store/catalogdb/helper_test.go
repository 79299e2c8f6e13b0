package catalogdb_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// open gives a new database whose books are checked at the end of the test.
func open(t *testing.T) (*catalogdb.DB, *clock) {
	t.Helper()
	clock := newClock()
	return openAt(t, filepath.Join(t.TempDir(), "catalog.db"), clock), clock
}

func openAt(t *testing.T, path string, clock *clock) *catalogdb.DB {
	t.Helper()
	db, err := catalogdb.Open(t.Context(), path, catalogdb.Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func checkBooks(t *testing.T, db *catalogdb.DB) {
	t.Helper()
	if err := db.Invariant(t.Context()); err != nil {
		t.Error(err)
	}
}

func request(key, owner string, lines ...catalog.Wanted) catalog.Request {
	return catalog.Request{Key: key, Owner: owner, Lines: lines, TTL: 15 * time.Minute}
}

func line(dish string, quantity int) catalog.Wanted {
	return catalog.Wanted{DishID: dish, Quantity: quantity}
}

func reserve(t *testing.T, db *catalogdb.DB, r catalog.Request) catalog.Reservation {
	t.Helper()
	got, err := db.Reserve(t.Context(), r)
	if err != nil {
		t.Fatalf("reserve: %v", err)
	}
	return got
}

func stock(t *testing.T, db *catalogdb.DB, id string) int {
	t.Helper()
	d, err := db.Dish(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d.Stock
}

// sellDownTo leaves only some portions of a dish.
func sellDownTo(t *testing.T, db *catalogdb.DB, id string, left int) {
	t.Helper()
	for n := stock(t, db, id) - left; n > 0; n = stock(t, db, id) - left {
		got, err := db.Deduct(t.Context(), catalog.Request{Lines: []catalog.Wanted{line(id, min(n, 20))}})
		if err != nil || got.State != catalog.Committed {
			t.Fatalf("deduct: got %s, %v", got.State, err)
		}
	}
}

func wantState(t *testing.T, got catalog.Reservation, err error, want catalog.State) {
	t.Helper()
	if err != nil || got.State != want {
		t.Errorf("got %s, %v, want %s", got.State, err, want)
	}
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != want {
		t.Errorf("got %v, want a fault %q", err, want)
	}
}
