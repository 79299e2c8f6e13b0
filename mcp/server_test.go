package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/mcp"
)

func TestHandler_ToolErrors(t *testing.T) {
	t.Parallel()
	_, client := serve(t, newShop().handler())
	for _, c := range []struct {
		name, tool string
		args       any
		code       fault.Code
		message    string
	}{
		{"missing_item", "look_up", map[string]any{"id": "nope"}, fault.NotFound, `no item "nope"`},
		{"wrong_type", "look_up", map[string]any{"id": 7}, fault.Invalid, "do not fit"},
		{"missing_argument", "look_up", nil, fault.Invalid, "id"},
		{"additional_property", "look_up", map[string]any{"id": "a", "x": 1}, fault.Invalid, "x"},
		{"unknown_tool", "no_such", nil, fault.NotFound, "no_such"},
		{"write_tool_is_absent", "write", nil, fault.NotFound, "write"},
		{"panic_is_recovered", "panic", nil, fault.Internal, "internal error"},
		{"broken_output", "broken", nil, fault.Internal, "internal error"},
		{"cause_stays_inside", "secret_cause", nil, fault.Internal, "internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := client.CallTool(t.Context(), c.tool, c.args)
			wantCode(t, err, c.code)
			if got := fault.MessageOf(err); !strings.Contains(got, c.message) || strings.Contains(got, "hunter2") {
				t.Errorf("got message %q, want it to contain %q", got, c.message)
			}
			lookUp(t, client) // the session and the process live on
		})
	}
}

func TestHandler_WriteScope(t *testing.T) {
	t.Parallel()
	shop := newShop()
	srv, public := serve(t, shop.handler())
	full := mcp.NewClient(srv.URL, &http.Client{Transport: keyed{srv.Client().Transport}})
	t.Cleanup(func() { _ = full.Close() })

	names := func(c *mcp.Client) string {
		t.Helper()
		tools, err := c.ListTools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, tool := range tools {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	if got, want := names(public), "broken look_up panic secret_cause wait"; got != want {
		t.Errorf("got public tools %q, want %q", got, want)
	}
	if got, want := names(full), "broken look_up panic secret_cause wait write"; got != want {
		t.Errorf("got all tools %q, want %q", got, want)
	}
	if _, err := full.CallTool(t.Context(), "write", nil); err != nil {
		t.Errorf("write with scope: %v", err)
	}
	if got := shop.writes.Load(); got != 1 {
		t.Errorf("got %d writes, want 1", got)
	}
}

func TestHandler_DefinitionsAreExplicit(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, newShop().handler())
	status, body := rpc(t, srv.URL, nil, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if status != http.StatusOK {
		t.Fatalf("got status %d: %s", status, body)
	}
	for _, want := range []string{
		`"additionalProperties":false`, `"properties":{}`, `"readOnlyHint":true`, `"readOnlyHint":false`,
		`"idempotentHint":`, `"destructiveHint":false`, `"openWorldHint":false`, `"ttlMs":300000`, `"cacheScope":"private"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("tools/list lacks %s: %s", want, body)
		}
	}
	if !strings.Contains(body, "data:") {
		t.Errorf("got %s, want an event stream", body)
	}
}

func TestHandler_BothEras(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, newShop().handler())
	status, body := rpc(t, srv.URL, nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	if status != http.StatusOK || !strings.Contains(body, `"2025-11-25"`) || strings.Contains(body, "logging") {
		t.Errorf("initialize: got %d %s", status, body)
	}
	status, body = rpc(t, srv.URL, nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look_up","arguments":{"id":"a"}}}`)
	if status != http.StatusOK || !strings.Contains(body, `"structuredContent":{"id":"a","tags":[]}`) {
		t.Errorf("old call: got %d %s", status, body)
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	status, body = rpc(t, srv.URL, map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"},
		`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{`+meta+`}}`)
	if status != http.StatusOK || !strings.Contains(body, `"2026-07-28"`) {
		t.Errorf("discover: got %d %s", status, body)
	}
}

func TestHandler_WireErrors(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, newShop().handler())
	_, body := rpc(t, srv.URL, nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{}}}`)
	if !strings.Contains(body, `-32602`) || !strings.Contains(body, `"code":"not_found"`) {
		t.Errorf("hidden tool: got %s, want -32602", body)
	}
	_, body = rpc(t, srv.URL, nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look_up","arguments":{"id":"nope"}}}`)
	for _, want := range []string{`"isError":true`, `"text":"no item \"nope\""`, `"agentmesh/error":{"code":"not_found"}`} {
		if !strings.Contains(body, want) {
			t.Errorf("missing item: got %s, want %s in it", body, want)
		}
	}
}

