package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"agentmesh/agent/order"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// books are the two databases that must agree about orders and stock (design, section 7).
type books struct {
	stocks *catalogdb.DB
	orders *rundb.DB
}

// finding is a disagreement. A passing one mends itself, at the latest at the next start.
type finding struct {
	text    string
	passing bool
	owner   string // whose order it is
}

// CheckBooks reports every disagreement in the databases of a stopped program's data folder, also those
// that the next start mends.
func CheckBooks(ctx context.Context, data string) error {
	stocks, err := catalogdb.OpenReader(ctx, filepath.Join(data, catalogFile))
	if err != nil {
		return err
	}
	defer func() { _ = stocks.Close() }()
	orders, err := rundb.OpenReader(ctx, filepath.Join(data, runFile))
	if err != nil {
		return err
	}
	defer func() { _ = orders.Close() }()
	errs := []error{stocks.Invariant(ctx), orders.Invariant(ctx)}
	found, err := books{stocks, orders}.compare(ctx)
	for _, f := range found {
		errs = append(errs, errors.New(f.text))
	}
	return errors.Join(append(errs, err)...)
}

// compare finds orders and reservations that do not belong together.
func (b books) compare(ctx context.Context) ([]finding, error) {
	orders, err := b.orders.AllOrders(ctx)
	if err != nil {
		return nil, err
	}
	queued, err := b.orders.Queued(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := b.stocks.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var out []finding
	reservations := map[string]catalogdb.Entry{}
	for _, e := range entries {
		reservations[e.Key] = e
	}
	ordered := map[string]order.Order{}
	for _, o := range orders {
		ordered[o.Reservation] = o
		if f := compareOrder(o, reservations[o.Reservation], slices.Contains(queued, o.Reservation)); f.text != "" {
			out = append(out, f)
		}
	}
	for _, e := range entries {
		o, known := ordered[e.Key]
		switch {
		case e.Owner == "": // a deduction
		case e.State == catalog.Held && !slices.Contains(queued, e.Key) && o.Status != order.Placing:
			out = append(out, finding{text: fmt.Sprintf("portions are held for nobody under %s, until %s", e.Key, e.ExpiresAt.Format(time.RFC3339)), passing: true, owner: e.Owner})
		case e.State != catalog.Held && !known:
			out = append(out, finding{text: fmt.Sprintf("the reservation %s is %s and belongs to no order", e.Key, e.State), owner: e.Owner})
		}
	}
	return out, nil
}

// compareOrder judges an order by its reservation: CONFIRMED if and only if COMMITTED, with the same lines,
// and CANCELLED if and only if RETURNED. Queued says that the catalog is still to be told of it.
func compareOrder(o order.Order, e catalogdb.Entry, queued bool) finding {
	state := e.State
	if state == "" {
		state = "not there, or ended"
	}
	text := fmt.Sprintf("the order %s is %s and its reservation %s", o.ID, o.Status, state)
	switch {
	case o.Status == order.Placing && e.State == catalog.Committed:
		return finding{text: text + "; the program settles it", passing: true, owner: o.UserID}
	case o.Status == order.Cancelled && e.State == catalog.Committed && queued:
		return finding{text: text + "; its portions are on their way back", passing: true, owner: o.UserID}
	case (o.Status == order.Confirmed) != (e.State == catalog.Committed), (o.Status == order.Cancelled) != (e.State == catalog.Returned):
		return finding{text: text, owner: o.UserID}
	case o.Status == order.Confirmed && !maps.Equal(orderLines(o), entryLines(e)):
		return finding{text: fmt.Sprintf("the order %s and its reservation differ in their lines", o.ID), owner: o.UserID}
	}
	return finding{}
}

// dishAt is a dish at a price.
type dishAt struct {
	id  string
	fen int64
}

func orderLines(o order.Order) map[dishAt]int {
	out := map[dishAt]int{}
	for _, l := range o.Lines {
		out[dishAt{l.DishID, l.UnitFen}] += l.Quantity
	}
	return out
}

func entryLines(e catalogdb.Entry) map[dishAt]int {
	out := map[dishAt]int{}
	for _, l := range e.Lines {
		out[dishAt{l.DishID, l.UnitFen}] += l.Quantity
	}
	return out
}
