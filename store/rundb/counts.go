package rundb

import (
	"context"

	"agentmesh/agent"
	"agentmesh/agent/order"
)

// RunsByStatus counts all users' runs.
func (db *DB) RunsByStatus(ctx context.Context) (map[agent.Status]int, error) {
	return countBy[agent.Status](ctx, db.Read(), `SELECT state, count(*) FROM runs GROUP BY state`)
}

// OrdersByStatus counts all users' orders.
func (db *DB) OrdersByStatus(ctx context.Context) (map[order.Status]int, error) {
	return countBy[order.Status](ctx, db.Read(), `SELECT status, count(*) FROM orders GROUP BY status`)
}

// CountOpenConfirmations counts all users' open questions.
func (db *DB) CountOpenConfirmations(ctx context.Context) (n int, err error) {
	err = db.Read().QueryRowContext(ctx, `SELECT count(*) FROM confirmations WHERE status = 'OPEN'`).Scan(&n)
	return n, err
}

func countBy[K comparable](ctx context.Context, q queryer, query string) (map[K]int, error) {
	out := map[K]int{}
	_, err := collect(ctx, q, func(row scanner) (struct{}, error) {
		var key K
		var n int
		err := row.Scan(&key, &n)
		out[key] = n
		return struct{}{}, err
	}, query)
	return out, err
}
