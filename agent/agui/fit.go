package agui

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
)

// Limits of what is sent, in bytes: clients get slow with longer events, and some throw (notes on AG-UI, 1.3). A
// delta of maxPart bytes stays below maxEvent however its characters are escaped.
const (
	maxEvent = 256 << 10
	maxPart  = 32 << 10
	maxShort = 1 << 10
)

// cutNote stands where a text was cut.
const cutNote = "… [cut: the whole is on the server]"

// split cuts a text between characters into parts that fit into an event; an empty one has none.
func split(s string) []string {
	var parts []string
	for len(s) > maxPart {
		part := clip(s, maxPart)
		parts, s = append(parts, part), s[len(part):]
	}
	if s != "" {
		parts = append(parts, s)
	}
	return parts
}

// cut is a text of at most n bytes, or that much of it with a note.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return clip(s, n) + cutNote
}

// clip is at most n bytes of a text, never a part of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for whole := n; whole > n-utf8.UTFMax; whole-- {
		if utf8.RuneStart(s[whole]) {
			return s[:whole]
		}
	}
	return s[:n] // these are no characters
}

// shortID is an id of at most maxShort bytes. Ids that differ stay different.
func shortID(id string) string {
	if len(id) <= maxShort {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return clip(id, maxShort-2*len(sum)) + hex.EncodeToString(sum[:])
}

// named bounds the ids and names of an event, in the same way wherever one stands: what belongs together stays so.
func (e Event) named() Event {
	for _, id := range []*string{&e.StepName, &e.MessageID, &e.ToolCallID, &e.ParentMessageID} {
		*id = shortID(*id)
	}
	e.Name, e.ToolCallName = clip(e.Name, maxShort), clip(e.ToolCallName, maxShort)
	e.Messages = slices.Clone(e.Messages)
	for i, m := range e.Messages {
		e.Messages[i] = m.named()
	}
	if e.Outcome != nil {
		e.Outcome = e.Outcome.named()
	}
	return e
}

func (m SnapshotMessage) named() SnapshotMessage {
	m.ID, m.ToolCallID, m.ToolCalls = shortID(m.ID), shortID(m.ToolCallID), slices.Clone(m.ToolCalls)
	for i, c := range m.ToolCalls {
		c.ID, c.Function.Name = shortID(c.ID), clip(c.Function.Name, maxShort)
		m.ToolCalls[i] = c
	}
	return m
}

func (o Outcome) named() *Outcome {
	o.PendingToolCallIDs, o.Interrupts = slices.Clone(o.PendingToolCallIDs), slices.Clone(o.Interrupts)
	for i, id := range o.PendingToolCallIDs {
		o.PendingToolCallIDs[i] = shortID(id)
	}
	for i := range o.Interrupts {
		o.Interrupts[i].ToolCallID = shortID(o.Interrupts[i].ToolCallID)
	}
	return &o
}

// fit gives an event the members that its kind needs, takes from it what this client would throw on, and shortens
// what is too long.
func (w *Writer) fit(e Event) Line {
	switch e.Type {
	case RunStarted:
		e.ThreadID, e.RunID = w.run.ThreadID, w.run.ClientRunID
		if w.run.Modern {
			e.ProtocolVersion = ProtocolVersion
		}
	case RunFinished:
		e.ThreadID, e.RunID, e.Outcome = w.run.ThreadID, w.run.ClientRunID, w.outcome(e.Outcome)
		if e.Outcome == nil || e.Outcome.Type != outcomeCancelled || w.run.Modern {
			break
		}
		e = Event{Type: RunError, Message: "the run was cancelled", Code: "cancelled", Usage: e.Usage, Timestamp: e.Timestamp, Metadata: e.Metadata}
	case RunError:
		e.Message = cmp.Or(e.Message, "the run failed")
	case ToolCallResult:
		e.Content, e.Role = cmp.Or(e.Content, "{}"), "tool"
	case Custom:
		if len(e.Value) == 0 {
			e.Value = json.RawMessage("null")
		}
	case MessagesSnapshot:
		if e.Messages == nil {
			e.Messages = []SnapshotMessage{}
		}
	}
	line := e.encode()
	if len(line.json) > maxEvent {
		line = e.short().encode()
	}
	return line
}

// outcome leaves out what the client does not know.
func (w *Writer) outcome(o *Outcome) *Outcome {
	switch {
	case o == nil:
		return nil
	case o.Type == outcomeInterrupt && len(o.Interrupts) > 0:
		return &Outcome{Type: o.Type, Interrupts: o.Interrupts}
	case o.Type == outcomeCancelled:
		return &Outcome{Type: o.Type}
	case o.Type == outcomeSuccess && w.run.Modern:
		return &Outcome{Type: o.Type, PendingToolCallIDs: o.PendingToolCallIDs}
	}
	return nil
}

// short makes a smaller event of one that is too long.
func (e Event) short() Event {
	e.Metadata = lean(e.Metadata)
	e.Content, e.Message, e.Code = cut(e.Content, maxPart), cut(e.Message, maxPart), cut(e.Code, maxShort)
	switch e.Type {
	case Custom:
		e.Value = leanJSON(e.Value)
	case StateSnapshot:
		e.Snapshot = leanJSON(e.Snapshot)
	case MessagesSnapshot:
		e.Messages = newest(e.Messages)
	case RunFinished:
		if e.Outcome == nil {
			break
		}
		o := *e.Outcome
		o.Interrupts = slices.Clone(o.Interrupts)
		for i, in := range o.Interrupts {
			in.Message = cut(in.Message, maxShort)
			in.Metadata, in.ResponseSchema = lean(in.Metadata), lean(in.ResponseSchema)
			o.Interrupts[i] = in
		}
		e.Outcome = &o
	}
	return e
}

// lean leaves out the members of an object that are long, and says so.
func lean(object map[string]any) map[string]any {
	raw, err := json.Marshal(object)
	if err != nil || len(object) == 0 {
		return object
	}
	var out map[string]any
	if json.Unmarshal(leanJSON(raw), &out) != nil {
		return nil
	}
	return out
}

// leanJSON is lean for JSON of any kind.
func leanJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxShort {
		return raw
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return json.RawMessage(`{"cut":true}`)
	}
	for name, value := range object {
		if len(name) > maxShort || len(value) > maxShort {
			delete(object, name)
		}
	}
	object["cut"] = json.RawMessage("true")
	out, err := json.Marshal(object)
	if err != nil || len(out) > maxPart {
		return json.RawMessage(`{"cut":true}`)
	}
	return out
}

