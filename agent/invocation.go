package agent

import (
	"encoding/json"
	"time"

	"agentmesh/capability"
)

// Invocation is one call of a capability within a run: its place, its state and its one result.
type Invocation struct {
	ID        string
	RunID     string
	UserID    string
	MessageID string // the assistant message that asked for it
	CallID    string // the model's id for it
	Round     int
	Position  int // its place among the calls of its round
	Name      string
	Args      json.RawMessage // what runs
	Proposed  json.RawMessage // what the model gave, where a person edited that
	Status    capability.Status
	Result    json.RawMessage
	Receipt   capability.Receipt
	TaskID    string    // of one that went on in the background
	AnswerID  string    // of the client's message that holds the result; empty: the result has the id of the invocation
	Attempts  int       // how often it was begun; not counted for what is read-only
	BeganAt   time.Time // when the newest attempt was
	CreatedAt time.Time
	EndedAt   time.Time
}

// Edit replaces the arguments, and keeps those that the model gave.
func (inv *Invocation) Edit(args json.RawMessage) {
	if len(inv.Proposed) == 0 {
		inv.Proposed = inv.Args
	}
	inv.Args = args
}

// Told is what a model reads as its result. What was put into the background keeps the placeholder that the model
// was given then, so that its prompt stays what it was.
func (inv Invocation) Told() json.RawMessage {
	if inv.TaskID != "" {
		return Placeholder(inv.TaskID)
	}
	return inv.Result
}

// ModelCall is the record of one model round: what the model was given and what it cost (D-90).
type ModelCall struct {
	ID        string
	RunID     string
	Round     int
	Model     string
	Request   json.RawMessage // the body as it was sent; it holds no credentials
	Usage     Usage
	Estimated int // tokens of the prompt, as estimated before it was sent
	Finish    string
	Error     string
	StartedAt time.Time
	Duration  time.Duration
}
