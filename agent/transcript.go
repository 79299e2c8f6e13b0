package agent

import (
	"encoding/json"
	"fmt"
)

// Transcript is what was said in a run, as its events tell: the hints, the model's answers and the results of
// its calls. It is the one place where events become messages. The store writes a step's messages by it, a
// stream finds by it what its client has not seen of the message that is being written, and a replay shows
// by it what the store shows. The person's message is not among the events; it is there before the run.
type Transcript struct {
	messages []Message // tool messages apart
	results  map[string]Message
	writing  Writing
}

// Writing is the message that a model was called for and that has not ended.
type Writing struct {
	MessageID string // empty: there is none
	Seq       int64  // of the event that called for it
}

// TranscriptOf reads events from the beginning.
func TranscriptOf(events []Event) (Transcript, error) {
	var t Transcript
	for _, e := range events {
		if err := t.Apply(e); err != nil {
			return Transcript{}, err
		}
	}
	return t, nil
}

// Apply takes in the next event. Kinds that say nothing, and those of a newer program, are skipped.
func (t *Transcript) Apply(e Event) error {
	var err error
	switch e.Type {
	case ModelCalled:
		var d ModelData
		err = json.Unmarshal(e.Data, &d)
		t.writing = Writing{MessageID: d.MessageID, Seq: e.Seq}
	case HintGiven, ReasoningEnded, MessageEnded:
		var d MessageData
		err = json.Unmarshal(e.Data, &d)
		t.say(e, d)
	case CallProposed, CallEnded:
		var d CallData
		err = json.Unmarshal(e.Data, &d)
		t.call(e, d)
	}
	if err != nil {
		return fmt.Errorf("read event %d (%s): %w", e.Seq, e.Type, err)
	}
	return nil
}

func (t *Transcript) say(e Event, d MessageData) {
	m := t.message(e, d.MessageID)
	switch e.Type {
	case HintGiven:
		m.Role, m.Text = Hint, d.Text
	case ReasoningEnded:
		m.Reasoning = d.Text
	default:
		m.Text = d.Text
		if t.writing.MessageID == d.MessageID {
			t.writing = Writing{}
		}
	}
	m.Abandoned = m.Abandoned || d.Abandoned
}

func (t *Transcript) call(e Event, d CallData) {
	if e.Type == CallProposed {
		m := t.message(e, d.MessageID)
		m.Calls = append(m.Calls, ToolCall{ID: d.CallID, Name: d.Name, Args: d.Args, Extra: d.Extra})
		return
	}
	if t.results == nil {
		t.results = map[string]Message{}
	}
	t.results[d.MessageID+"/"+d.CallID] = Message{
		ID: d.InvocationID, RunID: e.RunID, Role: Tool, ToolCallID: d.CallID, Text: string(d.Result), CreatedAt: e.At,
	}
	for i := range t.messages {
		if t.messages[i].ID == d.MessageID {
			t.messages[i].edited(d)
		}
	}
}

// edited shows a call as it ran, where a person edited what the model gave.
func (m *Message) edited(d CallData) {
	for i := range m.Calls {
		if m.Calls[i].ID == d.CallID && len(d.EditedArgs) > 0 {
			m.Calls[i].Args = d.EditedArgs
		}
	}
}

// message finds a message, or begins the next one.
func (t *Transcript) message(e Event, id string) *Message {
	for i := range t.messages {
		if t.messages[i].ID == id {
			return &t.messages[i]
		}
	}
	t.messages = append(t.messages, Message{ID: id, RunID: e.RunID, Role: Assistant, CreatedAt: e.At})
	return &t.messages[len(t.messages)-1]
}

// Said lists the messages without the results of calls, in order.
func (t *Transcript) Said() []Message { return t.messages }

// Messages lists the messages, each call's result straight after its answer and in the order of the calls.
func (t *Transcript) Messages() []Message {
	var out []Message
	for _, m := range t.messages {
		out = append(out, m)
		for _, c := range m.Calls {
			if r, ended := t.results[m.ID+"/"+c.ID]; ended {
				out = append(out, r)
			}
		}
	}
	return out
}

// Text gives the whole text of a message that has ended.
func (t *Transcript) Text(messageID string) string {
	for _, m := range t.messages {
		if m.ID == messageID {
			return m.Text
		}
	}
	return ""
}

// Writing gives the message that is being written.
func (t *Transcript) Writing() Writing { return t.writing }
