package app

import (
	"context"
	"encoding/json"
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

// readyz says of each module whether it can serve; 503 if one cannot.
func readyz(modules []mesh.Module) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		out := map[string]string{}
		for _, m := range modules {
			ctx, cancel := context.WithTimeout(r.Context(), readyTime)
			out[m.Name()] = "ready"
			if err := m.Ready(ctx); err != nil {
				out[m.Name()], status = fault.MessageOf(err), http.StatusServiceUnavailable
			}
			cancel()
		}
		writeJSON(w, status, map[string]any{"modules": out})
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
