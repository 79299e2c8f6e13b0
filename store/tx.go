package store

import (
	"context"
	"database/sql"
	"fmt"

	"agentmesh/app/platform/failpoint"
)

// Tx is a write transaction.
type Tx = sql.Tx

// Tx runs fn in a write transaction and commits it if fn gives no error. Transactions run one after
// another, so fn never meets a locked database, and it must not call Tx itself. Statements in fn take ctx,
// and fn gives every error back: after an interrupt SQLite has ended the transaction already. When ctx
// ends, everything is rolled back and the connection stays good.
func (db *DB) Tx(ctx context.Context, fn func(*Tx) error) (err error) {
	conn, err := db.writer.Conn(ctx) // waits for its turn
	if err != nil {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back
	// The transaction itself does not hear of the end of ctx: database/sql would roll back from another
	// goroutine, while fn works, and the driver could meet a commit and an interrupt at once.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			_ = tx.Rollback() // also after a panic; SQLite may have done it already after an interrupt
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := failpoint.Hit(ctx, failpoint.StoreBefore); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return failpoint.Hit(ctx, failpoint.StoreAfter)
}
