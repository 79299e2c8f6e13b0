package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/a2a"
	"agentmesh/a2a/gateway"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
)

// rig is a gateway and one agent in a network of pipes.
type rig struct {
	network *mesh.Network
	client  *http.Client
	heard   chan http.Header // of the requests that reached the agent
}

func newRig(t *testing.T, agent a2a.Executor, change func(*gateway.Options)) *rig {
	t.Helper()
	r := &rig{network: mesh.NewNetwork("mesh-key"), heard: make(chan http.Header, 100)}
	transport := r.network.Transport()
	r.client = &http.Client{Transport: flow.Transport(transport)}
	options := gateway.Options{
		Agents: []gateway.Agent{
			{Name: "echo", URL: r.network.BaseURL("echo") + "/agents/echo"},
			{Name: "gone", URL: r.network.BaseURL("gone") + "/agents/gone"},
			{Name: "odd", URL: r.network.BaseURL("odd") + "/agents/odd"},
		},
		Transport: transport,
		HasKey:    r.network.HasKey,
		PublicURL: func(*http.Request) string { return "https://mesh.example" },
	}
	if change != nil {
		change(&options)
	}
	card := a2a.Card{
		Name: "Echo", Description: "says it again", Version: "1.2.3",
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Capabilities: a2a.Capabilities{Streaming: true, PushNotifications: true},
		Skills:       []a2a.Skill{{ID: "say", Name: "Say", Description: "says it", Tags: []string{"test"}}},
	}.At("http://echo.internal/agents/echo")
	h := a2a.NewHandler("/agents/echo", a2a.Options{Card: card, Executor: agent})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	r.serve(t, "echo", r.network.RequireKey(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			r.heard <- req.Header
		}
		h.ServeHTTP(w, req)
	})))
	r.serve(t, "odd", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		http.Error(w, "stack trace of odd.internal", http.StatusInternalServerError)
	}))
	r.serve(t, "gateway", gateway.New(options).Handler())
	return r
}

func (r *rig) serve(t *testing.T, name string, h http.Handler) {
	t.Helper()
	server := &http.Server{Handler: flow.Middleware(name, h)}
	listener := r.network.Listen(name)
	done := make(chan struct{})
	go func() { _ = server.Serve(listener); close(done) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
}

func (r *rig) agent(t *testing.T, name string) *a2a.Client {
	t.Helper()
	c := a2a.NewClient(r.network.BaseURL("gateway")+"/a2a/agents/"+name, r.client)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// plain makes a client whose requests have no key.
func (r *rig) plain() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: r.network.DialContext}}
}

func send(t *testing.T, c *http.Client, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://gateway.internal"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(out)
}

const hello = `{"jsonrpc":"2.0","id":"call-7","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`

func echo(_ context.Context, req a2a.Request, _ func(a2a.Update) error) (a2a.Result, error) {
	return a2a.Result{Text: req.Text, Data: map[string]string{"skill": req.Skill}}, nil
}

func TestModule_forwards(t *testing.T) {
	t.Parallel()
	r := newRig(t, a2a.ExecutorFunc(echo), nil)
	ctx := flow.With(t.Context(), flow.IDs{TraceID: flow.NewTraceID(), RunID: "run-1", ToolInvocationID: "inv-1"})
	out, err := r.agent(t, "echo").Call(ctx, a2a.Request{Skill: "say", Text: "hello"})
	if err != nil || out.Text != "hello" || string(out.Data) != `{"skill":"say"}` {
		t.Fatalf("got %+v, %v", out, err)
	}
	h := <-r.heard
	if h.Get(flow.HeaderRun) != "run-1" || h.Get(flow.HeaderInvocation) != "inv-1" || !strings.Contains(h.Get(flow.HeaderTrace), flow.From(ctx).TraceID) {
		t.Errorf("identifiers: got %v", h)
	}
}

func TestModule_keepsCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t, a2a.ExecutorFunc(echo), func(o *gateway.Options) { o.Open = true })
	resp, body := send(t, r.plain(), "POST", "/a2a/agents/echo/", hello, "Authorization", "Bearer secret", "Cookie", "a=b",
		mesh.HeaderKey, "guess", "X-User-ID", "alice", "Connection", "X-Evil", "X-Evil", "1", "A2A-Version", "1.0.3")
	if resp.StatusCode != 200 || !strings.Contains(body, `"TASK_STATE_COMPLETED"`) || !strings.Contains(body, `"id":"call-7"`) {
		t.Fatalf("got %d %s", resp.StatusCode, body)
	}
	h := <-r.heard
	for _, name := range []string{"Authorization", "Cookie", "X-User-Id", "X-Evil"} {
		if h.Get(name) != "" {
			t.Errorf("%s went on: %v", name, h)
		}
	}
	if h.Get(mesh.HeaderKey) != "mesh-key" || h.Get("A2A-Version") != "1.0" {
		t.Errorf("the gateway's own headers: got %v", h)
	}
}

