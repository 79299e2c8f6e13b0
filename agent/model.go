package agent

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/capability"
)

// Prompt is what a model is given in one round.
type Prompt struct {
	Messages []Message
	Tools    []capability.Definition
}

// Answer is what a model gave in one round. Calls may run only if Complete.
type Answer struct {
	Text      string
	Reasoning string // what it thought aloud, beside the answer
	Calls     []ToolCall
	Complete  bool
	Finish    string
	Model     string // that which answered
	Usage     Usage
	Request   json.RawMessage // the body as it was sent, also set beside an error
}

// Listener hears how a model call goes on while it runs. Its functions are called in order, by one goroutine
// at a time; none of them may be nil.
type Listener struct {
	Text  func(delta string) // visible text in pieces, whole characters each
	Again func(ModelAttempt) // an attempt failed, and another one follows
}

// ModelAttempt is a failed attempt of a model call that another one follows.
type ModelAttempt struct {
	Model string        // that which failed
	Class ErrorClass    // how
	Words string        // why, safe to show
	Next  string        // the model that is asked next
	Wait  time.Duration // before that
}

// Model answers prompts. What it gives as an error is a *ModelError, unless the context ended.
type Model interface {
	Name() string
	ContextSize() int // tokens that a request and its answer may have together
	Stream(ctx context.Context, p Prompt, l Listener) (Answer, error)
}

// ErrorClass says what kind of thing went wrong with a model.
type ErrorClass string

// The classes of errors of a model.
const (
	Authentication ErrorClass = "authentication"  // the key is not known
	Permission     ErrorClass = "permission"      // the key may not do this
	RateLimit      ErrorClass = "rate_limit"      // too often, or the quota is used up
	InvalidRequest ErrorClass = "invalid_request" // the endpoint will never take this request
	ContextLength  ErrorClass = "context_length"  // the request is too long for the model
	Upstream       ErrorClass = "upstream"        // the endpoint failed, or what it sent is no answer
	Connection     ErrorClass = "connection"      // it cannot be reached, or went silent
	ModelInternal  ErrorClass = "internal"        // our own fault
)

// ModelError is a failed model call. Err is a fault whose words hold no address and no key.
type ModelError struct {
	Class ErrorClass
	After time.Duration // the pause that the endpoint asks for; 0: none
	Err   error
}

func (e *ModelError) Error() string { return string(e.Class) + ": " + e.Err.Error() }

// Unwrap gives the fault.
func (e *ModelError) Unwrap() error { return e.Err }

// OnText is a listener that hears the text only.
func OnText(f func(delta string)) Listener {
	return Listener{Text: f, Again: func(ModelAttempt) {}}
}
