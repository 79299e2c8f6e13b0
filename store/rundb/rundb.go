// Package rundb is the orchestrator's database: conversations, runs and their journals, questions,
// orders with their outbox, audit, preferences and skill installations. It satisfies the stores that
// the engine and its neighbours declare, and must not decide anything beyond compare-and-set.
package rundb

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/skills"
	"agentmesh/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DB is the open database.
type DB struct {
	*store.DB
	queued chan struct{}
	packer packer
}

var (
	_ agent.RunStore           = (*DB)(nil)
	_ agent.ConversationStore  = (*DB)(nil)
	_ agent.PreferenceStore    = (*DB)(nil)
	_ order.Store              = (*DB)(nil)
	_ capability.Ledger        = (*DB)(nil)
	_ skills.InstallationStore = (*DB)(nil)
)

// Open opens or creates the database file.
func Open(ctx context.Context, path string) (*DB, error) { return openWith(ctx, path, store.Open) }

func openWith(ctx context.Context, path string, open func(context.Context, string, fs.FS) (*store.DB, error)) (*DB, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db, err := open(ctx, path, folder)
	if err != nil {
		return nil, err
	}
	return &DB{DB: db, queued: make(chan struct{}, 1)}, nil
}

// queryer is what reads need, in a transaction or beside one.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is one row.
type scanner interface{ Scan(into ...any) error }

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q queryer, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// notFound gives the domain's word for an absent row.
func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return agent.ErrNotFound
	}
	return err
}

// Times are stored as microseconds of UTC; the zero time is 0.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// toJSON writes a value that always encodes: lists of strings, calls, receipts.
func toJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func fromJSON(raw string, into any) error {
	if raw == "" {
		return nil
	}
	return json.Unmarshal([]byte(raw), into)
}
