package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/mesh"
)

// readyTime bounds how long one module may take to say whether it is ready.
const readyTime = 2 * time.Second

// healthz says that the process is up.
func healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "up"})
}

// readyz says of each module here, and of each peer, whether it can serve; 503 if one cannot. A peer is
// asked for its own modules only.
type readyz struct {
	modules []mesh.Module
	peers   map[string]string
	http    *http.Client
	books   func() int // how many disagreements of orders and stock a person must settle
}

func (h readyz) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	status := http.StatusOK
	say := func(err error) string {
		if err == nil {
			return "ready"
		}
		status = http.StatusServiceUnavailable
		return fault.MessageOf(err)
	}
	modules, peers := map[string]string{}, map[string]string{}
	for _, m := range h.modules {
		modules[m.Name()] = say(m.Ready(ctx))
	}
	if r.URL.Query().Get("peers") != "no" { // peers may be each other's
		for name, base := range h.peers {
			peers[name] = say(h.ask(ctx, base))
		}
	}
	out := map[string]any{"modules": modules, "peers": peers}
	if n := h.books(); n > 0 { // it can serve all the same
		out["books"] = fmt.Sprintf("orders and stock disagree in %d places, which a person must settle: see 'agentmesh doctor'", n)
	}
	writeJSON(w, status, out)
}

// ask asks a peer's process for its readiness.
func (h readyz) ask(ctx context.Context, base string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz?peers=no", http.NoBody)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "its address cannot be used")
	}
	resp, err := h.http.Do(r)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "nothing answers at its address")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "it is not ready (HTTP %d)", resp.StatusCode)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// readOnly answers other methods than GET and HEAD with a problem document.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			fault.MethodNotAllowed(w, "GET, HEAD")
			return
		}
		next.ServeHTTP(w, r)
	})
}
