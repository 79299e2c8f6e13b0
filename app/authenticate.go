package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/identity"
	"agentmesh/app/platform/mesh"
	"agentmesh/mcp/catalog"
)

// defaultUser is who calls when nobody is named and no keys are configured (design, section 12).
const defaultUser = "local"

// maxUser is the longest user name, in bytes.
const maxUser = 128

// authenticate puts the caller into the request's context, for every module alike, and refuses who has to
// be known and is not. Exposed says that others than this machine reach the listener: there a key is needed
// also when the last one has been revoked.
func authenticate(keys *keyring, network *mesh.Network, exposed bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, known, err := callerOf(r, keys, network, exposed)
		switch {
		case err != nil:
			fault.Write(w, err)
			return
		case known:
			ctx, stop := whileKeyHolds(identity.With(r.Context(), caller), r, keys)
			defer stop()
			r = r.WithContext(ctx)
		case !network.HasKey(r) && !operates(r, network) && !isOpen(r):
			unauthenticated(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// keyAgain is how often the key of a request that lasts is looked at again.
const keyAgain = 5 * time.Second

// errKeyRevoked ends what lasts longer than its key.
var errKeyRevoked = errors.New("the key was revoked")

// whileKeyHolds ends a context soon after the key that the request came with was revoked: a stream must not
// outlive it.
func whileKeyHolds(ctx context.Context, r *http.Request, keys *keyring) (context.Context, func()) {
	secret := bearerOf(r)
	if _, keyed := keys.find(secret); !keyed {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	again := time.NewTicker(keyAgain)
	go func() {
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				if _, holds := keys.find(secret); !holds {
					end(errKeyRevoked)
				}
			}
		}
	}()
	return ctx, func() { end(context.Canceled) }
}

// bearerOf reads the key of a request; empty when there is none.
func bearerOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// callerOf finds out who calls. A module of the mesh says for whom it calls, if for anybody. With keys
// configured the user is the key's owner. Without them, bound to loopback, callers name themselves and may
// all (design, section 12).
func callerOf(r *http.Request, keys *keyring, network *mesh.Network, exposed bool) (caller identity.Identity, known bool, err error) {
	if network.HasKey(r) {
		user, ok := network.UserOf(r)
		return identity.Identity{User: user, Role: identity.Agent}, ok, nil
	}
	if exposed || keys.configured() {
		owner, ok := keys.find(bearerOf(r))
		return owner, ok, nil
	}
	user, err := named(r.Header.Get("X-User-ID"))
	return identity.Identity{User: user, Role: identity.Admin}, err == nil, err
}

// operates tells whether a command of the data folder asks what such commands may.
func operates(r *http.Request, network *mesh.Network) bool {
	return network.IsOperator(r) && (r.URL.Path == "/readyz" || r.URL.Path == catalog.Path || r.URL.Path == prunePath)
}

func unauthenticated(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="agentmesh"`)
	p := fault.ProblemOf(fault.New(fault.Denied, "this needs a key: send Authorization: Bearer …"))
	p.Status, p.Title, p.Code = http.StatusUnauthorized, http.StatusText(http.StatusUnauthorized), "unauthenticated"
	fault.WriteProblem(w, p)
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

// named reads how a caller names itself.
func named(id string) (string, error) {
	if id == "" {
		return defaultUser, nil
	}
	if len(id) > maxUser {
		return "", fault.New(fault.Invalid, "X-User-ID is longer than %d bytes", maxUser)
	}
	for _, r := range id {
		if r <= ' ' || r == 0x7f || r == 0xFFFD {
			return "", fault.New(fault.Invalid, "X-User-ID must be UTF-8 text without spaces and control characters")
		}
	}
	return id, nil
}