// TestHandler_FailuresAreReadable: the official clients refuse a failure whose structured content does not fit the tool's
// output schema, and since 2026-07-28 one without a resultType.
func TestHandler_FailuresAreReadable(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, newShop().handler())
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for name, args := range map[string]string{"missing_item": `{"id":"nope"}`, "wrong_type": `{"id":7}`} {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look_up","arguments":` + args
		_, old := rpc(t, srv.URL, nil, call+`}}`)
		_, modern := rpc(t, srv.URL, map[string]string{
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look_up",
		}, call+`,`+meta+`}}`)
		for era, body := range map[string]string{"old": old, "modern": modern} {
			if !strings.Contains(body, `"isError":true`) || strings.Contains(body, "structuredContent") {
				t.Errorf("%s, %s: got %s, want isError and no structured content", name, era, body)
			}
		}
		if !strings.Contains(modern, `"resultType":"complete"`) {
			t.Errorf("%s: got %s, want a resultType", name, modern)
		}
	}
}

func TestHandler_GuardsTheDoor(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, newShop().handler())
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, body := rpc(t, srv.URL, map[string]string{"Host": "evil.example"}, list); status != http.StatusForbidden {
		t.Errorf("foreign host: got %d %s", status, body)
	}
	if status, body := rpc(t, srv.URL, map[string]string{"Origin": "http://evil.example"}, list); status != http.StatusForbidden {
		t.Errorf("foreign origin: got %d %s", status, body)
	}
	big := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look_up","arguments":{"id":"` + strings.Repeat("x", 1<<20) + `"}}}`
	if status, body := rpc(t, srv.URL, nil, big); status != http.StatusRequestEntityTooLarge {
		t.Errorf("big body: got %d %.80s", status, body)
	}
}

func TestHandler_Identifiers(t *testing.T) {
	t.Parallel()
	shop := newShop()
	srv, client := serve(t, shop.handler())
	ids := flow.IDs{TraceID: flow.NewTraceID(), RunID: "run-1", ThreadID: "thread-1", ToolInvocationID: "run-1/0/1"}
	if _, err := client.CallTool(flow.With(t.Context(), ids), "look_up", map[string]any{"id": "a"}); err != nil {
		t.Fatal(err)
	}
	got := *shop.seen.Load()
	if got.SpanID == "" {
		t.Error("got no span id")
	}
	got.SpanID = ""
	if got != ids {
		t.Errorf("got %+v, want %+v", got, ids)
	}

	trace := flow.NewTraceID()
	_, body := rpc(t, srv.URL, map[string]string{flow.HeaderRun: "run-header", flow.HeaderThread: "thread-header"},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look_up","arguments":{"id":"a"},"_meta":{"agentmesh/runId":"run-meta","agentmesh/threadId":"bad\nid","traceparent":"00-`+trace+`-00f067aa0ba902b7-01"}}}`)
	got = *shop.seen.Load()
	if got.RunID != "run-meta" || got.ThreadID != "thread-header" || got.TraceID != trace {
		t.Errorf("got %+v from %s, want _meta first, then headers, nothing malformed", got, body)
	}
}

func TestHandler_ToolDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop()
		client := overPipe(t, shop.handler())
		began := time.Now()
		_, err := client.CallTool(t.Context(), "wait", nil)
		wantCode(t, err, fault.Timeout)
		if got := time.Since(began); got != 30*time.Second {
			t.Errorf("got %s, want 30s", got)
		}
	})
}

func TestHandler_CancelReachesTheTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop()
		client := overPipe(t, shop.handler())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := client.CallTool(ctx, "wait", nil)
		wantCode(t, err, fault.Timeout)
		if ended := <-shop.ended; ended != context.Canceled {
			t.Errorf("got %v, want the tool's context cancelled", ended)
		}
		if got := time.Since(began); got != time.Second {
			t.Errorf("got %s, want 1s", got)
		}
		lookUp(t, client)
	})
}

// overPipe serves a handler on a mesh pipe, as a module of this process, and gives a client of it.
func overPipe(t *testing.T, h http.Handler) *mcp.Client {
	t.Helper()
	network := mesh.NewNetwork("key")
	listener := network.Listen("shop")
	srv := &http.Server{Handler: h}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(listener) }()
	hc := &http.Client{Transport: network.Transport()}
	client := mcp.NewClient(network.BaseURL("shop")+"/mcp", hc)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
		hc.CloseIdleConnections()
		_ = srv.Close()
		<-done
	})
	return client
}

func TestTool_DefaultsAndNil(t *testing.T) {
	t.Parallel()
	var got string
	_, client := serve(t, mcp.NewHandler([]mcp.Tool{{
		Name: "echo", ReadOnly: true,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer","default":20}}}`),
		Handle: func(_ context.Context, args json.RawMessage) (any, error) {
			got = string(args)
			return nil, nil
		},
	}}, mcp.Options{Name: "x", Version: "1"}))
	res, err := client.CallTool(t.Context(), "echo", nil)
	if err != nil || string(res) != `{}` {
		t.Errorf("got %s, %v, want {}", res, err)
	}
	if got != `{"limit":20}` {
		t.Errorf("got arguments %s, want the default", got)
	}
}
