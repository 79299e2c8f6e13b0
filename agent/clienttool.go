package agent

import (
	"encoding/json"
	"slices"
	"time"

	"agentmesh/capability"
)

// Client is what an input tells of the client it comes from, beside what a person says: the tools that it runs
// itself, and how things stand there.
type Client struct {
	Tools   []ClientTool `json:"tools,omitempty"`
	Context []Context    `json:"context,omitempty"`
}

// ClientTool is a tool that a client runs: a model may call it, and nobody here answers for it.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema
}

// Context is one thing that a client tells of how things stand with it.
type Context struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// ClientTool gives a tool of the run's client.
func (r Run) ClientTool(name string) (ClientTool, bool) {
	i := slices.IndexFunc(r.Client.Tools, func(t ClientTool) bool { return t.Name == name })
	if i < 0 {
		return ClientTool{}, false
	}
	return r.Client.Tools[i], true
}

// CallAnswer is what somebody else says came of a call that they made.
type CallAnswer struct {
	CallID    string
	MessageID string // of the message that says it; empty: it has none of its own
	Content   string
	Error     string // why it failed; empty: it did not
}

// Answered is a call that waited for somebody else, with its result.
type Answered struct {
	Invocation Invocation
	Event      Event
	Record     capability.Record
}

// Result is an answer as the call's result: JSON as it is, and other text as a JSON text.
func (a CallAnswer) Result() json.RawMessage {
	content := json.RawMessage(a.Content)
	if !json.Valid(content) || content[0] == '"' {
		content, _ = json.Marshal(a.Content)
	}
	if a.Error == "" {
		return content
	}
	out, _ := json.Marshal(struct {
		Error   string          `json:"error"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Error, content})
	return out
}

// Words is what was told of a call as a message holds it: what somebody else answered is told in their own words.
func (inv Invocation) Words() string {
	return AnswerWords(inv.Receipt.Stage, inv.Told())
}

// AnswerWords is a result that came at a stage as a message holds it.
func AnswerWords(stage capability.Stage, result json.RawMessage) string {
	var said string
	if stage == capability.StageAnswer && json.Unmarshal(result, &said) == nil && said != "" {
		return said
	}
	return string(result)
}

// Settle gives an invocation its result.
func (inv *Invocation) Settle(o capability.Outcome, at time.Time) {
	inv.Status, inv.Result, inv.Receipt, inv.EndedAt = o.Receipt.Status, o.Result, o.Receipt, at
}
