package agui

import (
	"encoding/json"

	"agentmesh/agent"
)

// SnapshotMessage is a message of a MESSAGES_SNAPSHOT. Its id is the one that the stream gave it, and the
// one that is stored: a client replaces by id and deletes what the snapshot lacks.
type SnapshotMessage struct {
	ID         string         `json:"id"`
	Role       string         `json:"role"`
	Content    string         `json:"content"`
	ToolCalls  []SnapshotCall `json:"toolCalls,omitempty"`
	ToolCallID string         `json:"toolCallId,omitempty"`
}

// SnapshotCall is a tool call of an assistant message.
type SnapshotCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function SnapshotFunction `json:"function"`
}

// SnapshotFunction names what was called, and its arguments as JSON text.
type SnapshotFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Snapshots restate the conversation's state, of which there is none yet, and its messages.
func (t Translator) Snapshots(messages []agent.Message) []Event {
	list := make([]SnapshotMessage, 0, len(messages))
	for _, m := range messages {
		if m.Role == agent.Hint { // the protocol has no such role, and no person is meant to read it
			continue
		}
		s := SnapshotMessage{ID: m.ID, Role: string(m.Role), Content: m.Text, ToolCallID: m.ToolCallID}
		for _, c := range m.Calls {
			s.ToolCalls = append(s.ToolCalls, SnapshotCall{ID: c.ID, Type: "function", Function: SnapshotFunction{c.Name, string(c.Args)}})
		}
		list = append(list, s)
	}
	return []Event{
		{Type: StateSnapshot, Snapshot: json.RawMessage(`{}`), at: t.now()},
		{Type: MessagesSnapshot, Messages: list, at: t.now()},
	}
}
