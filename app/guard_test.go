package app_test

import (
	"net/http"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestAllowedOrigin: pages of an origin that the operator names may call, and read the answers; others may
// not (design, section 12).
func TestAllowedOrigin(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost:5173"
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.AllowOrigins = []string{origin} }})
	ask := func(method, origin string, header http.Header) *http.Response {
		h := header.Clone()
		if h == nil {
			h = http.Header{}
		}
		h.Set("Origin", origin)
		resp := m.Open("ann", method, "/agui", meshtest.Input("t1", "你好"), h)
		readAll(t, resp)
		_ = resp.Body.Close()
		return resp
	}
	if resp := ask(http.MethodPost, origin, nil); resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != origin ||
		!strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "X-Run-Id") || resp.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("an allowed page: %d %v", resp.StatusCode, resp.Header)
	}
	preflight := ask(http.MethodOptions, origin, http.Header{"Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type,authorization"}})
	allowed := strings.ToLower(preflight.Header.Get("Access-Control-Allow-Headers"))
	if preflight.StatusCode != http.StatusNoContent || !strings.Contains(allowed, "content-type") || !strings.Contains(allowed, "authorization") || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("its preflight: %d %v", preflight.StatusCode, preflight.Header)
	}
	for _, other := range []string{"http://localhost:5174", "https://localhost:5173", "http://localhost:5173.evil.example", "null"} {
		if resp := ask(http.MethodPost, other, nil); resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v, want 403", other, resp.StatusCode, resp.Header)
		}
	}
}

func TestAllowedOriginIsAnOrigin(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"*", "localhost:5173", "http://localhost:5173/", "http://x/path", "http://"} {
		c := app.Default()
		c.Data, c.AllowOrigins = t.TempDir(), []string{bad}
		if _, err := app.New(c); err == nil || !strings.Contains(err.Error(), "--allow-origin") {
			t.Errorf("%q: got %v, want a refusal", bad, err)
		}
	}
}
