package rundb

import (
	"context"
	"math"
	"strconv"
	"strings"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// placed is an item with its place in its list.
type placed[T any] struct {
	place string
	item  T
}

// placeFirst is a row whose first column is its place.
type placeFirst struct {
	row   scanner
	place *string
}

// Scan takes the place off and reads the rest.
func (p placeFirst) Scan(into ...any) error { return p.row.Scan(append([]any{p.place}, into...)...) }

// paged reads a part of a list, and the place after which the next part begins; it is empty when there is
// none. The query selects the place first and ends with its limit, which paged sets.
func paged[T any](ctx context.Context, q queryer, p agent.Page, scan func(scanner) (T, error), query string, args ...any) ([]T, string, error) {
	rows, err := collect(ctx, q, func(row scanner) (placed[T], error) {
		var v placed[T]
		var err error
		v.item, err = scan(placeFirst{row, &v.place})
		return v, err
	}, query, append(args, p.Limit+1)...) // one more than wanted tells whether there are more
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		next = rows[p.Limit-1].place
	}
	items := make([]T, 0, len(rows))
	for _, r := range rows {
		items = append(items, r.item)
	}
	return items, next, nil
}

// newestFirst gives the number below which a part begins, in a list by falling numbers.
func newestFirst(p agent.Page) (int64, error) { return number(p, math.MaxInt64) }

// oldestFirst gives the number above which a part begins, in a list by rising numbers.
func oldestFirst(p agent.Page) (int64, error) { return number(p, 0) }

func number(p agent.Page, beginning int64) (int64, error) {
	if p.After == "" {
		return beginning, nil
	}
	n, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil {
		return 0, noPlace()
	}
	return n, nil
}

// numberAnd gives a place of two parts, in a list by falling numbers and then something else.
func numberAnd(p agent.Page, beginning string) (int64, string, error) {
	if p.After == "" {
		return math.MaxInt64, beginning, nil
	}
	first, rest, ok := strings.Cut(p.After, ".")
	n, err := strconv.ParseInt(first, 10, 64)
	if !ok || err != nil {
		return 0, "", noPlace()
	}
	return n, rest, nil
}

func noPlace() error { return fault.New(fault.Invalid, "the cursor is none of this list") }
