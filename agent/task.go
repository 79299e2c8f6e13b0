package agent

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/capability"
)

// TaskOrigin says what put work into the background. All such work is one record (design, section 1).
type TaskOrigin string

// ByCall is the origin of a call of a run that took too long to be waited for (S-18).
const ByCall TaskOrigin = "call"

// Task is work that goes on in the background and outlives its run. Its outcome is told to its conversation exactly
// once: DeliveredRun names the run that did.
type Task struct {
	ID           string
	Origin       TaskOrigin
	UserID       string
	ThreadID     string
	RunID        string // that put it into the background
	TraceID      string // of that run
	InvocationID string
	CallID       string // the model's id of the call
	Capability   string
	Args         json.RawMessage   // what runs
	Status       capability.Status // RUNNING, SUCCEEDED, FAILED, CANCELLED or INDETERMINATE
	Result       json.RawMessage   // of a task that has ended: its invocation's
	DeliveredRun string            // empty: nobody has told of its outcome yet
	CancelReason FinishReason      // set once somebody asked to stop it
	StartedAt    time.Time
	EndedAt      time.Time
	Epoch        int64 // number of the last claim
}

// Ended tells whether a task has its outcome.
func (t Task) Ended() bool { return t.Status != capability.Running }

// StatusOfTask gives a task's state for that of its call.
func StatusOfTask(s capability.Status) capability.Status {
	switch s {
	case capability.Succeeded, capability.Cancelled, capability.Indeterminate:
		return s
	}
	return capability.Failed
}

// Placeholder is what a model reads as the result of a call that goes on in the background. It is no success, and
// stays that call's result in every prompt: the outcome comes as a hint.
func Placeholder(taskID string) json.RawMessage {
	out, _ := json.Marshal(struct {
		Status  capability.Status `json:"status"`
		TaskID  string            `json:"taskId"`
		Message string            `json:"message"`
	}{capability.Offloaded, taskID, "still running in the background; its outcome will be told here; do not call it again"})
	return out
}

// TaskData tells how a task ended; CallID and RunID name the call that it was.
type TaskData struct {
	TaskID       string            `json:"taskId"`
	RunID        string            `json:"runId"`
	InvocationID string            `json:"invocationId"`
	CallID       string            `json:"callId"`
	Name         string            `json:"name"`
	Status       capability.Status `json:"status"`
	Result       json.RawMessage   `json:"result,omitempty"`
}

// Data gives what an event tells of a task that has ended.
func (t Task) Data() TaskData {
	return TaskData{t.ID, t.RunID, t.InvocationID, t.CallID, t.Capability, t.Status, t.Result}
}

// TaskEnd is the outcome of a task, written in one transaction: nothing of it, or all.
type TaskEnd struct {
	Lease      Lease // under which it was worked on
	Status     capability.Status
	Invocation Invocation
	Records    []capability.Record
	Changes    []capability.Change
	Event      Event // goes into the run that put it into the background, if that is still open
	At         time.Time
}

// TaskFilter says which tasks are wanted; what is empty selects everything.
type TaskFilter struct {
	ThreadID string
	Status   capability.Status
}

// TaskStore keeps tasks. A Step begins them (Step.Tasks); their leases are like those of runs.
type TaskStore interface {
	// Task gives one task. ErrNotFound: there is none, or none of this user's; with an empty user, anybody's.
	Task(ctx context.Context, userID, id string) (Task, error)
	// Tasks lists a user's tasks, newest first.
	Tasks(ctx context.Context, userID string, f TaskFilter, p Page) (list []Task, next string, err error)
	// RunningTasks lists what runs in the background of a conversation, oldest first.
	RunningTasks(ctx context.Context, userID, threadID string) ([]Task, error)
	// CancelTask records the wish to stop a user's task, once, while it runs. ErrNotFound as with Task.
	CancelTask(ctx context.Context, userID, id string, why FinishReason) error
	// EndTask writes an outcome. ErrStale: the task has ended, or another has claimed it. A task that was stopped
	// together with its run counts as told of by that: nobody waits for it.
	EndTask(ctx context.Context, e TaskEnd) error

	ClaimTask(ctx context.Context, taskID, owner string, now, until time.Time) (Lease, error)
	RenewTasks(ctx context.Context, leases []Lease, until time.Time) (lost, cancelled []string, err error)
	ReleaseTask(ctx context.Context, l Lease) error
	// OrphanTasks lists the running tasks that nobody works on.
	OrphanTasks(ctx context.Context, now time.Time) ([]string, error)

	// Untold lists the ended tasks of a conversation of which no run has told, in the order in which they ended.
	Untold(ctx context.Context, userID, threadID string) ([]Task, error)
	// UntoldTalks lists a task of each conversation that has untold ones and no open run to tell of them.
	UntoldTalks(ctx context.Context) ([]Task, error)
	// CreateTelling stores a PENDING run that begins with what it is to tell instead of with a person's message.
	// ErrBusy: a run of the conversation is open and will tell of it. ErrStale: nothing is untold.
	CreateTelling(ctx context.Context, r Run) error
}
