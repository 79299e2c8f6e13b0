// Package catalogdb keeps the catalog's dishes, reservations and stock in SQLite. Every operation on stock
// is one transaction and may be repeated by its key. It must not know of MCP or of orders.
package catalogdb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed seed.json
var seedFile embed.FS

// Options are the settings of the database.
type Options struct {
	// Now is the clock that holds expire by; time.Now if nil.
	Now func() time.Time
	// NewID names a deduction without a key; flow.NewID if nil.
	NewID func(kind string) string
}

// DB is the catalog's database.
type DB struct {
	db    *store.DB
	now   func() time.Time
	newID func(kind string) string
}

var _ catalog.Store = (*DB)(nil)

// Open opens or creates the database file at path. An empty catalog gets the demo's dishes, once.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	db, err := store.Open(ctx, path, folder)
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	c := &DB{db: db, now: opts.Now, newID: opts.NewID}
	if c.now == nil {
		c.now = time.Now
	}
	if c.newID == nil {
		c.newID = flow.NewID
	}
	if err := c.seed(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	return c, nil
}

// Close closes the database.
func (c *DB) Close() error { return c.db.Close() }

// Ping tells whether the database answers, and can be written.
func (c *DB) Ping(ctx context.Context) error {
	if err := c.db.Ping(ctx); err != nil {
		return fmt.Errorf("ping catalog: %w", err)
	}
	return nil
}
