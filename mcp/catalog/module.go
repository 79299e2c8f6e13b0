// Package catalog is the module that owns the canteen's dishes, its menus and its stock, and offers them
// as MCP tools at /mcp. It alone judges what is in stock. It must not know of agents, conversations or
// orders, nor how its store keeps things.
package catalog

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/mcp"
)

// Name is the module's name and Path where its endpoint is.
const (
	Name = "mcp"
	Path = "/mcp"
)

// sweepEvery is how long a hold may outlive its time at most while nobody asks for it.
const sweepEvery = 10 * time.Second

// Options are the module's settings.
type Options struct {
	// Location is the canteen's time zone, where "today" is computed; UTC if nil.
	Location *time.Location
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// CanWrite tells whether a request may use the stock tools; nil means none may.
	CanWrite func(*http.Request) bool
	// CanOperate tells whether a request may use the operator's tools; nil means none may.
	CanOperate func(*http.Request) bool
	// Guarded says that the server in front checks Host and Origin.
	Guarded bool
}

// Module is the food catalog.
type Module struct {
	store    Store
	calendar calendar
	handler  http.Handler
	now      func() time.Time
	stop     context.CancelFunc
	done     chan struct{}
}

var _ mesh.Module = (*Module)(nil)

// New makes the module on a store.
func New(store Store, opts Options) *Module {
	if opts.Location == nil {
		opts.Location = time.UTC
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &Module{
		store: store, now: opts.Now,
		calendar: calendar{location: opts.Location, now: opts.Now},
	}
	endpoint := mcp.NewHandler(m.tools(), mcp.Options{
		Name: "agentmesh-catalog", Version: "1.0.0",
		Instructions: "The canteen's dishes and menus. 食堂的菜品和菜单。",
		CanWrite:     opts.CanWrite,
		CanOperate:   opts.CanOperate,
		Guarded:      opts.Guarded,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, endpoint)
	mux.Handle(Path+"/{$}", endpoint)
	m.handler = mux
	return m
}

// Name is the module's name in flags, logs and addresses.
func (m *Module) Name() string { return Name }

// Prefixes are the paths that the module owns.
func (m *Module) Prefixes() []string { return []string{Path} }

// Handler serves the MCP endpoint.
func (m *Module) Handler() http.Handler { return m.handler }

// Start ends the holds that ran out while nobody was here, and keeps doing so.
func (m *Module) Start(ctx context.Context) error {
	if _, err := m.store.Expire(ctx, m.now()); err != nil {
		return fmt.Errorf("start catalog: %w", err)
	}
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.done = make(chan struct{})
	go m.sweep(ctx)
	return nil
}

func (m *Module) sweep(ctx context.Context) {
	defer close(m.done)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		n, err := m.store.Expire(ctx, m.now())
		switch {
		case err != nil && ctx.Err() == nil:
			flow.Log(ctx).Error().Str("module", Name).Err(err).Msg("holds not expired")
		case n > 0:
			flow.Log(ctx).Info().Str("module", Name).Int("holds", n).Msg("holds expired")
		}
	}
}

// Stop ends the sweeper and waits for it.
func (m *Module) Stop(ctx context.Context) error {
	if m.stop == nil {
		return nil
	}
	m.stop()
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop catalog: %w", ctx.Err())
	}
}

// Ready tells whether the store can work.
func (m *Module) Ready(ctx context.Context) error {
	if err := m.store.Ping(ctx); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return nil
}
