// Package span times the steps of a chain: what a module did, for how long, and on whose behalf. A module
// keeps its own spans (design, section 2); the names of attributes are OpenTelemetry's for generative AI
// where it has one, and begin with "agentmesh." where it has none. It must not know where spans are kept.
package span

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Kind says what took the time.
type Kind string

// The kinds of spans.
const (
	Run    Kind = "run"    // a whole run
	Model  Kind = "model"  // one round of a model
	Tool   Kind = "tool"   // one invocation of a capability
	Person Kind = "person" // waiting for a person's answer
	Agent  Kind = "agent"  // an A2A agent at work
	MCP    Kind = "mcp"    // an MCP server at work
	Server Kind = "server" // any other request to a module
)

// Span is one timed step of a trace. End is zero while the step lasts.
type Span struct {
	TraceID    string            `json:"traceId"`
	ID         string            `json:"spanId"`             // 16 hex digits, W3C Trace Context
	ParentID   string            `json:"parentId,omitempty"` // empty: nothing of this trace was before
	RunID      string            `json:"runId"`              // the run that it belongs to
	UserID     string            `json:"userId"`             // for whom it was done
	Module     string            `json:"module"`
	Kind       Kind              `json:"kind"`
	Name       string            `json:"name"`
	Start      time.Time         `json:"startedAt"`
	End        time.Time         `json:"endedAt"`
	Error      string            `json:"error,omitempty"` // an error's code; empty when all went well
	Attributes map[string]string `json:"attributes,omitempty"`
}

// IDOf derives the span id of a step that has an identifier of its own, such as an invocation. Whoever
// goes on with it after a crash gives the calls that it makes the same parent.
func IDOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
