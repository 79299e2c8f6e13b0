package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

const (
	annsKey  = "ann-secret-0123456789"
	bobsKey  = "bob-secret-0123456789"
	botsKey  = "bot-secret-0123456789"
	keysText = "ann:person:" + annsKey + ",bob:person:" + bobsKey + ",bot:agent:" + botsKey
)

func bearer(secret string) http.Header { return http.Header{"Authorization": {"Bearer " + secret}} }

// do sends a request with a key; X-User-ID claims to be ann.
func do(t *testing.T, m *meshtest.Mesh, secret, method, path, body string) (int, string) {
	t.Helper()
	resp := m.Open("ann", method, path, body, bearer(secret))
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, readAll(t, resp)
}

func withKeys(c *app.Config) { c.APIKeys = keysText }

func TestEveryRequestNeedsAKey(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: withKeys})
	for _, path := range []string{"/api/v1/runs", "/api/v1/orders", "/api/v1/about", "/readyz", "/mcp", "/demo/v1/models", "/a2a/agents", "/agui", "/agui/capabilities", "/copilotkit/info", copilot + "/run"} {
		for _, header := range []http.Header{nil, bearer("wrong"), {"Authorization": {"Basic " + annsKey}}, {"Authorization": {annsKey}}} {
			resp := m.Open("ann", http.MethodGet, path, "", header)
			body := readAll(t, resp)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" || !strings.Contains(body, "unauthenticated") {
				t.Errorf("GET %s with %v: %d %s, want 401", path, header, resp.StatusCode, body)
			}
		}
	}
	for _, path := range []string{"/healthz", "/", "/a2a/agents/food/.well-known/agent-card.json"} {
		if status, _ := m.Do("ann", http.MethodGet, path, ""); status != http.StatusOK {
			t.Errorf("GET %s without a key: %d, want 200", path, status)
		}
	}
}

// The second user sees nothing of the first's, by any route; what belongs to another is not found.
func TestUsersAreApart(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: withKeys})
	resp := m.Open("ann", http.MethodPost, "/agui", meshtest.Input("t1", "帮我订一份水煮牛肉。"), bearer(annsKey))
	stream := readAll(t, resp)
	_ = resp.Body.Close()
	runID := resp.Header.Get("X-Run-Id")
	_, open := do(t, m, annsKey, http.MethodGet, "/api/v1/confirmations?status=open", "")
	_, orders := do(t, m, annsKey, http.MethodGet, "/api/v1/orders", "")
	if !strings.Contains(stream, "interrupt") || !strings.Contains(open, runID) || !strings.Contains(orders, "PLACING") {
		t.Fatalf("ann's order: %s\n%s\n%s", stream, open, orders)
	}
	confirmation, order := firstID(t, open, "confirmationId"), firstID(t, orders, "id")
	for _, path := range []string{"/api/v1/runs", "/api/v1/confirmations", "/api/v1/conversations", "/api/v1/orders", "/api/v1/audit", "/api/v1/audit?runId=" + runID} {
		if status, body := do(t, m, bobsKey, http.MethodGet, path, ""); status != http.StatusOK || strings.Contains(body, runID) || !strings.Contains(body, `"items":[]`) {
			t.Errorf("bob: GET %s: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/api/v1/runs/" + runID, "/api/v1/runs/" + runID + "/events", "/api/v1/orders/" + order} {
		if status, _ := do(t, m, bobsKey, http.MethodGet, path, ""); status != http.StatusNotFound {
			t.Errorf("bob: GET %s: %d, want 404", path, status)
		}
	}
	for _, verb := range []string{"confirm", "reject", "cancel"} {
		if status, _ := do(t, m, bobsKey, http.MethodPost, "/runs/"+runID+"/"+verb, `{"confirmationId":"`+confirmation+`"}`); verb != "cancel" && status != http.StatusNotFound {
			t.Errorf("bob: %s: %d, want 404", verb, status)
		}
	}
	status, body := do(t, m, bobsKey, http.MethodPost, "/agui", resumeBody("t1", confirmation, `{"approved":true}`))
	if status != http.StatusOK || strings.Contains(body, runID) || strings.Contains(body, "水煮牛肉") {
		t.Errorf("bob's resume of ann's interrupt: %d %s", status, body)
	}
	if status, _ := do(t, m, annsKey, http.MethodPost, "/runs/"+runID+"/confirm", `{}`); status != http.StatusOK {
		t.Errorf("ann's own yes: %d, want 200", status)
	}
}

func firstID(t *testing.T, body, name string) string {
	t.Helper()
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Items) == 0 {
		t.Fatalf("no items in %s", body)
	}
	id, _ := list.Items[0][name].(string)
	return id
}

func TestAnAgentDecidesNothing(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: withKeys})
	resp := m.Open("", http.MethodPost, "/agui", meshtest.Input("t1", "帮我订一份水煮牛肉。"), bearer(botsKey))
	readAll(t, resp)
	_ = resp.Body.Close()
	_, open := do(t, m, botsKey, http.MethodGet, "/api/v1/confirmations", "")
	runID, confirmation := firstID(t, open, "runId"), firstID(t, open, "confirmationId")
	for _, verb := range []string{"confirm", "reject"} {
		if status, body := do(t, m, botsKey, http.MethodPost, "/runs/"+runID+"/"+verb, `{}`); status != http.StatusForbidden {
			t.Errorf("an agent's %s: %d %s, want 403", verb, status, body)
		}
	}
	if status, _ := do(t, m, botsKey, http.MethodPost, "/agui", resumeBody("t1", confirmation, `{"approved":true}`)); status != http.StatusForbidden {
		t.Errorf("an agent's resume: %d, want 403", status)
	}
	if status, _ := do(t, m, botsKey, http.MethodPost, "/runs/"+runID+"/cancel", `{}`); status != http.StatusOK {
		t.Errorf("an agent's cancel of its own run: %d, want 200", status)
	}
}

