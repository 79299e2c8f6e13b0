package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
)

// serve runs a handler as a module of this process.
func serve(t *testing.T, n *mesh.Network, name string, h http.HandlerFunc) net.Listener {
	t.Helper()
	l := n.Listen(name)
	srv := &http.Server{Handler: h}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return l
}

func client(t *testing.T, n *mesh.Network) *http.Client {
	t.Helper()
	c := &http.Client{Transport: n.Transport()}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func body(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := get(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestNetwork_PipeIsARealConnection(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("key")
	l := serve(t, n, "food", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+" "+r.Method+" "+r.URL.Path)
	})
	if n.BaseURL("food") != "http://food.internal" || l.Addr().String() != "food" || l.Addr().Network() != "pipe" {
		t.Errorf("got %s, %s", n.BaseURL("food"), l.Addr())
	}
	c := client(t, n)
	for range 3 {
		if got := body(t, c, n.BaseURL("food")+"/agents/food"); got != "food.internal GET /agents/food" {
			t.Errorf("got %q", got)
		}
	}
}

func TestNetwork_StreamsArriveAsWritten(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("key")
	next := make(chan struct{})
	serve(t, n, "food", func(w http.ResponseWriter, _ *http.Request) {
		for range 2 {
			_, _ = io.WriteString(w, "piece")
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	})
	resp, err := get(t, client(t, n), n.BaseURL("food"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		piece := make([]byte, 5)
		if _, err := io.ReadFull(resp.Body, piece); err != nil || string(piece) != "piece" {
			t.Fatalf("got %q, %v", piece, err)
		}
		next <- struct{}{}
	}
}

func TestNetwork_CancelReachesTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := mesh.NewNetwork("key")
		arrived, ended := make(chan struct{}), make(chan error, 1)
		l := n.Listen("food")
		srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			<-r.Context().Done()
			ended <- r.Context().Err()
		})}
		go func() { _ = srv.Serve(l) }()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, n.BaseURL("food"), http.NoBody)
		began := time.Now()
		resp, err := (&http.Client{Transport: n.Transport()}).Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) || !errors.Is(<-ended, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("got %v after %s, want cancelled at once on both sides", err, time.Since(began))
		}
		_ = srv.Close()
	})
}

func TestNetwork_PanicIsABrokenConnection(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("key")
	serve(t, n, "food", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := get(t, client(t, n), n.BaseURL("food"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); err == nil || string(got) != "half" {
		t.Errorf("got %q, %v, want half and an error", got, err)
	}
}

func TestNetwork_NobodyThere(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("key")
	c := client(t, n)
	if _, err := get(t, c, "http://weather.internal/"); err == nil {
		t.Error("a module that does not run here answered")
	}
	l := n.Listen("food")
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept: got %v, want closed", err)
	}
	if _, err := get(t, c, n.BaseURL("food")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want closed", err)
	}
	n.Listen("slow") // nobody accepts
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.DialContext(ctx, "tcp", "slow.internal:80"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	if _, err := n.DialContext(t.Context(), "tcp", "no port"); err == nil {
		t.Error("an address without a port was dialled")
	}
}

// TestNetwork_KeyOnlyForModules sends a request to a module here, to a peer, and to a stranger.
func TestNetwork_KeyOnlyForModules(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("secret")
	echo := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get(mesh.HeaderKey)) }
	serve(t, n, "food", echo)
	peer, stranger := httptest.NewServer(http.HandlerFunc(echo)), httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(peer.Close)
	t.Cleanup(stranger.Close)
	n.AddPeer("mcp", peer.URL+"/")
	leads := httptest.NewServer(http.RedirectHandler(stranger.URL, http.StatusTemporaryRedirect))
	t.Cleanup(leads.Close)
	n.AddPeer("leads", leads.URL+"/base")
	if n.BaseURL("mcp") != peer.URL || n.BaseURL("leads") != leads.URL+"/base" {
		t.Errorf("got %s and %s", n.BaseURL("mcp"), n.BaseURL("leads"))
	}
	c := client(t, n)
	for name, tt := range map[string]struct{ url, want string }{
		"module":             {n.BaseURL("food"), "secret"},
		"peer":               {n.BaseURL("mcp") + "/mcp", "secret"},
		"stranger":           {stranger.URL, ""},
		"peer_that_forwards": {n.BaseURL("leads"), ""},
	} {
		if got := body(t, c, tt.url); got != tt.want {
			t.Errorf("%s: got key %q, want %q", name, got, tt.want)
		}
	}
}

func TestNetwork_KeyIsNotLeftOnTheRequest(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("secret")
	serve(t, n, "food", func(http.ResponseWriter, *http.Request) {})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, n.BaseURL("food"), http.NoBody)
	resp, err := client(t, n).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r.Header.Get(mesh.HeaderKey) != "" {
		t.Error("the caller's request carries the key")
	}
}

func TestRequireKey(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for name, tt := range map[string]struct {
		key, sent string
		want      int
	}{
		"right":                 {"secret", "secret", 204},
		"wrong":                 {"secret", "secreT", 403},
		"none":                  {"secret", "", 403},
		"network_without_a_key": {"", "", 403},
	} {
		r := httptest.NewRequest(http.MethodPost, "/agents/food", http.NoBody)
		r.Header.Set(mesh.HeaderKey, tt.sent)
		w := httptest.NewRecorder()
		mesh.NewNetwork(tt.key).RequireKey(ok).ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, tt.want)
		}
	}
}

// TestUserOf_OnlyTheMeshItselfIsBelieved: for whom a call is made travels between modules, never to a
// stranger, and counts for nothing without the internal key.
func TestUserOf_OnlyTheMeshItselfIsBelieved(t *testing.T) {
	t.Parallel()
	n := mesh.NewNetwork("secret")
	tell := func(w http.ResponseWriter, r *http.Request) {
		user, ok := n.UserOf(r)
		_, _ = fmt.Fprintf(w, "%s %t %s", user, ok, r.Header.Get(mesh.HeaderUser))
	}
	serve(t, n, "food", tell)
	stranger := httptest.NewServer(http.HandlerFunc(tell))
	t.Cleanup(stranger.Close)
	for _, c := range []struct{ name, url, user, claimed, want string }{
		{"between modules", n.BaseURL("food"), "安 娜&co", "", "安 娜&co true %E5%AE%89+%E5%A8%9C%26co"},
		{"on nobody's behalf", n.BaseURL("food"), "", "", " false "},
		{"to a stranger", stranger.URL, "anna", "", " false "},
		{"claimed without the key", stranger.URL, "", "anna", " false anna"},
	} {
		r, err := http.NewRequestWithContext(flow.With(t.Context(), flow.IDs{UserID: c.user}), http.MethodGet, c.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.claimed != "" {
			r.Header.Set(mesh.HeaderUser, c.claimed)
		}
		resp, err := client(t, n).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, body, c.want)
		}
	}
}
