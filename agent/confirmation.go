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
	ConfirmationAnswered  ConfirmationStatus = "ANSWERED" // of kind AskOutcome; Answer says with what
)

// Confirmation is the durable question to a person: may this call run, or did it happen. Its JSON is what the
// page and the stream show.
type Confirmation struct {
	ID           string             `json:"confirmationId"`
	Kind         Kind               `json:"kind"`
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
	Because      string             `json:"because,omitempty"`     // why it is asked, where a rule of the policy says so
	Suggestions  []Suggestion       `json:"suggestions,omitempty"` // what a yes may be remembered as
	Attempt      *Attempt           `json:"attempt,omitempty"`     // of kind AskOutcome: what is known
	Answers      []Reply            `json:"answers,omitempty"`     // of kind AskOutcome: those that there are
	Status       ConfirmationStatus `json:"status"`
	Answer       Reply              `json:"answer,omitempty"` // what a person said, once ANSWERED
	Reason       string             `json:"reason,omitempty"`
	Edited       *Edit              `json:"edited,omitempty"`     // what the person made of it, with their yes
	Remembered   string             `json:"remembered,omitempty"` // the suggestion that the yes was remembered as
	ReplacedBy   string             `json:"replacedBy,omitempty"` // the question that took its place
	DecidedBy    string             `json:"decidedBy,omitempty"`
	DecidedVia   string             `json:"decidedVia,omitempty"`
	DecidedAt    *time.Time         `json:"decidedAt,omitempty"`
	CreatedAt    time.Time          `json:"createdAt"`
	Deadline     time.Time          `json:"deadline"`
}

// Edit is what a person changed before their yes: the arguments as a whole, and what follows from them.
type Edit struct {
	Args       json.RawMessage `json:"args"`
	ArgsDigest string          `json:"argsDigest"`
	Summary    json.RawMessage `json:"summary,omitempty"`
	Warnings   json.RawMessage `json:"warnings,omitempty"`
}

// Decision is an answer to a question. One with an Answer needs no Status.
type Decision struct {
	Status     ConfirmationStatus
	Answer     Reply // to a question of kind AskOutcome
	Reason     string
	Edited     *Edit  // with a yes to other arguments than were asked about
	Remember   string // with a yes: the id of the suggestion that it is remembered as
	ArgsDigest string // of the arguments that were asked about; empty: not said
	ReplacedBy string // the question that takes the place of a closed one
	By         string
	Via        string
	At         time.Time
}
