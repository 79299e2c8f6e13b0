package span

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
)

// Recorder keeps spans. Record must not block and must not fail: a chain does not wait for its trace.
type Recorder interface{ Record(s Span) }

// maxValue is the longest attribute value that is kept, in bytes.
const maxValue = 256

type activeKey struct{}

// active is the span of a request that is being answered.
type active struct {
	mu   sync.Mutex
	span Span
}

// Observe gives a flow.Observer that records a span of each request that belongs to a run.
func Observe(to Recorder, now func() time.Time) flow.Observer {
	return func(r *http.Request, module string) (context.Context, func(int)) {
		ids := flow.From(r.Context())
		a := &active{span: Span{
			TraceID: ids.TraceID, ID: ids.SpanID, ParentID: flow.ParentSpan(r.Header), RunID: ids.RunID, UserID: ids.UserID,
			Module: module, Kind: Server, Name: r.Method + " " + text.Cut(r.URL.Path, maxValue), Start: now(),
			Attributes: map[string]string{"http.request.method": r.Method},
		}}
		return context.WithValue(r.Context(), activeKey{}, a), func(status int) { a.end(to, now(), status) }
	}
}

func (a *active) end(to Recorder, at time.Time, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.span.RunID == "" {
		return // nobody's: a probe, a page that reads a list
	}
	a.span.End = at
	a.span.Attributes["http.response.status_code"] = strconv.Itoa(status)
	if status >= http.StatusInternalServerError && a.span.Error == "" {
		a.span.Error = strconv.Itoa(status)
	}
	s := a.span
	s.Attributes = make(map[string]string, len(a.span.Attributes)) // the handler may live on
	for name, value := range a.span.Attributes {
		s.Attributes[name] = value
	}
	to.Record(s)
}

// change alters the span of the request that a context belongs to, if it has one.
func change(ctx context.Context, alter func(*Span)) {
	a, ok := ctx.Value(activeKey{}).(*active)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	alter(&a.span)
}

// Describe says what a request turned out to be: its kind, its name, and attributes as names and values in
// turn. Attributes without a value are left out.
func Describe(ctx context.Context, kind Kind, name string, attributes ...string) {
	change(ctx, func(s *Span) {
		s.Kind, s.Name = kind, text.Cut(name, maxValue)
		for i := 0; i+1 < len(attributes); i += 2 {
			if value := attributes[i+1]; value != "" {
				s.Attributes[attributes[i]] = text.Cut(value, maxValue)
			}
		}
	})
}

// Fail gives the span of a request an error's code.
func Fail(ctx context.Context, code string) {
	change(ctx, func(s *Span) {
		s.Error = code
		s.Attributes["error.type"] = code
	})
}

// Adopt takes over identifiers that came with a message instead of with its headers (D-68, D-74).
func Adopt(ctx context.Context, ids flow.IDs) {
	change(ctx, func(s *Span) {
		if s.TraceID != ids.TraceID {
			s.TraceID, s.ParentID = ids.TraceID, "" // the parent that the headers name is of another trace
		}
		s.RunID = ids.RunID
	})
}
