package capability

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/app/platform/fault"
)

// Stage is a named step of the pipeline; receipts and audit records say where a call ended.
type Stage string

// The stages of design section 5 that exist so far, in their order.
const (
	StageResolve     Stage = "resolve"
	StageValidate    Stage = "validate"
	StagePolicy      Stage = "policy"
	StageIdempotency Stage = "idempotency"
	StagePrepare     Stage = "prepare"
	StageConfirm     Stage = "confirm"
	StageAttempt     Stage = "attempt"
	StageReceipt     Stage = "receipt"
	StageAnswer      Stage = "answer" // of a call that somebody else made: they said what came of it
)

// Status is how far an invocation is (design, section 5).
type Status string

// The states of an invocation.
const (
	Proposed      Status = "PROPOSED"
	Invalid       Status = "INVALID"
	Denied        Status = "DENIED"
	Asking        Status = "ASKING"
	Allowed       Status = "ALLOWED"
	Running       Status = "RUNNING"
	Offloaded     Status = "OFFLOADED"      // it goes on in the background, and its run without it
	InputRequired Status = "INPUT_REQUIRED" // somebody else makes it, and says what comes of it
	Succeeded     Status = "SUCCEEDED"
	Failed        Status = "FAILED"
	TimedOut      Status = "TIMED_OUT"
	Cancelled     Status = "CANCELLED"
	Refused       Status = "REFUSED"
	Indeterminate Status = "INDETERMINATE"
)

// Final tells whether an invocation has its one result.
func (s Status) Final() bool {
	switch s {
	case Proposed, Asking, Allowed, Running, Offloaded, InputRequired:
		return false
	}
	return true
}

// Settled tells whether a run need not wait for an invocation any more.
func (s Status) Settled() bool { return s.Final() || s == Offloaded }

// Waits tells whether nothing but somebody outside can let an invocation go on.
func (s Status) Waits() bool { return s == Asking || s == InputRequired }

// Receipt is the outcome of one invocation.
type Receipt struct {
	InvocationID string        `json:"invocationId"`
	Capability   string        `json:"capability"`
	Kind         Kind          `json:"kind"`
	Status       Status        `json:"status"`
	Stage        Stage         `json:"stage"`
	Code         string        `json:"code,omitempty"`
	Message      string        `json:"message,omitempty"`
	Rule         string        `json:"rule,omitempty"` // the rule of the policy that decided: see Verdict
	Began        time.Time     `json:"began"`
	Duration     time.Duration `json:"-"`
	Replayed     bool          `json:"replayed,omitempty"`
}

// Record is one line of the audit: a receipt with who, where, and summaries of what went in and out
// (D-103).
type Record struct {
	Receipt
	At       time.Time
	UserID   string
	ThreadID string
	RunID    string
	TraceID  string
	Source   string
	Input    string
	Output   string
	// ArgsDigest names what ran, or would have; ProposedDigest what the model gave, where a person edited that.
	ArgsDigest     string
	ProposedDigest string
}

// Selection says which audit records are wanted; what is empty selects everything.
type Selection struct {
	RunID      string
	Capability string
	Status     Status
	Stage      Stage
}

// Finished is a stored outcome, kept under the invocation's id.
type Finished struct {
	Args    json.RawMessage
	Result  json.RawMessage
	Receipt Receipt
}

// Ledger keeps what the pipeline must remember: the records of calls that are made outside a run's own
// journal, and the outcomes that a repeated invocation id is answered with.
type Ledger interface {
	Audit(ctx context.Context, r Record) error
	Finished(ctx context.Context, userID, invocationID string) (f Finished, found bool, err error)
}

// AuditStatus is the word that the audit uses for a state (D-103).
func AuditStatus(s Status) string {
	if s == Succeeded {
		return "SUCCESS"
	}
	return string(s)
}

// StatusOfAudit reads a word of the audit.
func StatusOfAudit(word string) Status {
	if word == AuditStatus(Succeeded) {
		return Succeeded
	}
	return Status(word)
}

func statusOf(err error) Status {
	switch fault.CodeOf(err) {
	case fault.Timeout:
		return TimedOut
	case fault.Cancelled:
		return Cancelled
	case fault.Denied:
		return Denied
	}
	return Failed
}
