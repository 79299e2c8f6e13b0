package agui

import (
	"encoding/json"
	"time"
)

// ProtocolVersion is the version of AG-UI that is spoken. Clients that name one themselves are told it.
const ProtocolVersion = "1.0"

// The event types that are sent.
const (
	RunStarted         = "RUN_STARTED"
	RunFinished        = "RUN_FINISHED"
	RunError           = "RUN_ERROR"
	StepStarted        = "STEP_STARTED"
	StepFinished       = "STEP_FINISHED"
	TextMessageStart   = "TEXT_MESSAGE_START"
	TextMessageContent = "TEXT_MESSAGE_CONTENT"
	TextMessageEnd     = "TEXT_MESSAGE_END"
	ToolCallStart      = "TOOL_CALL_START"
	ToolCallArgs       = "TOOL_CALL_ARGS"
	ToolCallEnd        = "TOOL_CALL_END"
	ToolCallResult     = "TOOL_CALL_RESULT"

	ReasoningStart          = "REASONING_START"
	ReasoningMessageStart   = "REASONING_MESSAGE_START"
	ReasoningMessageContent = "REASONING_MESSAGE_CONTENT"
	ReasoningMessageEnd     = "REASONING_MESSAGE_END"
	ReasoningEnd            = "REASONING_END"

	StateSnapshot    = "STATE_SNAPSHOT"
	MessagesSnapshot = "MESSAGES_SNAPSHOT"
	Custom           = "CUSTOM"
)

// The names of our CUSTOM events (D-32).
const (
	ConfirmationRequired = "tool_confirmation_required"
	ConfirmationResolved = "tool_confirmation_resolved"
	SkillsRouted         = "skills_routed"
	ContextCompressed    = "context_compressed"
	TaskEnded            = "task_ended"
	ModelRetry           = "model_retry"
)

// Event is one AG-UI event. Fields that are empty are left out: several clients throw on null. A Writer sends it.
type Event struct {
	Type            string            `json:"type"`
	Timestamp       int64             `json:"timestamp,omitempty"` // milliseconds
	ThreadID        string            `json:"threadId,omitempty"`
	RunID           string            `json:"runId,omitempty"`
	ProtocolVersion string            `json:"protocolVersion,omitempty"`
	StepName        string            `json:"stepName,omitempty"`
	MessageID       string            `json:"messageId,omitempty"`
	Role            string            `json:"role,omitempty"`
	Delta           string            `json:"delta,omitempty"`
	ToolCallID      string            `json:"toolCallId,omitempty"`
	ToolCallName    string            `json:"toolCallName,omitempty"`
	ParentMessageID string            `json:"parentMessageId,omitempty"`
	Content         string            `json:"content,omitempty"`
	Name            string            `json:"name,omitempty"`
	Value           json.RawMessage   `json:"value,omitempty"`
	Message         string            `json:"message,omitempty"`
	Code            string            `json:"code,omitempty"`
	Outcome         *Outcome          `json:"outcome,omitempty"`
	Snapshot        json.RawMessage   `json:"snapshot,omitempty"`
	Messages        []SnapshotMessage `json:"messages,omitzero"` // an empty list is a snapshot too
	Usage           []Usage           `json:"usage,omitempty"`
	Metadata        map[string]any    `json:"metadata,omitempty"`

	at    time.Time      // when it happened
	about map[string]any // what else is known of it; goes into the metadata
}

// beside gives another event of the same moment.
func (e Event) beside(other Event) Event {
	other.at = e.at
	return other
}

// The types of outcomes.
const (
	outcomeSuccess   = "success"
	outcomeInterrupt = "interrupt"
	outcomeCancelled = "cancelled"
)

// Outcome says how a run finished; absent means success. The pending tool calls are the client's own, which it is
// to answer with its next input.
type Outcome struct {
	Type               string      `json:"type"`
	Interrupts         []Interrupt `json:"interrupts,omitempty"`
	PendingToolCallIDs []string    `json:"pendingToolCallIds,omitempty"`
}

// Interrupt is an open question as the standard has it. ResponseSchema says what an answer looks like; a
// property editedArgs in it means that the arguments may be edited. The deadline is in the metadata: older
// clients refuse every run once expiresAt has passed.
type Interrupt struct {
	ID             string         `json:"id"`
	Reason         string         `json:"reason"`
	ToolCallID     string         `json:"toolCallId,omitempty"`
	Message        string         `json:"message,omitempty"`
	ResponseSchema map[string]any `json:"responseSchema,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
}

// Usage counts a run's tokens.
type Usage struct {
	Model        string `json:"model,omitempty"`
	InputTokens  int64  `json:"inputTokens"`
	OutputTokens int64  `json:"outputTokens"`
	TotalTokens  int64  `json:"totalTokens"`
}
