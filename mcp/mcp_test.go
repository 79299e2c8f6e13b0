package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/mcp"
)

const itemSchema = `{"type":"object","properties":{"id":{"type":"string","minLength":1}},"required":["id"]}`

// shop is a small server whose tools do one thing each.
type shop struct {
	calls  atomic.Int64
	writes atomic.Int64
	seen   atomic.Pointer[flow.IDs]
	ended  chan error // what the context of "wait" ended with
}

func newShop() *shop { return &shop{ended: make(chan error, 8)} }

func (s *shop) handler() http.Handler {
	return mcp.NewHandler(s.tools(), mcp.Options{
		Name: "shop", Version: "1",
		CanWrite: func(r *http.Request) bool { return r.Header.Get("X-Key") == "k" },
	})
}

func (s *shop) tools() []mcp.Tool {
	return []mcp.Tool{
		{
			Name: "look_up", Title: "Look up", Description: "Finds an item.", ReadOnly: true,
			InputSchema:  json.RawMessage(itemSchema),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"tags":{"type":"array"}},"required":["id","tags"]}`),
			Handle:       s.lookUp,
		},
		{Name: "panic", Handle: func(context.Context, json.RawMessage) (any, error) {
			var ids *flow.IDs
			return ids.RunID, nil
		}},
		{Name: "wait", ReadOnly: true, Handle: s.wait},
		{
			Name: "broken", OutputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`),
			Handle: func(context.Context, json.RawMessage) (any, error) {
				return map[string]any{"a": []int(nil)}, nil
			},
		},
		{Name: "secret_cause", Handle: func(context.Context, json.RawMessage) (any, error) {
			return nil, errors.New("password is hunter2")
		}},
		{Name: "write", Write: true, Destructive: true, Handle: func(context.Context, json.RawMessage) (any, error) {
			s.writes.Add(1)
			return map[string]any{"done": true}, nil
		}},
	}
}

func (s *shop) lookUp(ctx context.Context, args json.RawMessage) (any, error) {
	s.calls.Add(1)
	ids := flow.From(ctx)
	s.seen.Store(&ids)
	var in struct{ ID string }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	if in.ID == "nope" {
		return nil, fault.New(fault.NotFound, "no item %q", in.ID)
	}
	return map[string]any{"id": in.ID, "tags": []string{}}, nil
}

func (s *shop) wait(ctx context.Context, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	s.ended <- ctx.Err()
	return nil, fmt.Errorf("wait: %w", ctx.Err())
}

// keyed adds the write scope to every request.
type keyed struct{ next http.RoundTripper }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("X-Key", "k")
	return k.next.RoundTrip(out)
}

func serve(t *testing.T, h http.Handler) (*httptest.Server, *mcp.Client) {
	t.Helper()
	srv := httptest.NewServer(h)
	client := mcp.NewClient(srv.URL, srv.Client())
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
		srv.Close()
	})
	return srv, client
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got error %v, want a fault %q", err, want)
	}
	if f.Code != want {
		t.Fatalf("got code %q (%v), want %q", f.Code, err, want)
	}
}

func lookUp(t *testing.T, c *mcp.Client) {
	t.Helper()
	got, err := c.CallTool(t.Context(), "look_up", map[string]any{"id": "a"})
	if err != nil {
		t.Fatalf("look_up: %v", err)
	}
	if want := `{"id":"a","tags":[]}`; string(got) != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// rpc posts a raw request, as curl would.
func rpc(t *testing.T, url string, headers map[string]string, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out.String()
}
