package store

import (
	"context"
	"fmt"
)

// Compact gives the room of deleted rows back to the disk. It writes the whole file anew, needs as much room
// again meanwhile, and keeps all writers waiting: it is for a database that nobody serves from.
func (db *DB) Compact(ctx context.Context) error {
	if _, err := db.writer.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return db.Checkpoint(ctx)
}

// Checkpoint brings what is in the WAL into the file and empties it, unless somebody reads or writes: then
// what is left waits for the next one.
func (db *DB) Checkpoint(ctx context.Context) error {
	var busy, log, done int
	if err := db.writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}