// newest shortens messages, and then leaves out the oldest, until the rest fits. The newest one stays: a snapshot replaces
// what a client holds.
func newest(messages []SnapshotMessage) []SnapshotMessage {
	out := make([]SnapshotMessage, 0, len(messages))
	size := 0
	for _, m := range messages {
		m = m.short(maxPart)
		size += m.size()
		out = append(out, m)
	}
	for len(out) > 1 && size > maxEvent-maxPart {
		size -= out[0].size()
		out = out[1:]
	}
	if len(out) == 1 && size > maxEvent-maxPart {
		out[0] = out[0].short(maxShort)
	}
	return out
}

// short bounds the parts of a message: what a tool gave tightly, and a text to about n bytes. Arguments that are too long,
// and calls beyond what fits, are left out.
func (m SnapshotMessage) short(n int) SnapshotMessage {
	if m.Role == string(agent.Tool) {
		n = maxShort
	}
	m.ToolCalls = slices.Clone(m.ToolCalls[:min(len(m.ToolCalls), n/maxShort)])
	m.Content = cut(m.Content, n)
	for i, c := range m.ToolCalls {
		if len(c.Function.Arguments) > maxShort {
			c.Function.Arguments = `{"cut":true}`
		}
		m.ToolCalls[i] = c
	}
	return m
}

func (m SnapshotMessage) size() int {
	raw, err := json.Marshal(m)
	if err != nil {
		return maxEvent
	}
	return len(raw) + 1
}

// encode writes an event as JSON. Bytes that are no characters become U+FFFD.
func (e Event) encode() Line {
	raw, err := json.Marshal(e)
	if err != nil { // only Value, Snapshot and metadata could fail, and they were JSON before
		raw, _ = json.Marshal(Event{Type: Custom, Name: "unreadable", Value: json.RawMessage("null")})
	}
	return Line{strings.TrimSpace(string(raw))}
}
