package agent

import (
	"encoding/json"
	"fmt"
)

// Transcript is what was said in a run, as its events tell: the hints, and the model's answers with the calls that it
// asked for. It is the one place where events become messages: the store writes a step's messages by it, and a stream,
// live or again, finds by it which message is being written. The person's message is not among the events; it is there
// before the run. What calls came to is in their invocations.
type Transcript struct {
	messages []Message
	writing  string
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
		t.writing = d.MessageID
	case HintGiven, ReasoningEnded, MessageEnded:
		var d MessageData
		err = json.Unmarshal(e.Data, &d)
		t.say(e, d)
	case CallProposed:
		var d CallData
		err = json.Unmarshal(e.Data, &d)
		m := t.message(e, d.MessageID)
		m.Calls = append(m.Calls, ToolCall{ID: d.CallID, Name: d.Name, Args: d.Args, Extra: d.Extra})
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
		if t.writing == d.MessageID {
			t.writing = ""
		}
	}
	m.Abandoned = m.Abandoned || d.Abandoned
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

// Said lists the messages, in order.
func (t *Transcript) Said() []Message { return t.messages }

// Writing gives the id of the message that a model was called for and that has not ended; empty: there is none.
func (t *Transcript) Writing() string { return t.writing }
