package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp"
)

// flaky answers tools/call by hand as long as there are answers left, and else lets the real server.
type flaky struct {
	next    http.Handler
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	calls   atomic.Int64
	opened  atomic.Int64 // discover or initialize
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	switch {
	case strings.Contains(string(body), `"tools/call"`):
		f.calls.Add(1)
		f.mu.Lock()
		var answer func(http.ResponseWriter)
		if len(f.answers) > 0 {
			answer, f.answers = f.answers[0], f.answers[1:]
		}
		f.mu.Unlock()
		if answer != nil {
			answer(w)
			return
		}
	case strings.Contains(string(body), `"server/discover"`):
		f.opened.Add(1)
	}
	f.next.ServeHTTP(w, r)
}

func text(status int, contentType, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func cut(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestClient_PoisonedAnswers(t *testing.T) {
	t.Parallel()
	big := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 5<<20) + `"}]}}`
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		code   fault.Code
	}{
		{"unauthorized", text(401, "text/plain", "no"), fault.Denied},
		{"html", text(200, "text/html", "<html>"), fault.Unavailable},
		{"truncated_json", text(200, "application/json", `{"jsonrpc":"2.0","id":`), fault.Unavailable},
		{"event_is_not_json", text(200, "text/event-stream", "data: hello\n\n"), fault.Unavailable},
		{"busy", text(429, "text/plain", "later"), fault.RateLimited},
		{"broken", text(503, "text/plain", "down"), fault.Unavailable},
		{"huge_json", text(200, "application/json", big), fault.TooLarge},
		{"huge_event", text(200, "text/event-stream", "data: "+big+"\n\n"), fault.TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shop := newShop()
			f := &flaky{next: shop.handler()}
			_, client := serve(t, f)
			lookUp(t, client)
			f.mu.Lock()
			f.answers = append(f.answers, c.answer)
			f.mu.Unlock()
			_, err := client.CallTool(t.Context(), "look_up", map[string]any{"id": "a"})
			wantCode(t, err, c.code)
			lookUp(t, client)
			if got := f.calls.Load(); got != 3 {
				t.Errorf("got %d calls, want 3: nonsense is not repeated", got)
			}
		})
	}
}

func TestClient_RepeatsOnlyWhatIsHarmless(t *testing.T) {
	t.Parallel()
	shop := newShop()
	f := &flaky{next: shop.handler()}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	client := mcp.NewClient(srv.URL, &http.Client{Transport: keyed{srv.Client().Transport}})
	t.Cleanup(func() { _ = client.Close() })

	f.answers = []func(http.ResponseWriter){cut}
	lookUp(t, client)
	if got := f.calls.Load(); got != 2 {
		t.Errorf("read: got %d calls, want 2", got)
	}
	f.answers = []func(http.ResponseWriter){cut}
	_, err := client.CallTool(t.Context(), "write", nil)
	wantCode(t, err, fault.Unavailable)
	if got := f.calls.Load(); got != 3 {
		t.Errorf("write: got %d more calls, want 1", got-2)
	}
	f.answers = []func(http.ResponseWriter){cut, cut}
	_, err = client.CallTool(t.Context(), "look_up", map[string]any{"id": "a"})
	wantCode(t, err, fault.Unavailable)
	if got := f.calls.Load(); got != 5 {
		t.Errorf("read, cut twice: got %d more calls, want 2", got-3)
	}
}

func TestClient_ConnectsOnce(t *testing.T) {
	t.Parallel()
	f := &flaky{next: newShop().handler()}
	_, client := serve(t, f)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { lookUp(t, client) })
	}
	wg.Wait()
	if got := f.opened.Load(); got != 1 {
		t.Errorf("got %d connects, want 1", got)
	}
}

