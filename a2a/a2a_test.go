package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// scripted is an agent that does what the text says.
type scripted struct {
	started  chan struct{}
	stopped  chan error
	requests chan a2a.Request
}

func newScripted() *scripted {
	return &scripted{started: make(chan struct{}, 10), stopped: make(chan error, 10), requests: make(chan a2a.Request, 100)}
}

func (s *scripted) Execute(ctx context.Context, req a2a.Request, emit func(a2a.Update) error) (a2a.Result, error) {
	s.requests <- req
	switch word, _, _ := strings.Cut(req.Text, " "); word {
	case "ask":
		if len(req.Earlier) == 0 {
			return a2a.Result{Question: "which city?"}, nil
		}
	case "fail":
		return a2a.Result{}, fault.New(fault.NotFound, "no dish called moon cake")
	case "secret":
		return a2a.Result{}, errors.New("the password is hunter2")
	case "panic":
		panic("the password is hunter2")
	case "slow":
		s.started <- struct{}{}
		<-ctx.Done()
		s.stopped <- ctx.Err()
		return a2a.Result{}, ctx.Err()
	case "talk":
		for i := range 3 {
			if err := emit(a2a.Update{Text: fmt.Sprintf("step %d", i)}); err != nil {
				return a2a.Result{}, err
			}
		}
	}
	return a2a.Result{
		Text: "earlier " + strings.Join(req.Earlier, ",") + " now " + req.Text,
		Data: map[string]any{"skill": req.Skill, "arguments": req.Arguments, "nothing": nil},
	}, nil
}

func card() a2a.Card {
	return a2a.Card{
		Name: "Scripted", Description: "does what the text says", Version: "1.0.0",
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Capabilities: a2a.Capabilities{Streaming: true},
		Skills:       []a2a.Skill{{ID: "say", Name: "Say", Description: "says it", Tags: []string{"test"}}},
	}.At("http://scripted.internal/agents/scripted")
}

func serve(t *testing.T, agent a2a.Executor) (*a2a.Client, string) {
	t.Helper()
	h := a2a.NewHandler("/agents/scripted", a2a.Options{Card: card(), Executor: agent})
	server := httptest.NewServer(flow.Middleware("scripted", h))
	client := a2a.NewClient(server.URL+"/agents/scripted", server.Client())
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close handler: %v", err)
		}
		server.Close()
	})
	return client, server.URL + "/agents/scripted/"
}

func TestClient_Call(t *testing.T) {
	t.Parallel()
	agent := newScripted()
	client, _ := serve(t, agent)
	ids := flow.IDs{TraceID: flow.NewTraceID(), RunID: "run-1", ThreadID: "thread-1", ToolInvocationID: "inv-1"}
	out, err := client.Call(flow.With(t.Context(), ids), a2a.Request{
		Skill: "say", Arguments: json.RawMessage(`{"n":9007199254740993,"note":null}`), Text: "hello",
	})
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	if out.State != a2a.Completed || out.Text != "earlier  now hello" || out.ArtifactName != a2a.ArtifactResult || out.TaskID == "" {
		t.Errorf("outcome: got %+v", out)
	}
	if req := <-agent.requests; req.MessageID != "msg-inv-1-say" || req.Skill != "say" || req.ContextID != out.ContextID {
		t.Errorf("request: got %+v", req)
	}
	if got := string(out.Data); !strings.Contains(got, `"note":null`) || !strings.Contains(got, `"skill":"say"`) {
		t.Errorf("data: got %s", got)
	}
}

func TestClient_faultsOfATask(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, newScripted())
	for _, c := range []struct {
		text, message string
		code          fault.Code
	}{
		{"fail", "no dish called moon cake", fault.NotFound},
		{"secret", "internal error", fault.Internal},
		{"panic", "internal error", fault.Internal},
	} {
		for name, call := range map[string]func() (a2a.Outcome, error){
			"call":   func() (a2a.Outcome, error) { return client.Call(t.Context(), a2a.Request{Text: c.text}) },
			"stream": func() (a2a.Outcome, error) { return client.Stream(t.Context(), a2a.Request{Text: c.text}, nil) },
		} {
			_, err := call()
			if fault.CodeOf(err) != c.code || fault.MessageOf(err) != c.message {
				t.Errorf("%s %s: got %v (%s), want %s (%s)", name, c.text, err, fault.CodeOf(err), c.message, c.code)
			}
		}
	}
}

