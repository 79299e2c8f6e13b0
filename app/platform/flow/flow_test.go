package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"agentmesh/app/platform/flow"
)

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

func TestHeaders_RoundTrip(t *testing.T) {
	t.Parallel()
	sent := flow.IDs{TraceID: trace, SpanID: "00f067aa0ba902b7", RunID: "run-1", ThreadID: "t:1/a", ToolInvocationID: "inv-1", UserID: "anna"}
	h := http.Header{}
	flow.WriteHeaders(h, sent)
	if got := h.Get("Traceparent"); got != "00-"+trace+"-00f067aa0ba902b7-01" {
		t.Errorf("got traceparent %q", got)
	}
	want := flow.IDs{TraceID: trace, RunID: "run-1", ThreadID: "t:1/a", ToolInvocationID: "inv-1"}
	if got := flow.ReadHeaders(h); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHeaders_WhatIsMalformedIsDropped(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "00-" + trace + "-00f067aa0ba902b7", "01-" + trace + "-00f067aa0ba902b7-01", "00-" + strings.ToUpper(trace) + "-00f067aa0ba902b7-01",
		"00-" + trace + "-00f067aa0ba902b7-01-x", "00-short-00f067aa0ba902b7-01",
	} {
		h := http.Header{"Traceparent": {bad}}
		for _, name := range []string{flow.HeaderRun, flow.HeaderThread, flow.HeaderInvocation} {
			h.Set(name, "a b\t<script>")
		}
		if got := flow.ReadHeaders(h); got != (flow.IDs{}) {
			t.Errorf("%q: got %+v, want nothing", bad, got)
		}
	}
	h := http.Header{}
	flow.WriteHeaders(h, flow.IDs{ThreadID: "会话 1\r\nX-Evil: 1", RunID: strings.Repeat("x", 129), ToolInvocationID: "inv"})
	if len(h) != 1 || h.Get(flow.HeaderInvocation) != "inv" {
		t.Errorf("got %v, want only what a header can carry", h)
	}
}

func TestOverride_TheMessageComesBeforeTheHeaders(t *testing.T) {
	t.Parallel()
	message := http.Header{}
	message.Set(flow.HeaderRun, "run-message")
	message.Set(flow.HeaderThread, "a b")
	got := flow.Override(flow.IDs{TraceID: trace, RunID: "run-header", ThreadID: "t1", UserID: "anna"}, message)
	want := flow.IDs{TraceID: trace, RunID: "run-message", ThreadID: "t1", UserID: "anna"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// server records the identifiers that its handler sees.
func server(t *testing.T, seen *flow.IDs) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(flow.Middleware("food", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = flow.From(r.Context())
		w.WriteHeader(http.StatusTeapot)
	})))
	t.Cleanup(srv.Close)
	return srv
}

func get(t *testing.T, ctx context.Context, rt http.RoundTripper, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(r.Header) != 0 {
		t.Errorf("the caller's request was changed: %v", r.Header)
	}
}

func TestTransportAndMiddleware(t *testing.T) {
	t.Parallel()
	var seen flow.IDs
	srv := server(t, &seen)
	ids := flow.IDs{TraceID: trace, SpanID: "00f067aa0ba902b7", RunID: "run-1", ThreadID: "t1", ToolInvocationID: "inv-1", UserID: "anna"}
	get(t, flow.With(t.Context(), ids), flow.Transport(http.DefaultTransport), srv.URL)
	if seen.TraceID != trace || seen.RunID != "run-1" || seen.ThreadID != "t1" || seen.ToolInvocationID != "inv-1" {
		t.Errorf("got %+v, want the caller's identifiers", seen)
	}
	if seen.SpanID == "" || seen.SpanID == ids.SpanID || seen.UserID != "" {
		t.Errorf("got span %q, user %q, want a span of its own and no user", seen.SpanID, seen.UserID)
	}
	get(t, t.Context(), flow.Transport(http.DefaultTransport), srv.URL)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(seen.TraceID) || seen.TraceID == trace || seen.RunID != "" {
		t.Errorf("got %+v, want only a new trace", seen)
	}
}

