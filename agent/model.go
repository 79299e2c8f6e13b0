package agent

import (
	"context"
	"encoding/json"

	"agentmesh/capability"
)

// Prompt is what a model is given in one round.
type Prompt struct {
	Messages []Message
	Tools    []capability.Definition
}

// Answer is what a model gave in one round. Calls may run only if Complete.
type Answer struct {
	Text     string
	Calls    []ToolCall
	Complete bool
	Finish   string
	Model    string
	Usage    Usage
	Request  json.RawMessage // the body as it was sent, also set beside an error
}

// Model answers prompts. onText gets the visible text in pieces, whole characters each, in order.
type Model interface {
	Name() string
	Stream(ctx context.Context, p Prompt, onText func(string)) (Answer, error)
}
