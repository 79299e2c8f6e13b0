// Package food is the module of the Food agent: it recommends dishes of the day's menu and works out orders, by rules, over
// A2A. It reads the menu through MCP. It must not know users, runs or confirmations, and it never touches stock.
package food

import (
	"context"
	"net/http"
	"time"

	"agentmesh/a2a"
	"agentmesh/app/platform/mesh"
)

// Prefix is where the agent's paths begin.
const Prefix = "/agents/food"

// Options are what the agent needs from the program around it.
type Options struct {
	Menu    Menu
	Now     func() time.Time                // stamps tasks; time.Now when nil. What day it is, the menu says.
	Guard   func(http.Handler) http.Handler // keeps everybody but the mesh out; nobody when nil
	BaseURL string                          // the agent's own address, for its card; that of the pipe when empty
}

// Module is the Food agent.
type Module struct {
	agent   *a2a.Handler
	handler http.Handler
}

var _ mesh.Module = (*Module)(nil)

// New makes the Food agent.
func New(o Options) *Module {
	if o.BaseURL == "" {
		o.BaseURL = "http://food" + mesh.Domain + Prefix
	}
	m := &Module{}
	m.agent = a2a.NewHandler(Prefix, a2a.Options{
		Card: card().At(o.BaseURL), Executor: &executor{menu: o.Menu}, Now: o.Now,
	})
	m.handler = m.agent
	if o.Guard != nil {
		m.handler = o.Guard(m.agent)
	}
	return m
}

// Name implements mesh.Module.
func (m *Module) Name() string { return "food" }

// Prefixes implements mesh.Module.
func (m *Module) Prefixes() []string { return []string{Prefix} }

// Handler implements mesh.Module.
func (m *Module) Handler() http.Handler { return m.handler }

// Start implements mesh.Module.
func (m *Module) Start(context.Context) error { return nil }

// Stop implements mesh.Module.
func (m *Module) Stop(ctx context.Context) error { return m.agent.Close(ctx) }

// Ready implements mesh.Module. The menu is asked for with every call, and a call says when it can't be had.
func (m *Module) Ready(context.Context) error { return nil }
