package agent

import (
	"encoding/json"
	"time"
)

// EventType names what happened in a run.
type EventType string

// The events of a run. Text deltas are not among them: they are shown live and stored as whole text
// when the message ends. A message begins with its first piece; its id is in the ModelCalled before it.
const (
	RunStarted           EventType = "run_started"
	SkillsRouted         EventType = "skills_routed"
	HintGiven            EventType = "hint_given"
	ModelCalled          EventType = "model_called"
	ModelRetried         EventType = "model_retried"
	ReasoningEnded       EventType = "reasoning_ended"
	MessageEnded         EventType = "message_ended"
	ModelAnswered        EventType = "model_answered"
	CallProposed         EventType = "call_proposed"
	CallStarted          EventType = "call_started"
	CallEnded            EventType = "call_ended"
	CallOffloaded        EventType = "call_offloaded"
	CallWaiting          EventType = "call_waiting"
	TaskEnded            EventType = "task_ended"
	ConfirmationRequired EventType = "confirmation_required"
	ConfirmationResolved EventType = "confirmation_resolved"
	RunEnded             EventType = "run_ended"
	ContextCompressed    EventType = "context_compressed"
)

// Event is one entry of a run's append-only log. The stream, the page and the replay are all read from
// it.
type Event struct {
	RunID string
	Seq   int64
	Type  EventType
	Data  json.RawMessage
	At    time.Time
}

// The payloads. Questions carry the Confirmation itself.
type (
	// StartedData begins a run.
	StartedData struct {
		ThreadID    string `json:"threadId"`
		ClientRunID string `json:"clientRunId"`
		TraceID     string `json:"traceId"`
		Modern      bool   `json:"modern,omitempty"`
	}
	// RoutedData tells what the router decided and why.
	RoutedData struct {
		Skills []RoutedSkill `json:"skills"`
		Tools  []string      `json:"tools"`
	}
	// RoutedSkill is one skill in use, and what chose it.
	RoutedSkill struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		NameEn string `json:"nameEn"`
		Reason string `json:"reason"`
	}
	// ModelData names a model round, and the message that it may become.
	ModelData struct {
		LLMCallID string `json:"llmCallId"`
		MessageID string `json:"messageId,omitempty"`
		Round     int    `json:"round"`
		Model     string `json:"model,omitempty"`
		Usage     Usage  `json:"usage"`
	}
	// MessageData is the whole text of an assistant message, of what was thought before it, or of a hint.
	MessageData struct {
		MessageID string `json:"messageId"`
		Text      string `json:"text,omitempty"`
		Abandoned bool   `json:"abandoned,omitempty"`
	}
	// CallData is a proposed or started call, or its result.
	CallData struct {
		InvocationID string          `json:"invocationId"`
		CallID       string          `json:"callId"`
		MessageID    string          `json:"messageId,omitempty"`
		Name         string          `json:"name"`
		Args         json.RawMessage `json:"args,omitempty"`
		Extra        json.RawMessage `json:"extra,omitempty"`      // of a proposal: what the endpoint wants back with it
		EditedArgs   json.RawMessage `json:"editedArgs,omitempty"` // of a result: what ran, where a person edited it
		Kind         string          `json:"kind,omitempty"`
		Status       string          `json:"status,omitempty"`
		Stage        string          `json:"stage,omitempty"`
		Attempt      int             `json:"attempt,omitempty"` // of a start: which one it is
		Result       json.RawMessage `json:"result,omitempty"`
		TaskID       string          `json:"taskId,omitempty"` // of one that goes on in the background
		DurationMS   int64           `json:"durationMs,omitempty"`
	}
	// EndData ends a run.
	EndData struct {
		Status  string       `json:"status"`
		Reason  FinishReason `json:"reason"`
		Pending []string     `json:"pending,omitempty"` // the calls that are left to the client, by the model's ids
		Code    string       `json:"code,omitempty"`
		Message string       `json:"message,omitempty"`
		Model   string       `json:"model,omitempty"`
		Usage   Usage        `json:"usage"`
	}
)

// NewEvent makes an event; the store gives it its number. The payloads above always encode.
func NewEvent(t EventType, data any, at time.Time) Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return Event{Type: t, Data: raw, At: at}
}
