package rundb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"agentmesh/agent/order"
	"agentmesh/store"
)

// OpenReader opens a database that exists only to look at it, also beside the process that owns it.
func OpenReader(ctx context.Context, path string) (*DB, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	db, err := store.OpenReader(ctx, path, folder)
	if err != nil {
		return nil, err
	}
	return &DB{DB: db}, nil
}

// Invariant checks that orders agree in themselves (design, section 7): one for an invocation, none sold
// without a CONFIRMED question, no question open of a run that has ended, sums that are the sums of their lines; and that tasks agree with their calls and were told once. The questions of a deleted
// conversation are gone, while its orders stay.
func (db *DB) Invariant(ctx context.Context) error {
	wrong, err := collect(ctx, db.Read(), func(row scanner) (string, error) {
		var text string
		err := row.Scan(&text)
		return text, err
	}, `SELECT printf('the question %s is open and its run has ended', c.id) FROM confirmations c JOIN runs r ON r.n = c.run_n
			WHERE c.status = 'OPEN' AND r.state >= 10
		UNION ALL
		SELECT printf('order %s was sold without a CONFIRMED question', o.id) FROM orders o
			WHERE o.status IN ('CONFIRMED', 'CANCELLED') AND EXISTS (SELECT 1 FROM runs r WHERE r.id = o.run_id)
			AND NOT EXISTS (SELECT 1 FROM confirmations c WHERE c.invocation_id = o.invocation_id AND c.kind = 'confirm' AND c.status = 'CONFIRMED')
		UNION ALL
		SELECT printf('invocation %s has %d orders', invocation_id, count(*)) FROM orders GROUP BY invocation_id HAVING count(*) > 1
		UNION ALL
		SELECT printf('order %s: its total is %d fen and its lines make %d', id, total_fen, lines) FROM
			(SELECT o.id, o.total_fen, coalesce((SELECT sum(l.quantity * l.unit_fen) FROM order_lines l WHERE l.order_n = o.n), 0) AS lines FROM orders o)
			WHERE total_fen <> lines
		UNION ALL `+wrongTasks)
	if err != nil {
		return fmt.Errorf("check the books: %w", err)
	}
	if len(wrong) > 0 {
		return errors.New("check the books: " + strings.Join(wrong, "; "))
	}
	return nil
}

// wrongTasks lists tasks that do not agree with their calls, and those that were not told of once in the run that says
// so. One that was stopped together with its run is told of by that.
const wrongTasks = `SELECT printf('task %s is %s and its call is %s', t.id, t.state, i.status) FROM tasks t JOIN invocations i ON i.id = t.invocation_id
			WHERE (t.ended_at = 0) <> (i.status = 'OFFLOADED') OR (t.ended_at = 0) = i.final
		UNION ALL
		SELECT printf('task %s was told of %d times', t.id, count(m.n)) FROM tasks t
			LEFT JOIN messages m ON m.id = 'told-' || t.id AND m.run_n = (SELECT n FROM runs WHERE id = t.delivered_run)
			GROUP BY t.n HAVING count(m.n) <> (t.delivered_run <> '' AND NOT (t.state = 'CANCELLED' AND substr(t.cancel_reason, 1, 4) = 'run_'))`

// AllOrders lists the orders of everybody, oldest first.
func (db *DB) AllOrders(ctx context.Context) ([]order.Order, error) {
	out, err := db.orders(ctx, `ORDER BY n`)
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	return out, nil
}

// Queued lists the reservations whose release or return waits in the outbox.
func (db *DB) Queued(ctx context.Context) ([]string, error) {
	out, err := collect(ctx, db.Read(), func(row scanner) (string, error) {
		var key string
		err := row.Scan(&key)
		return key, err
	}, `SELECT okey FROM outbox WHERE done_at = 0`)
	if err != nil {
		return nil, fmt.Errorf("list the outbox: %w", err)
	}
	return out, nil
}