func TestClient_ServerRestart(t *testing.T) {
	t.Parallel()
	first := httptest.NewServer(newShop().handler())
	addr := first.Listener.Addr().String()
	client := mcp.NewClient(first.URL, &http.Client{Transport: &http.Transport{}})
	t.Cleanup(func() { _ = client.Close() })
	lookUp(t, client)
	first.Close()

	_, err := client.CallTool(t.Context(), "look_up", map[string]any{"id": "a"})
	wantCode(t, err, fault.Unavailable)

	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	second := httptest.NewUnstartedServer(newShop().handler())
	_ = second.Listener.Close()
	second.Listener = listener
	second.Start()
	t.Cleanup(second.Close)
	lookUp(t, client)
}

// TestClient_DeadSession uses a server with sessions, which ours is not: after a restart it answers 404.
func TestClient_DeadSession(t *testing.T) {
	t.Parallel()
	var initialized atomic.Int64
	stateful := func() http.Handler {
		s := sdk.NewServer(&sdk.Implementation{Name: "old", Version: "1"}, nil)
		s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
				if method == "initialize" {
					initialized.Add(1)
				}
				return next(ctx, method, req)
			}
		})
		say := func(_ context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil, nil
		}
		sdk.AddTool(s, &sdk.Tool{Name: "say", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, say)
		sdk.AddTool(s, &sdk.Tool{Name: "act"}, say)
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	}
	var current atomic.Value
	current.Store(stateful())
	_, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		current.Load().(http.Handler).ServeHTTP(w, r)
	}))
	say := func(want int64) {
		t.Helper()
		got, err := client.CallTool(t.Context(), "say", nil)
		if err != nil || string(got) != `"hello"` {
			t.Fatalf("got %s, %v, want \"hello\"", got, err)
		}
		if got := initialized.Load(); got != want {
			t.Fatalf("got %d initialize, want %d", got, want)
		}
	}
	say(1)
	say(1)
	current.Store(stateful()) // a restart forgets all sessions
	say(2)
	current.Store(stateful())
	_, err := client.CallTool(t.Context(), "act", nil)
	wantCode(t, err, fault.Unavailable)
	if _, err := client.CallTool(t.Context(), "act", nil); err != nil {
		t.Errorf("act on the new session: %v", err)
	}
}

func TestClient_HangEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{next: newShop().handler()}
		client := overPipe(t, f)
		lookUp(t, client)
		f.answers = []func(http.ResponseWriter){text(200, "application/json", `{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}`)}
		began := time.Now()
		_, err := client.CallTool(context.Background(), "look_up", map[string]any{"id": "a"})
		wantCode(t, err, fault.Timeout)
		if got := time.Since(began); got != 45*time.Second {
			t.Errorf("got %s, want 45s", got)
		}
		lookUp(t, client)
	})
}

func TestClient_Cancel(t *testing.T) {
	t.Parallel()
	_, client := serve(t, newShop().handler())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.CallTool(ctx, "look_up", map[string]any{"id": "a"})
	if got := fault.CodeOf(err); got != fault.Cancelled {
		t.Errorf("got %q (%v), want cancelled", got, err)
	}
	lookUp(t, client)
}

func TestClient_CursorThatNeverChanges(t *testing.T) {
	t.Parallel()
	pages := atomic.Int64{}
	real := newShop().handler()
	_, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"tools/list"`) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			real.ServeHTTP(w, r)
			return
		}
		id := strings.SplitN(strings.SplitN(string(body), `"id":`, 2)[1], ",", 2)[0]
		n := pages.Add(1)
		text(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","nextCursor":"same","tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}}`, id, n))(w)
	}))
	tools, err := client.ListTools(t.Context())
	if err != nil || len(tools) != 2 {
		t.Errorf("got %d tools, %v, want 2", len(tools), err)
	}
}

func TestClient_Closed(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(newShop().handler())
	t.Cleanup(srv.Close)
	client := mcp.NewClient(srv.URL, srv.Client())
	lookUp(t, client)
	for range 2 {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err := client.CallTool(t.Context(), "look_up", nil)
	wantCode(t, err, fault.Unavailable)
}
