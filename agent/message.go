package agent

import (
	"encoding/json"
	"slices"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles of a prompt. A hint is what the program itself tells the model in the course of a conversation, such
// as the outcome of a task; no person said it.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	Hint      Role = "hint"
)

// ToolCall is a model's wish to call a tool.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`

	Extra json.RawMessage `json:"extra,omitempty"` // what the endpoint wants back with the call, unread
}

// Message is one user, assistant or tool message of a conversation. A tool message answers the call
// ToolCallID.
type Message struct {
	ID         string
	UserID     string
	ThreadID   string
	RunID      string
	RunStatus  Status // as the store read it
	Role       Role
	Text       string
	Reasoning  string // what the model thought aloud before it; some endpoints want it back
	Calls      []ToolCall
	ToolCallID string
	Abandoned  bool // its text ended early; it never enters a prompt
	CreatedAt  time.Time
}

// AsRun gives an assistant's message with the arguments that its calls run with, where a person edited
// what the model gave.
func (m Message) AsRun(calls []Invocation) Message {
	m.Calls = slices.Clone(m.Calls)
	for i, c := range m.Calls {
		for _, inv := range calls {
			if inv.MessageID == m.ID && inv.CallID == c.ID && len(inv.Proposed) > 0 {
				m.Calls[i].Args = inv.Args
			}
		}
	}
	return m
}
