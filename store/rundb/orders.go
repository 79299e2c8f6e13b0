package rundb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store"
)

const orderColumns = `n, id, user_id, run_id, thread_id, invocation_id, reservation, status, reason, date, note,
	total_fen, committing, created_at, updated_at FROM orders`

type orderRow struct {
	n int64
	order.Order
}

func scanOrder(row scanner) (orderRow, error) {
	var o orderRow
	var created, updated int64
	err := row.Scan(&o.n, &o.ID, &o.UserID, &o.RunID, &o.ThreadID, &o.InvocationID, &o.Reservation, &o.Status,
		&o.Reason, &o.Date, &o.Note, &o.TotalFen, &o.Committing, &created, &updated)
	o.CreatedAt, o.UpdatedAt = moment(created), moment(updated)
	return o, err
}

// orders reads orders with their lines.
func (db *DB) orders(ctx context.Context, where string, args ...any) ([]order.Order, error) {
	rows, err := collect(ctx, db.Read(), scanOrder, `SELECT `+orderColumns+` `+where, args...)
	if err != nil {
		return nil, err
	}
	return db.withLines(ctx, rows)
}

func (db *DB) withLines(ctx context.Context, rows []orderRow) ([]order.Order, error) {
	out := make([]order.Order, 0, len(rows))
	for _, o := range rows {
		var err error
		o.Lines, err = collect(ctx, db.Read(), func(row scanner) (order.Line, error) {
			var l order.Line
			err := row.Scan(&l.DishID, &l.Name, &l.NameEn, &l.Quantity, &l.UnitFen, &l.AmountFen, &l.Note)
			return l, err
		}, `SELECT dish_id, name, name_en, quantity, unit_fen, amount_fen, note FROM order_lines WHERE order_n = ? ORDER BY position`, o.n)
		if err != nil {
			return nil, fmt.Errorf("read order lines: %w", err)
		}
		out = append(out, o.Order)
	}
	return out, nil
}

func (db *DB) oneOrder(ctx context.Context, where string, args ...any) (order.Order, error) {
	found, err := db.orders(ctx, where, args...)
	if err == nil && len(found) == 0 {
		err = notFound(sql.ErrNoRows)
	}
	if err != nil {
		return order.Order{}, err
	}
	return found[0], nil
}

// OrderByInvocation gives the order of a call of place_order.
func (db *DB) OrderByInvocation(ctx context.Context, invocationID string) (order.Order, error) {
	return db.oneOrder(ctx, `WHERE invocation_id = ?`, invocationID)
}

// Order gives one of a user's orders.
func (db *DB) Order(ctx context.Context, userID, id string) (order.Order, error) {
	return db.oneOrder(ctx, `WHERE id = ? AND user_id = ?`, id, userID)
}

// Orders lists a user's orders, newest first.
func (db *DB) Orders(ctx context.Context, userID string, p agent.Page) ([]order.Order, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	rows, next, err := paged(ctx, db.Read(), p, scanOrder, `SELECT n, `+orderColumns+` WHERE user_id = ? AND n < ? ORDER BY n DESC LIMIT ?`, userID, before)
	if err != nil {
		return nil, "", err
	}
	out, err := db.withLines(ctx, rows)
	return out, next, err
}

// Unsettled lists the PLACING orders whose invocation has ended.
func (db *DB) Unsettled(ctx context.Context) ([]order.Order, error) {
	return db.orders(ctx, `WHERE status = 'PLACING' AND EXISTS
		(SELECT 1 FROM invocations i WHERE i.id = invocation_id AND i.final) ORDER BY n`)
}

// Apply writes changes in a transaction of their own.
func (db *DB) Apply(ctx context.Context, changes ...capability.Change) error {
	queued := false
	err := db.End(ctx, func(tx *store.Tx) (err error) {
		queued, err = applyChanges(ctx, tx, changes)
		return err
	})
	if queued && err == nil {
		db.tellQueued()
	}
	return err
}

// applyChanges writes what capabilities want written with a step.
func applyChanges(ctx context.Context, tx *store.Tx, changes []capability.Change) (queued bool, err error) {
	for _, change := range changes {
		switch c := change.(type) {
		case order.Place:
			err = insertOrder(ctx, tx, c.Order)
		case order.Replace:
			queued, err = true, replaceOrder(ctx, tx, c)
		case order.Abandon:
			queued, err = true, makeDue(ctx, tx, c)
		case order.Committing:
			_, err = tx.ExecContext(ctx, `UPDATE orders SET committing = 1 WHERE invocation_id = ? AND status = 'PLACING'`, c.InvocationID)
		case order.Confirm:
			_, err = tx.ExecContext(ctx, `UPDATE orders SET status = 'CONFIRMED', updated_at = ?
				WHERE invocation_id = ? AND status = 'PLACING'`, stamp(c.At), c.InvocationID)
		case order.Reject:
			var rejected bool
			rejected, err = rejectOrder(ctx, tx, c)
			queued = queued || rejected
		default:
			err = fmt.Errorf("no way to store a change of type %T", change)
		}
		if err != nil {
			return false, err
		}
	}
	return queued, nil
}

func insertOrder(ctx context.Context, tx *store.Tx, o order.Order) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO orders (id, user_id, run_id, thread_id, invocation_id, reservation, status, reason,
			date, note, total_fen, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.ID, o.UserID, o.RunID, o.ThreadID, o.InvocationID, o.Reservation, o.Status, o.Reason, o.Date, o.Note,
		o.TotalFen, stamp(o.CreatedAt), stamp(o.UpdatedAt))
	if err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	n, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return insertLines(ctx, tx, n, o.Lines)
}

func insertLines(ctx context.Context, tx *store.Tx, n int64, lines []order.Line) error {
	for i, l := range lines {
		_, err := tx.ExecContext(ctx, `INSERT INTO order_lines (order_n, position, dish_id, name, name_en, quantity, unit_fen, amount_fen, note)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, n, i, l.DishID, l.Name, l.NameEn, l.Quantity, l.UnitFen, l.AmountFen, l.Note)
		if err != nil {
			return fmt.Errorf("insert order line: %w", err)
		}
	}
	return nil
}

// rejectOrder ends a PLACING order and queues the release of its hold, together. Without an order it only
// queues the release; a settled order stays as it is.
func rejectOrder(ctx context.Context, tx *store.Tx, c order.Reject) (bool, error) {
	held := c.Reservation
	err := tx.QueryRowContext(ctx, `UPDATE orders SET status = 'REJECTED', reason = ?, updated_at = ?
		WHERE invocation_id = ? AND status = 'PLACING' RETURNING reservation`, c.Reason, stamp(c.At), c.InvocationID).Scan(&held)
	if errors.Is(err, sql.ErrNoRows) {
		var settled int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM orders WHERE invocation_id = ?`, c.InvocationID).Scan(&settled)
		if err == nil && settled > 0 {
			return false, nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("reject order: %w", err)
	}
	return true, queue(ctx, tx, order.Release, c.UserID, held, c.Reason, c.At)
}
