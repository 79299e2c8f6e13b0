package agent

import (
	"encoding/json"
	"time"
)

// ConfirmationStatus is the state of a question (design, section 6).
type ConfirmationStatus string

// The states of a confirmation. All but Open are final.
const (
	ConfirmationOpen      ConfirmationStatus = "OPEN"
	ConfirmationConfirmed ConfirmationStatus = "CONFIRMED"
	ConfirmationRejected  ConfirmationStatus = "REJECTED"
	ConfirmationExpired   ConfirmationStatus = "EXPIRED"
	ConfirmationCancelled ConfirmationStatus = "CANCELLED"
)

// Confirmation is the durable question "may this call run?". Its JSON is what the page and the stream
// show.
type Confirmation struct {
	ID           string             `json:"confirmationId"`
	RunID        string             `json:"runId"`
	UserID       string             `json:"-"`
	ThreadID     string             `json:"threadId"`
	InvocationID string             `json:"invocationId"`
	CallID       string             `json:"toolCallId"`
	Tool         string             `json:"tool"`
	Args         json.RawMessage    `json:"args"`
	ArgsDigest   string             `json:"argsDigest"`
	Summary      json.RawMessage    `json:"summary,omitempty"`
	Warnings     json.RawMessage    `json:"warnings,omitempty"`
	Status       ConfirmationStatus `json:"status"`
	Reason       string             `json:"reason,omitempty"`
	DecidedBy    string             `json:"decidedBy,omitempty"`
	DecidedVia   string             `json:"decidedVia,omitempty"`
	DecidedAt    *time.Time         `json:"decidedAt,omitempty"`
	CreatedAt    time.Time          `json:"createdAt"`
	Deadline     time.Time          `json:"deadline"`
}

// Decision is an answer to a question.
type Decision struct {
	Status     ConfirmationStatus
	Reason     string
	ArgsDigest string // of the arguments that were decided about; empty: not said
	By         string
	Via        string
	At         time.Time
}