func TestClient_questionAndAnswer(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, newScripted())
	for range 20 {
		asked, err := client.Call(t.Context(), a2a.Request{Text: "ask"})
		if err != nil || asked.State != a2a.InputRequired || asked.Question != "which city?" {
			t.Fatalf("first turn: got %+v, %v", asked, err)
		}
		out, err := client.Call(t.Context(), a2a.Request{Text: "Shanghai", TaskID: asked.TaskID})
		if err != nil || out.TaskID != asked.TaskID || out.ContextID != asked.ContextID || out.Text != "earlier ask now Shanghai" {
			t.Fatalf("second turn: got %+v, %v", out, err)
		}
		if _, err := client.Call(t.Context(), a2a.Request{Text: "more", TaskID: asked.TaskID}); fault.CodeOf(err) != fault.Conflict {
			t.Fatalf("message to an ended task: got %v", err)
		}
	}
}

func TestClient_Stream(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, newScripted())
	var steps []string
	out, err := client.Stream(t.Context(), a2a.Request{Text: "talk"}, func(u a2a.Update) {
		if u.Text != "" {
			steps = append(steps, u.Text)
		}
	})
	if err != nil || out.State != a2a.Completed || strings.Join(steps, ",") != "step 0,step 1,step 2" {
		t.Errorf("stream: got %+v, %v, steps %v", out, err, steps)
	}
}

func TestClient_cancelReachesTheTask(t *testing.T) {
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
			agent := newScripted()
			client, _ := serve(t, agent)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var wait sync.WaitGroup
			wait.Go(func() { <-agent.started; cancel() })
			if err := call(ctx, client); fault.CodeOf(err) != fault.Cancelled {
				t.Errorf("error: got %v, want cancelled", err)
			}
			wait.Wait()
			if err := <-agent.stopped; !errors.Is(err, context.Canceled) {
				t.Errorf("executor's context: got %v", err)
			}
		})
	}
}

// TestClient_cancelBeforeTheTaskHasAName: the agent has taken the message and has not answered yet when the caller leaves.
func TestClient_cancelBeforeTheTaskHasAName(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	left, cancelled := make(chan struct{}), make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"CancelTask"`) {
			cancelled <- string(body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","result":{}}`)
			return
		}
		cancel()
		<-left
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"task\":{\"id\":\"task-9\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	client := a2a.NewClient(server.URL, nil)
	if _, err := client.Call(ctx, a2a.Request{Text: "x"}); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("error: got %v, want cancelled", err)
	}
	close(left)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if body := <-cancelled; !strings.Contains(body, `"id":"task-9"`) {
		t.Errorf("got %s, want the cancellation of task-9", body)
	}
	if _, err := client.Call(t.Context(), a2a.Request{Text: "x"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("call of a closed client: got %v", err)
	}
}

func TestClient_deadlineIsATimeout(t *testing.T) {
	t.Parallel()
	agent := newScripted()
	client, _ := serve(t, agent)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := client.Call(ctx, a2a.Request{Text: "slow"}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("error: got %v, want timeout", err)
	}
}

func TestClient_badAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want       fault.Code
	}{
		"refused_stream_as_json": {200, "application/json", `{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"gone"}}`, fault.NotFound},
		"our_code_wins":          {502, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x","data":[{"@type":"t","metadata":{"code":"unavailable"}}]}}`, fault.Unavailable},
		"unknown_code":           {200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x","data":[{"@type":"t","metadata":{"code":"../"}}]}}`, fault.Conflict},
		"problem":                {403, "application/problem+json", `{"code":"denied","detail":"no key"}`, fault.Denied},
		"html":                   {500, "text/html", `<h1>oops</h1>`, fault.Unavailable},
		"not_json":               {200, "application/json", `<h1>oops</h1>`, fault.Unavailable},
		"cut_stream":             {200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"task\":{\"id\":\"t\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n", fault.Unavailable},
		"redirect":               {302, "text/plain", ``, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get(a2a.HeaderVersion) != "1.0" {
					t.Errorf("version header: got %q", r.Header.Get(a2a.HeaderVersion))
				}
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			client := a2a.NewClient(server.URL, nil)
			if _, err := client.Stream(t.Context(), a2a.Request{Text: "x"}, nil); fault.CodeOf(err) != c.want {
				t.Errorf("got %v (%s), want %s", err, fault.CodeOf(err), c.want)
			}
		})
	}
	client := a2a.NewClient("http://127.0.0.1:1", nil)
	if _, err := client.Call(t.Context(), a2a.Request{Text: "x"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("unreachable: got %v", err)
	}
}
