package store

import (
	"context"
	"database/sql"
)

// Tx is a write transaction: one caller's part of what is committed together. Its statements run to their
// end, and do not hear of the end of a context.
type Tx struct{ conn *sql.Conn }

// ExecContext runs a statement; without arguments, several.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return tx.conn.ExecContext(context.WithoutCancel(ctx), query, args...)
}

// QueryContext runs a query. Its rows must be closed before fn returns.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return tx.conn.QueryContext(context.WithoutCancel(ctx), query, args...)
}

// QueryRowContext runs a query for its first row.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return tx.conn.QueryRowContext(context.WithoutCancel(ctx), query, args...)
}

// Tx runs fn in a write transaction and commits it if fn gives no error. Transactions run one after
// another, so fn never meets a locked database; those that wait for their turn are committed together,
// and Tx returns after the commit. fn must not call Tx itself, gives every error back, and may run again
// when others' transactions broke the commit: what it leaves outside of the database is what its last run
// left. When ctx ends before fn has, nothing is written. On a full disk it is a fault storage_full, and one
// unavailable while another program keeps the database locked.
func (db *DB) Tx(ctx context.Context, fn func(*Tx) error) error {
	if db.room.isFull() {
		return errFull(nil)
	}
	err := classify(db.writer.do(ctx, fn))
	if IsFull(err) {
		db.room.giveUp()
	}
	return err
}

// Commits counts the commits so far; many transactions may share one.
func (db *DB) Commits() int64 { return db.writer.commits.Load() }
