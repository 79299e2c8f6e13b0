// Package meshtest starts the whole mesh in memory, for tests only: the modules as `serve` wires them, the
// main listener on a pipe, a folder of its own, the demo model. It must not be imported by the program.
package meshtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/app"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
)

// host is the host name of the main listener.
const host = "public" + mesh.Domain

// Options change what a scenario needs changed.
type Options struct {
	Dir    string            // folder of the databases; a temporary one when empty
	Change func(*app.Config) // settings
	Now    func() time.Time  // the clock; the real one when nil
	With   []app.Option      // what else differs
}

// Mesh is a running mesh.
type Mesh struct {
	t       *testing.T
	apps    []*app.App // in the order in which they started
	base    string     // URL of the main listener
	client  *http.Client
	catalog string // base URL of the catalog's process
	gateway string // base URL of the gateway's process
	Dir     string
}

// CatalogURL is the catalog's MCP endpoint, for Client.
func (m *Mesh) CatalogURL() string { return m.catalog + "/mcp" }

// AgentURL is where the gateway shows an agent, for Client.
func (m *Mesh) AgentURL(name string) string { return m.gateway + "/a2a/agents/" + name + "/" }

// Client reaches the mesh's listeners.
func (m *Mesh) Client() *http.Client { return m.client }

// Start starts a mesh in one process and stops it when the test ends.
func Start(t *testing.T, o Options) *Mesh {
	t.Helper()
	return InMemory.Start(t, o)
}

// At speaks to a mesh that runs as a process of its own, over TCP. Whoever started it stops it, and knows its folder.
func At(t *testing.T, url string) *Mesh {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return &Mesh{t: t, base: url, catalog: url, gateway: url, client: &http.Client{Transport: transport}}
}

// start starts one process of a mesh. The orchestrator's listener is the mesh's.
func (m *Mesh) start(o Options, listener net.Listener, change func(*app.Config)) *app.App {
	m.t.Helper()
	c := app.Default()
	c.Data, c.AllowHosts, c.Listen = m.Dir, []string{host}, "127.0.0.1:0"
	if o.Change != nil {
		o.Change(&c)
	}
	change(&c)
	options := slices.Clone(o.With)
	if listener != nil {
		options = append(options, app.WithListener(listener))
	}
	if o.Now != nil {
		options = append(options, app.WithNow(o.Now))
	}
	a, err := app.New(c, options...)
	if err != nil {
		m.t.Fatal(err)
	}
	ctx := flow.WithLogger(context.Background(), flow.NewLogger(testWriter{m.t}, "error"))
	if err := a.Start(ctx); err != nil {
		m.t.Fatal(err)
	}
	m.apps = append(m.apps, a)
	return a
}

// Stop stops the mesh; a second time does nothing.
func (m *Mesh) Stop() {
	for i := len(m.apps) - 1; i >= 0; i-- {
		if err := m.apps[i].Stop(context.Background()); err != nil {
			m.t.Errorf("stop the mesh: %v", err)
		}
	}
	m.apps = nil
	m.client.CloseIdleConnections()
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// Do sends a request to a path of the main listener, as a user, and gives status and body.
func (m *Mesh) Do(user, method, path, body string) (int, string) {
	m.t.Helper()
	resp := m.Open(user, method, path, body, nil)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(raw)
}

// Open sends a request and gives the answer, for streams.
func (m *Mesh) Open(user, method, path, body string, header http.Header) *http.Response {
	m.t.Helper()
	resp, err := m.send(user, method, path, body, header)
	if err != nil {
		m.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

func (m *Mesh) send(user, method, path, body string, header http.Header) (*http.Response, error) {
	r, err := http.NewRequest(method, m.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-User-ID", user)
	for name, values := range header {
		r.Header[name] = values
	}
	return m.client.Do(r)
}

// Try posts to a mesh that may die under it, and waits for the end of the answer, whatever it is.
func (m *Mesh) Try(user, path, body string) {
	resp, err := m.send(user, http.MethodPost, path, body, nil)
	if err != nil {
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// Get reads a JSON answer.
func (m *Mesh) Get(user, path string, into any) {
	m.t.Helper()
	status, body := m.Do(user, http.MethodGet, path, "")
	if status != http.StatusOK {
		m.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		m.t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// Input writes a RunAgentInput with one message.
func Input(thread, text string) string {
	raw, _ := json.Marshal(map[string]any{
		"threadId": thread, "runId": flow.NewID("label"), "tools": []any{}, "context": []any{}, "state": map[string]any{},
		"forwardedProps": map[string]any{}, "messages": []map[string]string{{"id": flow.NewID("u"), "role": "user", "content": text}},
	})
	return string(raw)
}

// fatalf ends the scenario with what is known.
func (m *Mesh) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf(format, args...)
}
