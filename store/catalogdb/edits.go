package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

// querier is what reads need, in a transaction or beside one.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Shelves gives all dishes with what is held of them.
func (c *DB) Shelves(ctx context.Context) ([]catalog.Shelf, error) { return shelves(ctx, c.db.Read()) }

func shelves(ctx context.Context, q querier) ([]catalog.Shelf, error) {
	// What is neither for sale nor sold is held; alternatives that share their portions count once this way.
	rows, err := q.QueryContext(ctx, `SELECT initial - available
			+ coalesce((SELECT sum(g.delta) FROM stock_ledger g WHERE g.dish_id = dishes.id AND g.why = 'restock'), 0)
			- coalesce((SELECT sum(l.qty) FROM reservation_lines l JOIN reservations r USING (rkey)
				WHERE l.dish_id = dishes.id AND r.state = 'COMMITTED'), 0), `+dishColumns+` FROM dishes ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list shelves: %w", err)
	}
	defer rows.Close()
	out := []catalog.Shelf{}
	for rows.Next() {
		var held int
		d, err := scanDish(prefixed{rows, &held})
		if err != nil {
			return nil, fmt.Errorf("list shelves: %w", err)
		}
		out = append(out, catalog.NewShelf(d, held))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list shelves: %w", err)
	}
	return out, nil
}

// prefixed scans one more column, the first.
type prefixed struct {
	rows  *sql.Rows
	first any
}

func (p prefixed) Scan(into ...any) error { return p.rows.Scan(append([]any{p.first}, into...)...) }

// Edit does all edits or none, in one transaction; a dry one only tells what they would do.
func (c *DB) Edit(ctx context.Context, edits []catalog.Edit, dry bool) ([]catalog.Change, error) {
	var changes []catalog.Change
	err := c.db.Tx(ctx, func(tx *store.Tx) error {
		t := &txn{tx: tx, now: c.now()}
		if err := t.expireDue(ctx); err != nil {
			return err
		}
		now, err := shelves(ctx, tx)
		if err != nil {
			return err
		}
		if changes, err = catalog.Plan(now, edits); err != nil || dry {
			return err
		}
		return t.write(ctx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("edit dishes: %w", err)
	}
	return changes, nil
}

func (t *txn) write(ctx context.Context, changes []catalog.Change) error {
	for _, c := range changes { // names may change places, and are unique at every moment
		if c.Added || c.Before.Name == c.After.Name && c.Before.NameEn == c.After.NameEn {
			continue
		}
		if _, err := t.tx.ExecContext(ctx, `UPDATE dishes SET name = char(10) || id, name_en = char(10) || id WHERE id = ?`, c.ID); err != nil {
			return fmt.Errorf("rename %s: %w", c.ID, err)
		}
	}
	for _, c := range changes {
		var err error
		if c.Added {
			err = insertDish(ctx, t.tx, c.After)
		} else {
			err = t.update(ctx, c)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", c.ID, err)
		}
	}
	return nil
}

// update writes a known dish, and what changed in price and stock into the ledgers.
func (t *txn) update(ctx context.Context, c catalog.Change) error {
	d := c.After
	allergens, tags, weekdays, err := lists(d)
	if err != nil {
		return err
	}
	delta := d.Stock - c.Before.Stock
	_, err = t.tx.ExecContext(ctx, `UPDATE dishes SET name = ?, name_en = ?, category = ?, description = ?, description_en = ?, price_fen = ?,
			available = available + ?, spicy = ?, vegetarian = ?, allergens = ?, tags = ?, weekdays = ? WHERE id = ?`,
		d.Name, d.NameEn, d.Category, d.Description, d.DescriptionEn, d.PriceFen, delta, d.Spicy, d.Vegetarian, allergens, tags, weekdays, d.ID)
	if err != nil {
		return err
	}
	if delta != 0 {
		_, errL := t.tx.ExecContext(ctx, `INSERT INTO stock_ledger (dish_id, delta, why, ts) VALUES (?, ?, 'restock', ?)`, d.ID, delta, t.now.UnixMilli())
		err = errL
	}
	if d.PriceFen != c.Before.PriceFen {
		_, errP := t.tx.ExecContext(ctx, `INSERT INTO price_ledger (dish_id, from_fen, to_fen, ts) VALUES (?, ?, ?, ?)`,
			d.ID, c.Before.PriceFen, d.PriceFen, t.now.UnixMilli())
		err = errors.Join(err, errP)
	}
	return err
}
