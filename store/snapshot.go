package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/mattn/go-sqlite3"
)

// copyPages is how many pages are copied between two looks at the context.
const copyPages = 1000

// Snapshot is a database file as of one moment, which is kept while others go on writing. It takes no lock
// that keeps them from it.
type Snapshot struct {
	path string
	pool *sql.DB
	conn *sql.Conn
}

// OpenSnapshot begins to read a database that exists, beside the process that owns it or without one.
func OpenSnapshot(ctx context.Context, path string) (_ *Snapshot, err error) {
	if _, err := os.Stat(path); err != nil { // SQLite only says that it cannot
		return nil, fmt.Errorf("read database %s: %w", path, err)
	}
	s := &Snapshot{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read database %s: %w", path, err), s.Close())
		}
	}()
	if s.pool, err = sql.Open("sqlite3", reading(path)); err != nil {
		return nil, err
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return nil, err
	}
	if _, err = s.conn.ExecContext(ctx, `BEGIN`); err != nil {
		return nil, err
	}
	var tables int // the transaction begins with the first look
	return s, s.conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
}

// reading is the driver's name of a file that is only read.
func reading(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_query_only=on&_busy_timeout=5000"
}

// Copy writes the moment into a new file, one without side files and without what was deleted.
func (s *Snapshot) Copy(ctx context.Context, to string) error {
	if err := s.copy(ctx, to); err != nil {
		return fmt.Errorf("copy database %s: %w", s.path, err)
	}
	return nil
}

func (s *Snapshot) copy(ctx context.Context, to string) error {
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	into, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: to}).EscapedPath()+"?_synchronous=OFF")
	if err != nil {
		return err
	}
	into.SetMaxOpenConns(1)
	err = s.pages(ctx, into)
	if err == nil {
		_, err = into.ExecContext(ctx, `PRAGMA journal_mode = DELETE`) // the pages say WAL
	}
	if err == nil {
		_, err = into.ExecContext(ctx, `VACUUM`)
	}
	return errors.Join(err, into.Close())
}

// pages copies by SQLite's backup, which reads within the open transaction.
func (s *Snapshot) pages(ctx context.Context, into *sql.DB) error {
	to, err := into.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	return to.Raw(func(to any) error {
		return s.conn.Raw(func(from any) (err error) {
			b, err := to.(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Finish()) }()
			for {
				if err := ctx.Err(); err != nil {
					return err
				}
				if done, err := b.Step(copyPages); done || err != nil {
					return err
				}
			}
		})
	})
}

// Close ends the moment.
func (s *Snapshot) Close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	return errors.Join(errs...)
}

// Inspect looks through a whole file for damage and tells its version, whatever program wrote it.
func Inspect(ctx context.Context, path string) (int, error) {
	at, err := inspect(ctx, path)
	if err != nil {
		return 0, fmt.Errorf("look through %s: %w", path, err)
	}
	return at, nil
}

func inspect(ctx context.Context, path string) (at int, err error) {
	pool, err := sql.Open("sqlite3", reading(path))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var found string
	if err := pool.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return 0, err
	}
	if found != "ok" {
		return 0, fmt.Errorf("it is damaged: %s", found)
	}
	return version(ctx, pool)
}
