package agui_test

import (
	"encoding/json"
	"fmt"

	"agentmesh/agent/agui"
)

// reader checks a stream by the rules of AG-UI 1.0 (the verify step of its client), independently of
// the translator.
type reader struct {
	started, finished, failed bool

	texts, calls, steps map[string]bool
}

func newReader() *reader {
	return &reader{texts: map[string]bool{}, calls: map[string]bool{}, steps: map[string]bool{}}
}

// wire is an event as a client reads it: a pointer tells an absent member from an empty one.
type wire struct {
	Type         string          `json:"type"`
	ThreadID     *string         `json:"threadId"`
	RunID        *string         `json:"runId"`
	StepName     *string         `json:"stepName"`
	MessageID    *string         `json:"messageId"`
	Delta        *string         `json:"delta"`
	ToolCallID   *string         `json:"toolCallId"`
	ToolCallName *string         `json:"toolCallName"`
	Content      *string         `json:"content"`
	Name         *string         `json:"name"`
	Value        json.RawMessage `json:"value"`
	Message      *string         `json:"message"`
	Outcome      *struct {
		Type       string            `json:"type"`
		Interrupts []json.RawMessage `json:"interrupts"`
	} `json:"outcome"`
	Metadata struct {
		AgentMesh struct {
			RunID string `json:"runId"`
		} `json:"agentmesh"`
	} `json:"metadata"`
}

// take reads the next event; its error says which rule was broken.
func (r *reader) take(e agui.Event) error {
	var w wire
	if err := json.Unmarshal([]byte(e.Encode()), &w); err != nil {
		return fmt.Errorf("%s: %w", e.Type, err)
	}
	if w.Metadata.AgentMesh.RunID == "" {
		return fmt.Errorf("%s does not name our run", w.Type)
	}
	if err := r.place(w.Type); err != nil {
		return err
	}
	if missing := w.missing(); missing != "" {
		return fmt.Errorf("%s has no %s", w.Type, missing)
	}
	return r.pair(w)
}

// place checks where in a stream an event may stand.
func (r *reader) place(kind string) error {
	switch {
	case r.finished || r.failed:
		return fmt.Errorf("%s after the end", kind)
	case kind == agui.RunStarted && r.started:
		return fmt.Errorf("a second %s", kind)
	case kind != agui.RunStarted && kind != agui.RunError && !r.started:
		return fmt.Errorf("%s is first", kind)
	}
	return nil
}

// missing names a member that the protocol requires and the event lacks.
func (w wire) missing() string {
	need := map[string]*string{}
	switch w.Type {
	case agui.RunStarted, agui.RunFinished:
		need["threadId"], need["runId"] = w.ThreadID, w.RunID
	case agui.RunError:
		need["message"] = w.Message
	case agui.StepStarted, agui.StepFinished:
		need["stepName"] = w.StepName
	case agui.TextMessageContent:
		need["messageId"], need["delta"] = w.MessageID, w.Delta
	case agui.TextMessageStart, agui.TextMessageEnd:
		need["messageId"] = w.MessageID
	case agui.ToolCallStart:
		need["toolCallId"], need["toolCallName"] = w.ToolCallID, w.ToolCallName
	case agui.ToolCallArgs:
		need["toolCallId"], need["delta"] = w.ToolCallID, w.Delta
	case agui.ToolCallEnd:
		need["toolCallId"] = w.ToolCallID
	case agui.ToolCallResult:
		need["messageId"], need["toolCallId"], need["content"] = w.MessageID, w.ToolCallID, w.Content
	case agui.Custom:
		need["name"] = w.Name
		if len(w.Value) == 0 {
			return "value"
		}
	}
	for name, value := range need {
		if value == nil || *value == "" {
			return name
		}
	}
	if w.Outcome != nil && w.Outcome.Type == "interrupt" && len(w.Outcome.Interrupts) == 0 {
		return "interrupts"
	}
	return ""
}

// pair checks that what is opened was closed and that only what is open goes on.
func (r *reader) pair(w wire) error {
	open := func(set map[string]bool, id string) error {
		if set[id] {
			return fmt.Errorf("%s of %q, which is open", w.Type, id)
		}
		set[id] = true
		return nil
	}
	use := func(set map[string]bool, id string, ends bool) error {
		if !set[id] {
			return fmt.Errorf("%s of %q, which is not open", w.Type, id)
		}
		if ends {
			delete(set, id)
		}
		return nil
	}
	switch w.Type {
	case agui.RunStarted:
		r.started = true
	case agui.RunError:
		r.failed = true
	case agui.RunFinished:
		r.finished = true
		if n := len(r.texts) + len(r.calls) + len(r.steps); n > 0 {
			return fmt.Errorf("%s with %d things open", w.Type, n)
		}
	case agui.StepStarted:
		return open(r.steps, *w.StepName)
	case agui.StepFinished:
		return use(r.steps, *w.StepName, true)
	case agui.TextMessageStart:
		return open(r.texts, *w.MessageID)
	case agui.TextMessageContent, agui.TextMessageEnd:
		return use(r.texts, *w.MessageID, w.Type == agui.TextMessageEnd)
	case agui.ToolCallStart:
		return open(r.calls, *w.ToolCallID)
	case agui.ToolCallArgs, agui.ToolCallEnd:
		return use(r.calls, *w.ToolCallID, w.Type == agui.ToolCallEnd)
	}
	return nil
}
