package a2a

import (
	"context"
	"encoding/json"

	"agentmesh/app/platform/fault"
)

// State is where a task stands.
type State string

// The states of a task (A2A 1.0, section 4.1.3).
const (
	Submitted     State = "TASK_STATE_SUBMITTED"
	Working       State = "TASK_STATE_WORKING"
	Completed     State = "TASK_STATE_COMPLETED"
	Failed        State = "TASK_STATE_FAILED"
	Canceled      State = "TASK_STATE_CANCELED"
	Rejected      State = "TASK_STATE_REJECTED"
	InputRequired State = "TASK_STATE_INPUT_REQUIRED"
	AuthRequired  State = "TASK_STATE_AUTH_REQUIRED"
)

// Terminal tells whether a task in this state never changes again.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// interrupted tells whether a task waits for its caller.
func (s State) interrupted() bool { return s == InputRequired || s == AuthRequired }

// The names of our agents' artifacts.
const (
	ArtifactResult = "RESULT"
	ArtifactOrder  = "ORDER_DATA"
)

// Request is one message to an agent: a skill with arguments (the data part), a sentence (the text part), or both.
type Request struct {
	Skill     string          // "" when the text says what is wanted
	Arguments json.RawMessage // of the skill
	Text      string
	MessageID string
	TaskID    string // of the task that is continued, "" for a new one
	ContextID string

	// Earlier are the texts that the caller sent to this task before, oldest first. Set by the engine.
	Earlier []string
}

// Update is a sign of life while a task is worked on.
type Update struct {
	State State
	Text  string
}

// Result is what an executor has to say at the end. With a Question the task waits for input and nothing else counts.
type Result struct {
	Text         string
	ArtifactName string // ArtifactResult when empty
	Data         any    // marshalled into the data part
	Question     string
}

// Executor does an agent's work. A *fault.Error fails the task with its code and message; any other error fails it as
// internal, and its text goes to the log alone. The context ends when the task is cancelled or the agent stops. Emit must
// be called from Execute's own goroutine; its error means that nobody wants the rest.
type Executor interface {
	Execute(ctx context.Context, req Request, emit func(Update) error) (Result, error)
}

// ExecutorFunc is a function that is an Executor.
type ExecutorFunc func(ctx context.Context, req Request, emit func(Update) error) (Result, error)

// Execute calls the function.
func (f ExecutorFunc) Execute(ctx context.Context, req Request, emit func(Update) error) (Result, error) {
	return f(ctx, req, emit)
}

// command is the data part of a message to one of our agents.
type command struct {
	Skill     string          `json:"skill"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// failure is the data part of a failed task.
type failure struct {
	Error struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
	} `json:"error"`
}

func failureOf(err error) failure {
	var f failure
	f.Error.Code, f.Error.Message = fault.CodeOf(err), fault.MessageOf(err)
	return f
}
