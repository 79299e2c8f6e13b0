package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/flow"
)

// The `_meta` keys that carry our identifiers beside W3C's bare traceparent.
const (
	metaTrace      = "traceparent"
	metaRun        = "agentmesh/runId"
	metaThread     = "agentmesh/threadId"
	metaInvocation = "agentmesh/toolInvocationId"
)

// metaOf makes the `_meta` of one call. It is a new map each time: the SDK writes its own keys into the
// map it is given.
func metaOf(ctx context.Context) sdk.Meta {
	h := http.Header{}
	flow.WriteHeaders(h, flow.From(ctx))
	meta := sdk.Meta{}
	eachID(func(key, header string) {
		if value := h.Get(header); value != "" {
			meta[key] = value
		}
	})
	return meta
}

// withIDs puts the identifiers of a request into its context: those of `_meta` first, then those of the
// headers, then those that an HTTP middleware has put there. They are untrusted, so the same rules apply
// to `_meta` as to headers.
func withIDs(ctx context.Context, meta sdk.Meta, headers http.Header) context.Context {
	h := http.Header{}
	eachID(func(key, header string) {
		if value, ok := meta[key].(string); ok {
			h.Set(header, value)
		}
	})
	ids, fromMeta, fromHeader := flow.From(ctx), flow.ReadHeaders(h), flow.ReadHeaders(headers)
	ids.TraceID = first(fromMeta.TraceID, fromHeader.TraceID, ids.TraceID, flow.NewTraceID)
	ids.SpanID = first("", "", ids.SpanID, flow.NewSpanID)
	ids.RunID = first(fromMeta.RunID, fromHeader.RunID, ids.RunID, nil)
	ids.ThreadID = first(fromMeta.ThreadID, fromHeader.ThreadID, ids.ThreadID, nil)
	ids.ToolInvocationID = first(fromMeta.ToolInvocationID, fromHeader.ToolInvocationID, ids.ToolInvocationID, nil)
	return flow.With(ctx, ids)
}

func eachID(visit func(key, header string)) {
	visit(metaTrace, flow.HeaderTrace)
	visit(metaRun, flow.HeaderRun)
	visit(metaThread, flow.HeaderThread)
	visit(metaInvocation, flow.HeaderInvocation)
}

func first(a, b, c string, mint func() string) string {
	for _, id := range []string{a, b, c} {
		if id != "" {
			return id
		}
	}
	if mint == nil {
		return ""
	}
	return mint()
}
