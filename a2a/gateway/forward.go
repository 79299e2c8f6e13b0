package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
)

// call forwards a JSON-RPC request to an agent and its answer back, each event as it comes.
func (m *Module) call(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		fault.MethodNotAllowed(w, http.MethodPost)
		return
	}
	if err := m.admit(r); err != nil {
		fault.Write(w, err)
		return
	}
	agent, err := m.agents.find(r.PathValue("name"))
	if err != nil {
		fault.Write(w, err)
		return
	}
	request, status, err := a2a.ReadCall(w, r)
	if err != nil {
		a2a.WriteError(w, status, request.ID, err)
		return
	}
	target, err := url.Parse(agent.URL + "/")
	if err != nil {
		a2a.WriteError(w, http.StatusBadGateway, request.ID, fmt.Errorf("forward to %s: %w", agent.Name, err))
		return
	}
	span.Describe(r.Context(), span.Server, "forward to "+agent.Name, "gen_ai.agent.name", agent.Name, "rpc.system", "jsonrpc", "rpc.method", request.Method)
	flow.Log(r.Context()).Debug().Str("agent", agent.Name).Str("method", request.Method).Msg("a2a forwarded")
	proxy := httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { rewrite(p, target, request.Body) },
		Transport:      m.options.Transport,
		FlushInterval:  -1,
		ModifyResponse: narrow,
		ErrorLog:       log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			flow.Log(r.Context()).Warn().Err(err).Str("agent", agent.Name).Msg("a2a forward failed")
			a2a.WriteError(w, http.StatusBadGateway, request.ID, unreachable(agent.Name))
		},
	}
	proxy.ServeHTTP(w, r)
}

// unreachable keeps the protocol's number for it, -32603, and our code for the mesh's own client.
func unreachable(agent string) error {
	return fault.New(fault.Unavailable, "the agent %s cannot be reached", agent)
}

// rewrite makes the request to the agent: the body as it was read, and of the headers only those that the protocol and the
// trace need. Authorization, cookies and the caller's internal key stay here.
func rewrite(p *httputil.ProxyRequest, target *url.URL, body []byte) {
	in, out := p.In, p.Out
	out.URL, out.Host = target, target.Host
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.ContentLength = int64(len(body))
	out.Header = http.Header{}
	for _, name := range []string{"Accept", "A2A-Extensions"} {
		if v := in.Header.Values(name); len(v) > 0 {
			out.Header[http.CanonicalHeaderKey(name)] = v
		}
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set(a2a.HeaderVersion, a2a.Version)
	ids := flow.From(in.Context())
	if ids == (flow.IDs{}) {
		ids = flow.ReadHeaders(in.Header)
	}
	flow.WriteHeaders(out.Header, ids)
}

// narrow checks an agent's answer and leaves only the headers that say how to read it. An answer that is not the protocol's
// (the guard's, a proxy's) is as good as none, and might name the inside.
func narrow(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/json" && kind != "text/event-stream" {
		return errors.New("answer is not A2A: " + resp.Status + " " + kind)
	}
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "X-Accel-Buffering"} {
		if v := resp.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	resp.Header = kept
	return nil
}
