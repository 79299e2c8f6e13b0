package app

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agentmesh/app/platform/fault"
)

// guard refuses requests for other hosts and from other origins, on every route: a web page elsewhere
// must not reach a program on this machine, not even by making its own name point here. Origins are those
// elsewhere that the operator lets in (CORS); none but when configured.
func guard(hosts, origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !slices.Contains(hosts, strings.ToLower(r.Host)) {
			fault.Write(w, fault.New(fault.Denied, "this server does not answer to the host %q; --allow-host or --public-url adds one", r.Host))
			return
		}
		origin := r.Header.Get("Origin")
		switch {
		case origin == "" || sameOrigin(origin, hosts):
		case slices.Contains(origins, origin):
			if letIn(h, origin, r) {
				w.WriteHeader(http.StatusNoContent)
				return
			}
		default:
			fault.Write(w, fault.New(fault.Denied, "requests from the origin %q are not allowed; --allow-origin adds one", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// letIn says in the answer's headers what an allowed origin's pages may do, and tells whether that was all
// they asked (Fetch, section 3.3: a preflight). Cookies are not among it: a key goes in Authorization.
func letIn(h http.Header, origin string, r *http.Request) (preflight bool) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Run-Id, X-Trace-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, Traceparent, X-User-ID, A2A-Version, MCP-Protocol-Version, MCP-Session-Id")
	h.Set("Access-Control-Max-Age", "600")
	return true
}

func sameOrigin(origin string, hosts []string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && slices.Contains(hosts, strings.ToLower(u.Host))
}

// allowedHosts lists the Host values that a listener answers to: itself, the names of loopback if it is
// there, and what was configured.
func allowedHosts(addr net.Addr, c Config) []string {
	out := ownHosts(addr)
	for _, h := range c.AllowHosts {
		out = append(out, strings.ToLower(h))
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		out = append(out, strings.ToLower(u.Host))
	}
	return out
}

func ownHosts(addr net.Addr) []string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil // not a network address: a test's pipe
	}
	names := []string{host}
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	var out []string
	for _, name := range names {
		out = append(out, strings.ToLower(net.JoinHostPort(name, port)))
		if port == "80" {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}
