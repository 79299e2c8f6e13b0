// Package flow carries the identifiers of one request through every hop (D-90): in a context inside a
// process and in headers between modules, and it writes the [FLOW] line of each call (D-91). It is the
// door of zerolog. It must not know what any call is about.
package flow

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// IDs are the identifiers that correlate the log lines, spans and records of one chain (D-90).
type IDs struct {
	TraceID          string // the whole chain; 32 hex digits, W3C Trace Context
	SpanID           string // the current step; 16 hex digits
	RunID            string // one agent run
	ThreadID         string // one conversation
	UserID           string // whose it is
	LLMCallID        string // one model round
	ToolInvocationID string // one call of a capability
	RPCID            string // one A2A JSON-RPC request
	ContextID        string // A2A conversation context
}

type idsKey struct{}

// With puts identifiers into a context.
func With(ctx context.Context, ids IDs) context.Context {
	return context.WithValue(ctx, idsKey{}, ids)
}

// From reads the identifiers of a context; absent ones are empty.
func From(ctx context.Context) IDs {
	ids, _ := ctx.Value(idsKey{}).(IDs)
	return ids
}

// NewID makes a random identifier of a kind, such as "run-4f0c…": 96 random bits, so that processes
// need not agree on anything.
func NewID(kind string) string { return kind + "-" + randomHex(12) }

// NewTraceID makes a W3C trace id.
func NewTraceID() string { return randomHex(16) }

// NewSpanID makes a W3C span id.
func NewSpanID() string { return randomHex(8) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24: the program would have crashed
	return hex.EncodeToString(b)
}
