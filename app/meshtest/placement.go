package meshtest

import (
	"net/http"
	"testing"

	"agentmesh/app"
	"agentmesh/app/platform/mesh"
)

// Placement is a way to spread the modules. Each scenario holds in all of them.
type Placement struct {
	Name  string
	start func(m *Mesh, o Options, public *mesh.Network)
}

// The placements of the design, section 2. Processes are programs of their own with nothing in common but
// the internal key; here they share the test's process.
var (
	InMemory = Placement{"in memory", func(m *Mesh, o Options, public *mesh.Network) {
		m.start(o, public.Listen("public"), func(*app.Config) {})
	}}
	TwoSplit = Placement{"two split", func(m *Mesh, o Options, public *mesh.Network) {
		m.start(o, public.Listen("public"), func(c *app.Config) { c.Splits = []string{"food=:0", "mcp=:0"} })
	}}
	AllSplit = Placement{"all split", func(m *Mesh, o Options, public *mesh.Network) {
		m.start(o, public.Listen("public"), func(c *app.Config) {
			c.Splits = []string{"mcp=:0", "weather=:0", "food=:0", "gateway=:0", "orchestrator=:0"}
		})
	}}
	Processes = Placement{"five processes", startProcesses}
)

// Placements lists all of them.
func Placements() []Placement { return []Placement{InMemory, TwoSplit, AllSplit, Processes} }

// Start starts a mesh in this placement and stops it when the test ends.
func (p Placement) Start(t *testing.T, o Options) *Mesh {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	public := mesh.NewNetwork("")
	m := &Mesh{t: t, Dir: o.Dir, base: "http://" + host, catalog: "http://" + host, gateway: "http://" + host, client: &http.Client{Transport: public.Transport()}}
	t.Cleanup(m.Stop)
	p.start(m, o, public)
	return m
}

func startProcesses(m *Mesh, o Options, public *mesh.Network) {
	peers := map[string]string{}
	needs := map[string][]string{"food": {"mcp"}, "gateway": {"food", "weather"}, "orchestrator": {"mcp", "gateway"}}
	for _, name := range []string{"mcp", "weather", "food", "gateway", "orchestrator"} {
		change := func(c *app.Config) {
			c.Modules, c.InternalKey = []string{name}, "key-of-the-test"
			for _, need := range needs[name] {
				c.Peers = append(c.Peers, need+"="+peers[need])
			}
		}
		if name == "orchestrator" {
			m.start(o, public.Listen("public"), change)
			continue
		}
		peers[name] = "http://" + m.start(o, nil, change).Addr()
	}
	m.catalog, m.gateway = peers["mcp"], peers["gateway"]
}