func TestModule_refuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, a2a.ExecutorFunc(echo), nil)
	keyed := &http.Client{Transport: r.network.Transport()}
	for _, c := range []struct {
		name         string
		client       *http.Client
		method, path string
		status       int
		want         string
	}{
		{"no_key", r.plain(), "POST", "/a2a/agents/echo/", 403, `"code":"denied"`},
		{"no_key_unknown_agent", r.plain(), "POST", "/a2a/agents/nobody/", 403, `"code":"denied"`},
		{"unknown_agent", keyed, "POST", "/a2a/agents/nobody/", 404, `"code":"not_found"`},
		{"unknown_card", r.plain(), "GET", "/a2a/agents/nobody/.well-known/agent-card.json", 404, `"code":"not_found"`},
		{"get", r.plain(), "GET", "/a2a/agents/echo/", 405, "POST"},
		{"get_without_slash", r.plain(), "GET", "/a2a/agents/echo", 405, "POST"},
		{"other_path", keyed, "POST", "/a2a/agents/echo/v1/tasks", 404, `"code":"not_found"`},
		{"unreachable", keyed, "POST", "/a2a/agents/gone/", 502, `"id":"call-7","error":{"code":-32603`},
		{"not_a2a", keyed, "POST", "/a2a/agents/odd/", 502, `"code":-32603`},
		{"unreachable_card", r.plain(), "GET", "/a2a/agents/gone/.well-known/agent-card.json", 502, `"code":"unavailable"`},
		{"without_slash", keyed, "POST", "/a2a/agents/echo", 200, "TASK_STATE_COMPLETED"},
	} {
		resp, body := send(t, c.client, c.method, c.path, hello)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %d %s, want %d with %s", c.name, resp.StatusCode, body, c.status, c.want)
		}
		if strings.Contains(body, ".internal") || strings.Contains(body, "stack") || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: shows the inside: %s", c.name, body)
		}
	}
	if _, err := r.agent(t, "gone").Call(t.Context(), a2a.Request{Text: "x"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("client of an unreachable agent: got %v", err)
	}
	if _, err := r.agent(t, "gone").Stream(t.Context(), a2a.Request{Text: "x"}, nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("stream of an unreachable agent: got %v", err)
	}
}

func TestModule_cards(t *testing.T) {
	t.Parallel()
	r := newRig(t, a2a.ExecutorFunc(echo), nil)
	resp, body := send(t, r.plain(), "GET", "/a2a/agents/echo/.well-known/agent-card.json", "", "Host", "evil.example")
	if resp.StatusCode != 200 || !strings.Contains(body, `"url":"https://mesh.example/a2a/agents/echo/"`) || resp.Header.Get("ETag") == "" {
		t.Errorf("card: got %d %s", resp.StatusCode, body)
	}
	if strings.Contains(body, "internal") || strings.Contains(body, `"pushNotifications":true`) {
		t.Errorf("card is not narrowed: %s", body)
	}
	_, list := send(t, r.plain(), "GET", "/a2a/agents", "")
	want := `{"name":"echo","url":"https://mesh.example/a2a/agents/echo/","cardUrl":"https://mesh.example/a2a/agents/echo/.well-known/agent-card.json",` +
		`"reachable":true,"agentName":"Echo","description":"says it again","version":"1.2.3","skillsCount":1}`
	if !strings.Contains(list, want) || !strings.Contains(list, `"name":"gone"`) || strings.Contains(list, ".internal") {
		t.Errorf("list: got %s", list)
	}
}

func TestModule_streamsInPieces(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	talker := a2a.ExecutorFunc(func(ctx context.Context, req a2a.Request, emit func(a2a.Update) error) (a2a.Result, error) {
		for _, word := range []string{"one", "two", "three"} {
			if err := emit(a2a.Update{Text: word}); err != nil {
				return a2a.Result{}, err
			}
			select { // the agent goes on only once the caller has heard the word
			case <-next:
			case <-ctx.Done():
				return a2a.Result{}, ctx.Err()
			}
		}
		return a2a.Result{Text: "done"}, nil
	})
	r := newRig(t, talker, nil)
	var heard []string
	out, err := r.agent(t, "echo").Stream(t.Context(), a2a.Request{Text: "talk"}, func(u a2a.Update) {
		if u.Text != "" {
			heard = append(heard, u.Text)
			next <- struct{}{}
		}
	})
	if err != nil || out.Text != "done" || strings.Join(heard, " ") != "one two three" {
		t.Errorf("got %+v, %v, heard %v", out, err, heard)
	}
}

func TestModule_cancelReachesTheAgent(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *a2a.Client) error{
		"call": func(ctx context.Context, c *a2a.Client) error {
			_, err := c.Call(ctx, a2a.Request{Text: "slow"})
			return err
		},
		"stream": func(ctx context.Context, c *a2a.Client) error {
			_, err := c.Stream(ctx, a2a.Request{Text: "slow"}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started, stopped := make(chan struct{}), make(chan struct{})
			r := newRig(t, a2a.ExecutorFunc(func(ctx context.Context, _ a2a.Request, _ func(a2a.Update) error) (a2a.Result, error) {
				close(started)
				<-ctx.Done()
				close(stopped)
				return a2a.Result{}, ctx.Err()
			}), nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-started; cancel() }()
			if err := call(ctx, r.agent(t, "echo")); fault.CodeOf(err) != fault.Cancelled {
				t.Errorf("error: got %v", err)
			}
			<-stopped
		})
	}
}

// TestModule_inABubble shows that a call leaves nothing running, and that a silent stream outlives the transport's limits.
func TestModule_inABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, a2a.ExecutorFunc(func(ctx context.Context, _ a2a.Request, _ func(a2a.Update) error) (a2a.Result, error) {
			select {
			case <-time.After(10 * time.Minute):
				return a2a.Result{Text: "at last"}, nil
			case <-ctx.Done():
				return a2a.Result{}, ctx.Err()
			}
		}), nil)
		began := time.Now()
		out, err := r.agent(t, "echo").Stream(t.Context(), a2a.Request{Text: "wait"}, nil)
		if err != nil || out.Text != "at last" || time.Since(began) < 10*time.Minute {
			t.Errorf("got %+v, %v after %v", out, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := r.agent(t, "echo").Call(ctx, a2a.Request{Text: "wait"}); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("deadline: got %v", err)
		}
		r.client.CloseIdleConnections()
	})
}
