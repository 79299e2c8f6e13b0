package app

import (
	"net/http"
	"strings"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/identity"
)

// authenticate finds out who calls. With keys configured every request but the open ones needs one, and
// the user is the key's owner; what X-User-ID says counts only without keys.
func authenticate(keys *keyring, hasInternalKey func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !keys.configured() || hasInternalKey(r) || isOpen(r) {
			next.ServeHTTP(w, r)
			return
		}
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		id, ok := keys.find(strings.TrimSpace(secret))
		if !strings.EqualFold(scheme, "Bearer") || !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="agentmesh"`)
			p := fault.ProblemOf(fault.New(fault.Denied, "this needs a key: send Authorization: Bearer …"))
			p.Status, p.Title, p.Code = http.StatusUnauthorized, http.StatusText(http.StatusUnauthorized), "unauthenticated"
			fault.WriteProblem(w, p)
			return
		}
		next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), id)))
	})
}

// isOpen lists what anybody may read: the page itself, which then asks for the key, the description of the
// API, public agent cards, and whether the process is up.
func isOpen(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	p := r.URL.Path
	return p == "/" || p == "/healthz" || p == "/docs" || p == "/openapi.json" || strings.HasPrefix(p, "/static/") ||
		(strings.HasPrefix(p, "/a2a/agents/") && strings.HasSuffix(p, "/.well-known/agent-card.json"))
}
