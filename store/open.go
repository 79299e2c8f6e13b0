// Package store opens a SQLite database the way every part of the program wants it: one writer, many
// readers, durable, migrated, and owned by one process. It is the only door of the driver. It must not
// know any table.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mattn/go-sqlite3"
)

// DB is one database file. Writes go through Tx, reads through Read.
type DB struct {
	path   string
	lock   *os.File // nil: others may have the file open
	room   *room
	writer *writer
	reader *sql.DB // query_only
}

// Durability says what a commit survives.
type Durability string

// A commit survives a power cut, or only the end of the process, which costs no wait for the disk.
const (
	SurvivesPowerCut Durability = "FULL"
	SurvivesProcess  Durability = "NORMAL"
)

// Open opens or creates the database file at path and applies the migrations of a folder of NNNN_name.sql
// files. The file belongs to this process until Close, and a commit survives a power cut.
func Open(ctx context.Context, path string, migrations fs.FS) (*DB, error) {
	return OpenAs(ctx, path, migrations, SurvivesPowerCut)
}

// OpenAs is Open with another durability.
func OpenAs(ctx context.Context, path string, migrations fs.FS, d Durability) (*DB, error) {
	return opened(ctx, path, migrations, d, Own)
}

// OpenShared is Open without the lock: several processes may write, one transaction after another, and must
// keep out of each other's way by what is in the rows.
func OpenShared(ctx context.Context, path string, migrations fs.FS) (*DB, error) {
	return opened(ctx, path, migrations, SurvivesPowerCut, func(string) (*os.File, error) { return nil, nil })
}

// Exclusive tells whether no other process can have the file open.
func (db *DB) Exclusive() bool { return db.lock != nil && HasLocks }

func opened(ctx context.Context, path string, migrations fs.FS, d Durability, lock func(path string) (*os.File, error)) (*DB, error) {
	db, err := open(ctx, path, migrations, d, lock)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func open(ctx context.Context, path string, migrations fs.FS, d Durability, lock func(path string) (*os.File, error)) (_ *DB, err error) {
	db := &DB{path: path}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if db.lock, err = lock(path + ".lock"); err != nil {
		return nil, err
	}
	// SQLite would create the file for everybody to read, and gives its side files the same mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if info, errStat := file.Stat(); errStat == nil && info.Size() == 0 {
		err = file.Chmod(0o600) // somebody may have made an empty one, to begin anew
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	db.room = openRoom(path, d)
	if err := db.openWriter(ctx, path, d); err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, migrations); err != nil {
		return nil, err
	}
	if db.reader, err = sql.Open("sqlite3", source(path, d, "_query_only=on")); err != nil {
		return nil, err
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	return db, db.reader.PingContext(ctx)
}

// checkpointPages is how much the WAL grows, in pages of 4 KiB, before it is folded into the file. SQLite's
// 1000 would have a busy writer fold most of the time. Readers may hold a fold up, so it can grow beyond; afterwards it
// is cut back to this.
const (
	checkpointPages = 4000
	pageSize        = 4096
)

func (db *DB) openWriter(ctx context.Context, path string, d Durability) error {
	pool, err := sql.Open("sqlite3", source(path, d, ""))
	if err != nil {
		return err
	}
	if db.writer, err = newWriter(ctx, pool); err != nil {
		return errors.Join(err, pool.Close())
	}
	if err := checkFTS5(ctx, db.writer.conn); err != nil {
		return err
	}
	_, err = db.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d", checkpointPages, checkpointPages*pageSize))
	return err
}

// source is the driver's name of a file. In WAL mode synchronous=FULL makes a commit survive a power cut.
func source(path string, d Durability, more string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_journal_mode=WAL&_synchronous=" + string(d) + "&_busy_timeout=5000&_foreign_keys=on&_stmt_cache_size=128&" + more
}

func checkFTS5(ctx context.Context, db queryer) error {
	var n int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_compile_options WHERE compile_options = 'ENABLE_FTS5'`).Scan(&n)
	if err != nil {
		return fmt.Errorf("read compile options: %w", err)
	}
	if n == 0 {
		return errors.New("this binary was built without FTS5: build it with 'make build' or 'go build -tags sqlite_fts5'")
	}
	return nil
}

// Ping tells whether the database answers, and can be written.
func (db *DB) Ping(ctx context.Context) error {
	if db.room != nil && db.room.isFull() {
		return errFull(nil)
	}
	return db.reader.PingContext(ctx)
}

// Read gives the pool of connections that cannot write.
func (db *DB) Read() *sql.DB { return db.reader }

// Close closes all connections and gives the file up. The last connection folds the WAL into the file.
func (db *DB) Close() error {
	var errs []error
	if db.reader != nil {
		errs = append(errs, db.reader.Close())
	}
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
		db.lock = nil
	}
	return errors.Join(errs...)
}

// IsUnique tells whether an error says that a row with the same key exists already.
func IsUnique(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) &&
		(e.ExtendedCode == sqlite3.ErrConstraintUnique || e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey)
}

// IsDamaged tells whether an error says that a file is no database, or not a whole one: opening it again would give
// the same. A lock, a full disk or a missing permission is no damage.
func IsDamaged(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}