// TestKeyCommand adds and revokes keys of a running program.
func TestKeyCommand(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	if status, _ := m.Do("ann", http.MethodGet, "/api/v1/about", ""); status != http.StatusOK {
		t.Fatalf("without any key: %d", status)
	}
	secret, _, _ := strings.Cut(command(t, "key", "add", "carol", "--role", "person", "--data", m.Dir), "\n")
	if !strings.HasPrefix(secret, "amk_") {
		t.Fatalf("key add printed %q", secret)
	}
	if status, _ := m.Do("ann", http.MethodGet, "/api/v1/about", ""); status != http.StatusUnauthorized {
		t.Errorf("without the key: %d, want 401", status)
	}
	if status, _ := do(t, m, secret, http.MethodGet, "/api/v1/about", ""); status != http.StatusOK {
		t.Errorf("with the key: %d, want 200", status)
	}
	raw, err := os.ReadFile(filepath.Join(m.Dir, "keys.json"))
	if err != nil || bytes.Contains(raw, []byte(secret)) {
		t.Errorf("the key file holds the secret (%v)", err)
	}
	if info, err := os.Stat(filepath.Join(m.Dir, "keys.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has the mode %v (%v)", info.Mode(), err)
	}
	if list := command(t, "key", "list", "--data", m.Dir); !strings.Contains(list, "carol") || strings.Contains(list, secret) {
		t.Errorf("key list: %s", list)
	}
	command(t, "key", "add", "dora", "--data", m.Dir)
	command(t, "key", "revoke", "carol", "--data", m.Dir)
	if status, _ := do(t, m, secret, http.MethodGet, "/api/v1/about", ""); status != http.StatusUnauthorized {
		t.Errorf("with the revoked key: %d, want 401", status)
	}
}

// TestRevokingTheLastKeyOpensNothing: a listener that others reach lets nobody in without a key, also when
// there are none left (design, section 12).
func TestRevokingTheLastKeyOpensNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, _, _ := strings.Cut(command(t, "key", "add", "carol", "--data", dir), "\n")
	_, a := serving(t, func(c *app.Config) { c.Data, c.Listen = dir, "0.0.0.0:0" })
	_, port, err := net.SplitHostPort(a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	status := func(header http.Header) int {
		r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+port+"/api/v1/about", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(bearer(secret)); got != http.StatusOK {
		t.Errorf("with the key: %d, want 200", got)
	}
	if said := command(t, "key", "revoke", "carol", "--data", dir); !strings.Contains(said, "revoked carol") || !strings.Contains(said, "lets nobody in") {
		t.Errorf("revoke says %q", said)
	}
	for name, header := range map[string]http.Header{"without a key": {}, "with the revoked one": bearer(secret), "as somebody": {"X-User-Id": {"ann"}}} {
		if got := status(header); got != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", name, got)
		}
	}
}

// TestAStreamEndsWithItsKey: what lasts does not outlive the key that it was opened with.
func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		keys := map[string]string{}
		for _, name := range []string{"carol", "dora"} {
			keys[name], _, _ = strings.Cut(command(t, "key", "add", name, "--data", dir), "\n")
		}
		m := meshtest.Start(t, meshtest.Options{Dir: dir})
		streams := map[string]*http.Response{}
		for name, secret := range keys {
			streams[name] = m.Open("", http.MethodPost, "/api/v1/runs", meshtest.Input("t1", "帮我订一份水煮牛肉。"), bearer(secret))
		}
		command(t, "key", "revoke", "carol", "--data", dir)
		var ended sync.WaitGroup
		took := map[string]time.Duration{}
		var mu sync.Mutex
		began := time.Now()
		for name, resp := range streams {
			ended.Go(func() {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				took[name] = time.Since(began)
			})
		}
		ended.Wait()
		if took["carol"] > 10*time.Second || took["dora"] < 4*time.Minute {
			t.Errorf("the streams ended after %v, want carol's soon, and dora's with her question", took)
		}
		m.Stop()
	})
}

func command(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := app.Run(args, &out, &out); status != 0 {
		t.Fatalf("agentmesh %s: %d %s", strings.Join(args, " "), status, out.String())
	}
	return out.String()
}

func TestBadKeysAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"ann", "ann:person", "ann:person:short", "ann:king:0123456789abcdef", "a b:person:0123456789abcdef"} {
		c := app.Default()
		c.Data, c.APIKeys = t.TempDir(), bad
		if _, err := app.New(c); err == nil || !strings.Contains(err.Error(), "AGENTMESH_API_KEYS") || strings.Contains(err.Error(), "0123456789abcdef") {
			t.Errorf("%s: got %v, want an error that names the setting and no secret", bad, err)
		}
	}
	c := app.Default()
	c.Data, c.Listen, c.APIKeys = t.TempDir(), "0.0.0.0:0", keysText
	if _, err := app.New(c); err != nil {
		t.Errorf("all addresses with keys: %v", err)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "keys.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = app.Default()
	c.Data = broken
	if _, err := app.New(c); err == nil || !strings.Contains(err.Error(), "keys.json") {
		t.Errorf("a broken key file: %v", err)
	}
}
