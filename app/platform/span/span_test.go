package span_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
)

const (
	trace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	other  = "0af7651916cd43dd8448eb211c80319c"
	parent = "00f067aa0ba902b7"
)

// kept is a recorder that tells what it was given.
type kept []span.Span

func (k *kept) Record(s span.Span) { *k = append(*k, s) }

// serve sends one request with these identifiers through a module whose spans are kept.
func serve(ids flow.IDs, handler http.HandlerFunc) kept {
	var out kept
	clock := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	r := httptest.NewRequest(http.MethodPost, "/agents/food", http.NoBody)
	flow.WriteHeaders(r.Header, ids)
	flow.Middleware("food", handler, span.Observe(&out, now)).ServeHTTP(httptest.NewRecorder(), r)
	return out
}

func TestObserve_RecordsWhatTheRequestWas(t *testing.T) {
	t.Parallel()
	var own string
	got := serve(flow.IDs{TraceID: trace, SpanID: parent, RunID: "run-1"}, func(w http.ResponseWriter, r *http.Request) {
		own = flow.From(r.Context()).SpanID
		span.Describe(r.Context(), span.Agent, "invoke_agent food", "gen_ai.agent.name", "food", "empty", "", "long", strings.Repeat("x", 999))
		w.WriteHeader(http.StatusAccepted)
	})
	if len(got) != 1 {
		t.Fatalf("got %d spans, want one", len(got))
	}
	s := got[0]
	if s.TraceID != trace || s.ParentID != parent || s.ID != own || s.RunID != "run-1" || s.Module != "food" {
		t.Errorf("got %+v, want the request's identifiers", s)
	}
	if s.Kind != span.Agent || s.Name != "invoke_agent food" || s.Error != "" || s.End.Sub(s.Start) != time.Second {
		t.Errorf("got %+v, want what was described", s)
	}
	if a := s.Attributes; a["gen_ai.agent.name"] != "food" || a["http.response.status_code"] != "202" || len(a["long"]) != 256 || len(a) != 4 {
		t.Errorf("got attributes %v", a)
	}
}

func TestObserve_LeavesOutWhatBelongsToNoRun(t *testing.T) {
	t.Parallel()
	if got := serve(flow.IDs{TraceID: trace}, func(http.ResponseWriter, *http.Request) {}); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}

func TestAdopt_TheMessageComesBeforeTheHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ trace, parent string }{
		"the same trace":  {trace, parent},
		"another's trace": {other, ""},
	} {
		got := serve(flow.IDs{TraceID: trace, SpanID: parent, RunID: "run-header"}, func(_ http.ResponseWriter, r *http.Request) {
			span.Adopt(r.Context(), flow.IDs{TraceID: c.trace, RunID: "run-message"})
		})
		if len(got) != 1 || got[0].TraceID != c.trace || got[0].ParentID != c.parent || got[0].RunID != "run-message" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestObserve_Errors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"told":          {func(_ http.ResponseWriter, r *http.Request) { span.Fail(r.Context(), "unavailable") }, "unavailable"},
		"by the status": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502"},
		"a refusal":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, ""},
	} {
		if got := serve(flow.IDs{TraceID: trace, RunID: "run-1"}, c.handler); len(got) != 1 || got[0].Error != c.want {
			t.Errorf("%s: got %+v, want error %q", name, got, c.want)
		}
	}
}

func TestDescribe_OutsideARequestDoesNothing(t *testing.T) {
	t.Parallel()
	span.Describe(t.Context(), span.Agent, "nobody")
	span.Fail(t.Context(), "nobody")
}

func TestIDOf(t *testing.T) {
	t.Parallel()
	a, b := span.IDOf("inv-1"), span.IDOf("inv-2")
	if len(a) != 16 || a == b || a != span.IDOf("inv-1") {
		t.Errorf("got %q and %q, want stable ids of 16 digits that differ", a, b)
	}
}
