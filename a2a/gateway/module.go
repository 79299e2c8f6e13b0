// Package gateway is the module in front of the A2A agents: one public address for each, a card with that address, a check of
// the caller, and a streaming forward to where the agent is. It must not know what any agent does, and it never passes a
// caller's credentials on.
package gateway

import (
	"context"
	"net/http"
	"strings"

	"agentmesh/app/platform/mesh"
)

// Prefix is where the gateway's paths begin.
const Prefix = "/a2a/agents"

// Options are what the gateway needs from the program around it.
type Options struct {
	// Agents says where each agent is, inside the mesh.
	Agents []Agent
	// Transport makes the calls to the agents; it adds the internal key.
	Transport http.RoundTripper
	// HasKey tells whether a request comes from the mesh itself.
	HasKey func(*http.Request) bool
	// Open lets everybody call the agents; the program sets it on a loopback address without keys.
	Open bool
	// PublicURL gives the address under which a caller reaches this program, without a slash at the end. It comes from
	// configuration, never from a request's Host header.
	PublicURL func(*http.Request) string
}

// Module is the gateway.
type Module struct {
	agents  directory
	options Options
	routes  http.Handler
}

var _ mesh.Module = (*Module)(nil)

// New makes the gateway.
func New(o Options) *Module {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.HasKey == nil {
		o.HasKey = func(*http.Request) bool { return false }
	}
	m := &Module{agents: newDirectory(o.Agents), options: o}
	mux := http.NewServeMux()
	mux.HandleFunc(Prefix, m.list)
	mux.HandleFunc(Prefix+"/{$}", m.list)
	mux.HandleFunc(Prefix+"/{name}", m.call)
	mux.HandleFunc(Prefix+"/{name}/{$}", m.call)
	mux.HandleFunc(Prefix+"/{name}/.well-known/agent-card.json", m.card)
	mux.HandleFunc(Prefix+"/{name}/", m.noSuchPath)
	m.routes = mux
	return m
}

// Name implements mesh.Module.
func (m *Module) Name() string { return "gateway" }

// Prefixes implements mesh.Module.
func (m *Module) Prefixes() []string { return []string{Prefix} }

// Handler implements mesh.Module.
func (m *Module) Handler() http.Handler { return m.routes }

// Start implements mesh.Module.
func (m *Module) Start(context.Context) error { return nil }

// Stop implements mesh.Module. Calls under way end with the server that they came through.
func (m *Module) Stop(context.Context) error { return nil }

// Ready implements mesh.Module.
func (m *Module) Ready(context.Context) error { return nil }

// publicURL gives an agent's address as this request's caller reaches it, without a slash at the end.
func (m *Module) publicURL(r *http.Request, name string) string {
	base := ""
	if m.options.PublicURL != nil {
		base = strings.TrimSuffix(m.options.PublicURL(r), "/")
	}
	return base + Prefix + "/" + name
}
