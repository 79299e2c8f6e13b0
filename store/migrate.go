package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

var migrationName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)

type migration struct {
	version int
	name    string
	sql     string
}

// migrate brings the schema to the last version, each step in a transaction of its own together with the
// version it leads to (SQLite's user_version).
func migrate(ctx context.Context, db *DB, folder fs.FS) error {
	steps, err := readMigrations(folder)
	if err != nil {
		return err
	}
	at, err := version(ctx, db.writer.conn)
	if err != nil {
		return err
	}
	if at > len(steps) {
		return tooNew(at, len(steps))
	}
	for _, step := range steps[at:] {
		err := db.Tx(ctx, func(tx *Tx) error {
			_, err := tx.ExecContext(ctx, step.sql+"\n; PRAGMA user_version = "+strconv.Itoa(step.version))
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate to %s: %w", step.name, err)
		}
	}
	return nil
}

// ErrNewVersion says that a later program wrote a database.
var ErrNewVersion = errors.New("the database is too new")

// tooNew refuses a database that a later program wrote.
func tooNew(at, known int) error {
	return fmt.Errorf("%w: it has version %d and this program knows only %d: use a newer program, or restore an older copy", ErrNewVersion, at, known)
}

// readMigrations gives the steps in order; numbers begin with 1 and have no gaps.
func readMigrations(folder fs.FS) ([]migration, error) {
	entries, err := fs.ReadDir(folder, ".") // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var steps []migration
	for _, e := range entries {
		m := migrationName.FindStringSubmatch(e.Name())
		if m == nil {
			return nil, fmt.Errorf("migration %s: the name is not NNNN_name.sql", e.Name())
		}
		version, _ := strconv.Atoi(m[1]) // four digits
		if version != len(steps)+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", e.Name(), len(steps)+1)
		}
		text, err := fs.ReadFile(folder, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", e.Name(), err)
		}
		steps = append(steps, migration{version: version, name: e.Name(), sql: string(text)})
	}
	return steps, nil
}

// Schema gives the whole schema as SQL, for golden files: a fresh and an upgraded database must be equal.
func (db *DB) Schema(ctx context.Context) (string, error) {
	rows, err := db.reader.QueryContext(ctx, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type <> 'table', name`)
	if err != nil {
		return "", fmt.Errorf("read schema: %w", err)
	}
	defer rows.Close()
	var out strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return "", fmt.Errorf("read schema: %w", err)
		}
		out.WriteString(text + ";\n\n")
	}
	return out.String(), rows.Err()
}
