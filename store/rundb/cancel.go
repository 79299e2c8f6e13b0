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

// CancelOrder takes a CONFIRMED order to CANCELLED and queues the return of its portions, together.
func (db *DB) CancelOrder(ctx context.Context, id, reason string, at time.Time) error {
	err := db.Tx(ctx, func(tx *store.Tx) error {
		var userID, key string
		err := tx.QueryRowContext(ctx, `UPDATE orders SET status = 'CANCELLED', reason = ?, updated_at = ?
			WHERE id = ? AND status = 'CONFIRMED' RETURNING user_id, reservation`, reason, stamp(at), id).Scan(&userID, &key)
		if errors.Is(err, sql.ErrNoRows) {
			return agent.ErrStale
		}
		if err != nil {
			return fmt.Errorf("cancel order: %w", err)
		}
		return queue(ctx, tx, order.Return, userID, key, reason, at)
	})
	if err == nil {
		db.tellQueued()
	}
	return err
}
