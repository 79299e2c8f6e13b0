package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrOldVersion says that a database waits for migrations, which the next Open applies.
var ErrOldVersion = errors.New("the database is of an earlier version, which the next start migrates")

// OpenReader opens a database that exists only to look at it, beside the process that owns it or without
// one. It takes no lock and changes nothing, though SQLite's empty side files may stay; what it gives has no Tx. Content that does not fit this
// program's migrations is an error, ErrOldVersion where the next Open mends it.
func OpenReader(ctx context.Context, path string, migrations fs.FS) (*DB, error) {
	db, err := openReader(ctx, path, migrations)
	if err != nil {
		return nil, fmt.Errorf("read database %s: %w", path, err)
	}
	return db, nil
}

func openReader(ctx context.Context, path string, migrations fs.FS) (_ *DB, err error) {
	if _, err := os.Stat(path); err != nil { // SQLite only says that it cannot
		return nil, err
	}
	steps, err := readMigrations(migrations)
	if err != nil {
		return nil, err
	}
	reader, err := sql.Open("sqlite3", reading(path))
	if err != nil {
		return nil, err
	}
	db := &DB{reader: reader}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	at, err := version(ctx, reader)
	switch {
	case err != nil:
		return nil, err
	case at > len(steps):
		return nil, tooNew(at, len(steps))
	case at < len(steps):
		return nil, ErrOldVersion
	}
	return db, nil
}

// Check lets SQLite look for damage in the file, quickly.
func (db *DB) Check(ctx context.Context) error {
	var found string
	if err := db.reader.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("the file is damaged: %s", found)
	}
	return nil
}

// Version is the number of migrations that the database has had.
func (db *DB) Version(ctx context.Context) (int, error) { return version(ctx, db.reader) }

// queryer is a connection, or a pool of them.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func version(ctx context.Context, db queryer) (at int, err error) {
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&at); err != nil {
		return 0, fmt.Errorf("read version: %w", err)
	}
	return at, nil
}
