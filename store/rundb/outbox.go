package rundb

import (
	"context"
	"fmt"
	"time"

	"agentmesh/agent/order"
	"agentmesh/store"
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

// Outbox lists the deliveries that are due, of a user or, without one, of all, oldest first.
func (db *DB) Outbox(ctx context.Context, userID string, now time.Time, limit int) ([]order.Delivery, error) {
	return collect(ctx, db.Read(), func(row scanner) (order.Delivery, error) {
		var d order.Delivery
		err := row.Scan(&d.N, &d.UserID, &d.Key, &d.Op, &d.Reason, &d.Attempts, &d.RunID, &d.ThreadID, &d.TraceID)
		return d, err
	}, `SELECT b.n, b.user_id, b.okey, b.op, b.reason, b.attempts, coalesce(r.id, ''), coalesce(r.thread_id, ''), coalesce(r.trace_id, '')
		FROM outbox b
		LEFT JOIN orders o ON o.invocation_id = substr(b.okey, 1, instr(b.okey, '/') - 1)
		LEFT JOIN runs r ON r.id = o.run_id
		WHERE b.done_at = 0 AND b.next_at <= ? AND ? IN ('', b.user_id) ORDER BY b.n LIMIT ?`,
		stamp(now), userID, limit)
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
	return db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, update, at, n)
		return err
	})
}

// queue adds a delivery to the transaction that causes it; the same one again changes nothing.
func queue(ctx context.Context, tx *store.Tx, op order.Op, userID, key, reason string, at time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO outbox (user_id, okey, op, reason, next_at)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (okey, op) DO NOTHING`, userID, key, op, reason, stamp(at))
	if err != nil {
		return fmt.Errorf("queue %s: %w", op, err)
	}
	return nil
}
