package flow

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"time"

	"agentmesh/app/platform/identity"
)

// The headers that carry identifiers between modules. The trace goes in the W3C header.
const (
	HeaderTrace      = "Traceparent"
	HeaderRun        = "X-AgentMesh-Run-Id"
	HeaderThread     = "X-AgentMesh-Thread-Id"
	HeaderInvocation = "X-AgentMesh-Invocation-Id"
)

var (
	traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)
	plainID     = regexp.MustCompile(`^[A-Za-z0-9._:/-]{1,128}$`)
)

// ReadHeaders takes the identifiers of a request. They come from outside: what is malformed is dropped.
func ReadHeaders(h http.Header) IDs {
	var ids IDs
	if m := traceparent.FindStringSubmatch(h.Get(HeaderTrace)); m != nil {
		ids.TraceID = m[1]
	}
	ids.RunID = safe(h.Get(HeaderRun))
	ids.ThreadID = safe(h.Get(HeaderThread))
	ids.ToolInvocationID = safe(h.Get(HeaderInvocation))
	return ids
}

// WriteHeaders puts the identifiers on an outgoing request. An identifier that a header cannot carry
// (a client may name its thread as it likes) is left out.
func WriteHeaders(h http.Header, ids IDs) {
	if ids.TraceID != "" {
		span := ids.SpanID
		if span == "" {
			span = NewSpanID()
		}
		h.Set(HeaderTrace, "00-"+ids.TraceID+"-"+span+"-01")
	}
	set(h, HeaderRun, ids.RunID)
	set(h, HeaderThread, ids.ThreadID)
	set(h, HeaderInvocation, ids.ToolInvocationID)
}

func set(h http.Header, name, value string) {
	if safe(value) != "" {
		h.Set(name, value)
	}
}

func safe(id string) string {
	if plainID.MatchString(id) {
		return id
	}
	return ""
}

// Override puts the identifiers that a message itself carries in the place of those that came with the
// request. This is the one rule of precedence: message metadata (`_meta` of MCP, metadata of A2A), then
// headers, then what is minted. A message is untrusted as headers are, so it is given in their form.
func Override(ids IDs, message http.Header) IDs {
	said := ReadHeaders(message)
	ids.TraceID = cmp.Or(said.TraceID, ids.TraceID)
	ids.RunID = cmp.Or(said.RunID, ids.RunID)
	ids.ThreadID = cmp.Or(said.ThreadID, ids.ThreadID)
	ids.ToolInvocationID = cmp.Or(said.ToolInvocationID, ids.ToolInvocationID)
	return ids
}

// ParentSpan gives the span that a request was sent from: 16 hex digits, or empty.
func ParentSpan(h http.Header) string {
	if m := traceparent.FindStringSubmatch(h.Get(HeaderTrace)); m != nil {
		return m[2]
	}
	return ""
}

// Observer sees a request of a module begin, may add to its context, and hears of its end.
type Observer func(r *http.Request, module string) (ctx context.Context, ended func(status int))

// Middleware gives every request of a module its identifiers, mints a trace id where none came, and
// writes one [FLOW] line when the call arrives and one when it ends; observers see both.
func Middleware(module string, next http.Handler, observers ...Observer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids := ReadHeaders(r.Header)
		if ids.TraceID == "" {
			ids.TraceID = NewTraceID()
		}
		ids.SpanID = NewSpanID()
		if caller, known := identity.From(r.Context()); known {
			ids.UserID = caller.User
		}
		ctx := With(r.Context(), ids)
		began := time.Now()
		Log(ctx).Debug().Str("module", module).Str("method", r.Method).Str("path", r.URL.Path).Msg("[FLOW] in")
		rec := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			Log(ctx).Info().Str("module", module).Str("method", r.Method).Str("path", r.URL.Path).
				Int("status", rec.status).Int64("dur_ms", time.Since(began).Milliseconds()).Msg("[FLOW] out")
		}()
		in := r.WithContext(ctx)
		for _, observe := range observers {
			inner, ended := observe(in, module)
			defer func() { ended(rec.status) }()
			in = in.WithContext(inner)
		}
		next.ServeHTTP(rec, in)
	})
}

// Transport puts the identifiers of a request's context on the wire.
func Transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ids := From(r.Context())
		if ids == (IDs{}) {
			return next.RoundTrip(r)
		}
		out := r.Clone(r.Context())
		WriteHeaders(out.Header, ids)
		return next.RoundTrip(out)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// statusRecorder remembers the status for the log; Unwrap keeps flushing and deadlines reachable.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
