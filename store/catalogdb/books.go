package catalogdb

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

// OpenReader opens a catalog that exists only to look at it, also beside the process that owns it.
func OpenReader(ctx context.Context, path string) (*DB, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	db, err := store.OpenReader(ctx, path, folder)
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	return &DB{db: db, now: time.Now}, nil
}

// Check lets SQLite look for damage in the file.
func (c *DB) Check(ctx context.Context) error { return c.db.Check(ctx) }

// Version is the number of migrations that the database has had.
func (c *DB) Version(ctx context.Context) (int, error) { return c.db.Version(ctx) }

// Entry is a reservation as an auditor sees it. A deduction has no owner, and no order.
type Entry struct {
	catalog.Reservation
	Owner string
}

// Entries lists the reservations that hold stock, have sold it or got it back.
func (c *DB) Entries(ctx context.Context) ([]Entry, error) {
	rows, err := c.db.Read().QueryContext(ctx, `SELECT r.rkey, r.state, r.owner, r.expires_at, l.dish_id, l.qty, l.unit_fen
		FROM reservations r JOIN reservation_lines l USING (rkey) WHERE r.state IN ('HELD', 'COMMITTED', 'RETURNED') ORDER BY r.rkey, l.dish_id`)
	if err != nil {
		return nil, fmt.Errorf("list reservations: %w", err)
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var e Entry
		var expires int64
		var line catalog.Line
		if err := rows.Scan(&e.Key, &e.State, &e.Owner, &expires, &line.DishID, &line.Quantity, &line.UnitFen); err != nil {
			return nil, fmt.Errorf("list reservations: %w", err)
		}
		if n := len(out); n == 0 || out[n-1].Key != e.Key {
			e.ExpiresAt = time.UnixMilli(expires).UTC()
			out = append(out, e)
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, line)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list reservations: %w", err)
	}
	return out, nil
}
