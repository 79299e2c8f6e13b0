package mcp

import (
	"cmp"
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
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

// withIDs puts the identifiers of a request into its context. The SDK's context need not be the HTTP
// request's, so the headers are read here.
func withIDs(ctx context.Context, meta sdk.Meta, headers http.Header) context.Context {
	h := http.Header{}
	eachID(func(key, header string) {
		if value, ok := meta[key].(string); ok {
			h.Set(header, value)
		}
	})
	ids := flow.Override(flow.Override(flow.From(ctx), headers), h)
	ids.TraceID, ids.SpanID = cmp.Or(ids.TraceID, flow.NewTraceID()), cmp.Or(ids.SpanID, flow.NewSpanID())
	span.Adopt(ctx, ids)
	return flow.With(ctx, ids)
}

func eachID(visit func(key, header string)) {
	visit(metaTrace, flow.HeaderTrace)
	visit(metaRun, flow.HeaderRun)
	visit(metaThread, flow.HeaderThread)
	visit(metaInvocation, flow.HeaderInvocation)
}
