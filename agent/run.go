package agent

import (
	"fmt"
	"time"

	"agentmesh/capability"
)

// Status is a run's state (D-39). The numbers are stored: below Succeeded a run is open.
type Status int

// The states of design section 4.
const (
	Pending              Status = 0
	Running              Status = 1
	AwaitingConfirmation Status = 2
	Succeeded            Status = 10
	Failed               Status = 11
	Cancelled            Status = 12
)

// Keep, as the target of a step, leaves a run in the state it is in.
const Keep Status = -1

// String gives the state's name.
func (s Status) String() string {
	switch s {
	case Pending:
		return "PENDING"
	case Running:
		return "RUNNING"
	case AwaitingConfirmation:
		return "AWAITING_CONFIRMATION"
	case Succeeded:
		return "SUCCEEDED"
	case Failed:
		return "FAILED"
	case Cancelled:
		return "CANCELLED"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// MarshalText writes the state's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Final tells whether a run has ended.
func (s Status) Final() bool { return s >= Succeeded }

// CanBecome tells whether a transition exists (design, section 4). Final states never change.
func (s Status) CanBecome(to Status) bool {
	switch s {
	case Pending:
		return to == Running || to == Failed || to == Cancelled
	case Running:
		return to == AwaitingConfirmation || to.Final()
	case AwaitingConfirmation:
		return to == Running || to == Cancelled || to == Failed
	}
	return false
}

// FinishReason says why a run ended.
type FinishReason string

// The finish reasons that exist so far.
const (
	Completed     FinishReason = "completed"
	MaxRounds     FinishReason = "max_rounds"
	MaxCalls      FinishReason = "max_calls"
	RepeatedCalls FinishReason = "repeated_calls"
	OutOfTime     FinishReason = "out_of_time"
	MaxTellings   FinishReason = "max_tellings"
	ByUser        FinishReason = "cancelled_by_user"
	ClientLeft    FinishReason = "client_left"
	Restarted     FinishReason = "restarted"
	ByClientTool  FinishReason = "client_tool" // calls of tools that the client runs are left to it
	ByExternal    FinishReason = "external"    // calls are left to whoever serves them outside
	Broken        FinishReason = "error"
)

// Run is the processing of one input (D-38). ID is ours; ClientRunID is the client's label and may
// repeat.
type Run struct {
	ID           string
	ClientRunID  string
	UserID       string
	ThreadID     string
	TraceID      string
	Status       Status
	FinishReason FinishReason
	ErrorCode    string
	ErrorMessage string
	Model        string
	Usage        Usage
	Skills       []string // routed for this run
	Tools        []string // offered in this run
	Modern       bool     // the client named a protocolVersion
	Origin       Origin
	Client       Client          // whose input it is
	Continues    string          // the run whose calls were answered, when this one goes on from there
	Mode         capability.Mode // how much it may do by itself
	InputKey     string          // names the input for good; empty when its client did not. Written, never read back
	Active       time.Duration
	CancelReason FinishReason // set once somebody asked to cancel
	CreatedAt    time.Time
	StartedAt    time.Time
	EndedAt      time.Time
	Head         int64 // number of the last event
	Epoch        int64 // number of the last claim
}

// Origin says what started a run.
type Origin string

// The origins of runs so far.
const (
	ByAPI      Origin = "api"      // POST /api/v1/runs
	ByAGUI     Origin = "agui"     // POST /agui, or a CopilotKit page
	ByTask     Origin = "task"     // the end of a task of which no run has told
	BySchedule Origin = "schedule" // the clock
	ByAnswer   Origin = "answer"   // POST /api/v1/runs/{id}/results
)

// Usage counts tokens as the endpoint reported them.
type Usage struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
}

// Add sums usage over rounds.
func (u Usage) Add(v Usage) Usage { return Usage{u.Input + v.Input, u.Output + v.Output} }
