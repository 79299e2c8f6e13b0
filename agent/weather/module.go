// Package weather is the module of the Weather agent: simulated weather and advice for ten cities, over A2A. The data is made
// up, deterministically, and every answer says so. It must not know who asks or why.
package weather

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"agentmesh/a2a"
	"agentmesh/app/platform/mesh"
)

// Prefix is where the agent's paths begin.
const Prefix = "/agents/weather"

// Options are what the agent needs from the program around it.
type Options struct {
	Location *time.Location                  // whose today is meant; UTC when nil
	Now      func() time.Time                // time.Now when nil
	Guard    func(http.Handler) http.Handler // keeps everybody but the mesh out; nobody when nil
	BaseURL  string                          // the agent's own address, for its card; that of the pipe when empty
}

// Module is the Weather agent.
type Module struct {
	agent   *a2a.Handler
	handler http.Handler
}

var _ mesh.Module = (*Module)(nil)

// New makes the Weather agent.
func New(o Options) (*Module, error) {
	cities, err := loadCities()
	if err != nil {
		return nil, fmt.Errorf("start weather: %w", err)
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://weather" + mesh.Domain + Prefix
	}
	m := &Module{}
	m.agent = a2a.NewHandler(Prefix, a2a.Options{
		Card:     card().At(o.BaseURL),
		Executor: &executor{cities: cities, location: o.Location, now: o.Now},
		Now:      o.Now,
	})
	m.handler = m.agent
	if o.Guard != nil {
		m.handler = o.Guard(m.agent)
	}
	return m, nil
}

// Name implements mesh.Module.
func (m *Module) Name() string { return "weather" }

// Prefixes implements mesh.Module.
func (m *Module) Prefixes() []string { return []string{Prefix} }

// Handler implements mesh.Module.
func (m *Module) Handler() http.Handler { return m.handler }

// Start implements mesh.Module.
func (m *Module) Start(context.Context) error { return nil }

// Stop implements mesh.Module.
func (m *Module) Stop(ctx context.Context) error { return m.agent.Close(ctx) }

// Ready implements mesh.Module.
func (m *Module) Ready(context.Context) error { return nil }
