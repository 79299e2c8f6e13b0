package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Compact gives the room of deleted rows back to the disk. It writes the whole file anew, needs as much room
// again meanwhile, and keeps all writers waiting: it is for a database that nobody serves from.
func (db *DB) Compact(ctx context.Context) error {
	if err := db.maintain(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return db.Checkpoint(ctx)
}

// Checkpoint brings what is in the WAL into the file and empties it, unless somebody reads or writes: then
// what is left waits for the next one.
func (db *DB) Checkpoint(ctx context.Context) error {
	if err := db.maintain(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// maintain runs a statement that cannot be in a transaction, beside the writer.
func (db *DB) maintain(ctx context.Context, statement string) error {
	pool, err := sql.Open("sqlite3", source(db.path, SurvivesPowerCut, ""))
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, statement)
	return errors.Join(classify(err), pool.Close())
}
