package rundb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/store"
)

// Requote counts one more quote of a PLACING order, and queues the release of its hold for a later time.
func (db *DB) Requote(ctx context.Context, o order.Order, release time.Time) (int, error) {
	var n int
	err := db.Tx(ctx, func(tx *store.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE orders SET quotes = quotes + 1
			WHERE invocation_id = ? AND status = 'PLACING' RETURNING quotes`, o.InvocationID).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return agent.ErrStale
		}
		if err != nil {
			return err
		}
		return queue(ctx, tx, order.Release, o.UserID, order.Reservation(o.InvocationID, n), "abandoned", release)
	})
	if err != nil {
		return 0, fmt.Errorf("count quote of order %s: %w", o.ID, err)
	}
	return n, nil
}

// replaceOrder puts another quote under an order. The release that was queued for the new hold is taken back;
// that of the old one is queued.
func replaceOrder(ctx context.Context, tx *store.Tx, c order.Replace) error {
	o := c.Order
	var n int64
	err := tx.QueryRowContext(ctx, `UPDATE orders SET reservation = ?, date = ?, note = ?, total_fen = ?, updated_at = ?
		WHERE invocation_id = ? AND reservation = ? AND status = 'PLACING' RETURNING n`,
		o.Reservation, o.Date, o.Note, o.TotalFen, stamp(o.UpdatedAt), o.InvocationID, c.Old).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return agent.ErrStale
	}
	if err != nil {
		return fmt.Errorf("replace order: %w", err)
	}
	res, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE okey = ? AND op = 'release_reservation' AND done_at = 0`, o.Reservation)
	if err != nil {
		return fmt.Errorf("take release back: %w", err)
	}
	if taken, err := res.RowsAffected(); err != nil || taken == 0 {
		return errors.Join(agent.ErrStale, err) // it was delivered: the hold is gone
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM order_lines WHERE order_n = ?`, n); err != nil {
		return fmt.Errorf("replace order lines: %w", err)
	}
	if err := insertLines(ctx, tx, n, o.Lines); err != nil {
		return err
	}
	return queue(ctx, tx, order.Release, o.UserID, c.Old, c.Reason, o.UpdatedAt)
}

// makeDue lets a release that was queued for later be delivered now.
func makeDue(ctx context.Context, tx *store.Tx, c order.Abandon) error {
	_, err := tx.ExecContext(ctx, `UPDATE outbox SET next_at = min(next_at, ?)
		WHERE okey = ? AND op = 'release_reservation' AND done_at = 0`, stamp(c.At), c.Reservation)
	if err != nil {
		return fmt.Errorf("release abandoned hold: %w", err)
	}
	return nil
}