func TestMiddleware_LogsBothWays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := flow.Middleware("food", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flush: %v", err)
		}
		_, _ = io.WriteString(w, "x")
	}))
	r := httptest.NewRequest(http.MethodGet, "/agents/food?secret=1", http.NoBody)
	r = r.WithContext(flow.WithLogger(r.Context(), flow.NewLogger(&out, "debug")))
	handler.ServeHTTP(httptest.NewRecorder(), r)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Contains(out.String(), "secret") {
		t.Fatalf("got %q, want two lines without the query", out.String())
	}
	for i, want := range []string{"[FLOW] in", "[FLOW] out"} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		if line["message"] != want || line["module"] != "food" || line["traceId"] == nil || line["path"] != "/agents/food" {
			t.Errorf("got %v, want %s", line, want)
		}
	}
	if !strings.Contains(lines[1], `"status":200`) || !strings.Contains(lines[1], `"dur_ms":`) {
		t.Errorf("got %s, want status and duration", lines[1])
	}
}

func TestMiddleware_LogsWhatPanicked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := flow.Middleware("food", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	func() {
		defer func() { _ = recover() }()
		handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(flow.WithLogger(r.Context(), flow.NewLogger(&out, "info"))))
	}()
	if !strings.Contains(out.String(), "[FLOW] out") {
		t.Errorf("got %q, want a line", out.String())
	}
}

func TestMiddleware_ObserversSeeBothEnds(t *testing.T) {
	t.Parallel()
	type key struct{}
	var heard []string
	handler := flow.Middleware("food", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, fmt.Sprint(r.Context().Value(key{}), " answers"))
		w.WriteHeader(http.StatusTeapot)
	}), func(r *http.Request, module string) (context.Context, func(int)) {
		heard = append(heard, module+" begins")
		return context.WithValue(r.Context(), key{}, "observed"), func(status int) { heard = append(heard, fmt.Sprint(module, " ", status)) }
	})
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if want := "food begins, observed answers, food 418"; strings.Join(heard, ", ") != want {
		t.Errorf("got %q, want %q", heard, want)
	}
}

func TestParentSpan(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	if got := flow.ParentSpan(h); got != "" {
		t.Errorf("got %q, want none", got)
	}
	flow.WriteHeaders(h, flow.IDs{TraceID: trace, SpanID: "00f067aa0ba902b7"})
	if got := flow.ParentSpan(h); got != "00f067aa0ba902b7" {
		t.Errorf("got %q", got)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	flow.Log(t.Context()).Info().Msg("nowhere") // no logger: nothing happens
	for level, want := range map[string]string{"debug": "debug info warn", "": "info warn", "nonsense": "info warn", "warn": "warn", "off": ""} {
		var out bytes.Buffer
		ctx := flow.WithLogger(t.Context(), flow.NewLogger(&out, level))
		ctx = flow.With(ctx, flow.IDs{TraceID: trace, UserID: "anna", LLMCallID: "llm", RPCID: "rpc", ContextID: "ctx"})
		log := flow.Log(ctx)
		log.Debug().Msg("debug")
		log.Info().Msg("info")
		log.Warn().Msg("warn")
		var got []string
		for line := range strings.Lines(out.String()) {
			var doc map[string]string
			if err := json.Unmarshal([]byte(line), &doc); err != nil {
				t.Fatal(err)
			}
			got = append(got, doc["message"])
			if doc["traceId"] != trace || doc["userId"] != "anna" || doc["llmCallId"] != "llm" || doc["rpcId"] != "rpc" || doc["contextId"] != "ctx" || doc["time"] == "" {
				t.Errorf("got %s, want the identifiers", line)
			}
			if _, there := doc["runId"]; there {
				t.Errorf("got %s, want no empty identifier", line)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("level %q: got %q, want %q", level, got, want)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := flow.NewID("run")
		if !regexp.MustCompile(`^run-[0-9a-f]{24}$`).MatchString(id) || seen[id] {
			t.Fatalf("got %q", id)
		}
		seen[id] = true
	}
}
