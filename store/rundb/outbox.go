package rundb

import (
	"context"
	"database/sql"
	"time"

	"agentmesh/agent/order"
)

// OutboxChanged gives a token after a transaction that queued something, or that ended a call whose
// order has no outcome yet.
func (db *DB) OutboxChanged() <-chan struct{} { return db.queued }

func (db *DB) tellQueued() {
	select {
	case db.queued <- struct{}{}:
	default:
	}
}

// Outbox lists the deliveries that are due, oldest first.
func (db *DB) Outbox(ctx context.Context, now time.Time, limit int) ([]order.Delivery, error) {
	return collect(ctx, db.Read(), func(row scanner) (order.Delivery, error) {
		var d order.Delivery
		err := row.Scan(&d.N, &d.UserID, &d.Key, &d.Op, &d.Reason, &d.Attempts)
		return d, err
	}, `SELECT n, user_id, okey, op, reason, attempts FROM outbox WHERE done_at = 0 AND next_at <= ? ORDER BY n LIMIT ?`,
		stamp(now), limit)
}

// Delivered ends a delivery.
func (db *DB) Delivered(ctx context.Context, n int64, at time.Time) error {
	return db.outboxRow(ctx, `UPDATE outbox SET done_at = ? WHERE n = ?`, stamp(at), n)
}

// Retry puts a delivery off.
func (db *DB) Retry(ctx context.Context, n int64, at time.Time) error {
	return db.outboxRow(ctx, `UPDATE outbox SET attempts = attempts + 1, next_at = ? WHERE n = ?`, stamp(at), n)
}

func (db *DB) outboxRow(ctx context.Context, update string, at, n int64) error {
	return db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, update, at, n)
		return err
	})
}
