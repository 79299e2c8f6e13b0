// Package capability is the contract of everything callable: what a capability says of itself, the
// registry that knows them all, the toolkit of one turn, and the one pipeline that every call goes
// through (design, section 5). It must not know who calls, what is called, or over which protocol.
package capability

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// Kind says how a capability is executed.
type Kind string

// The kinds of design section 1.
const (
	Local Kind = "LOCAL"
	MCP   Kind = "MCP"
	A2A   Kind = "A2A"
	Flow  Kind = "FLOW"

	Client Kind = "CLIENT" // a tool of the client's own, which no registry knows
)

// DefaultTimeout bounds a call whose definition names no limit (D-57).
const DefaultTimeout = 30 * time.Second

// Definition is one capability (D-57). It is not changed after registration. The zero value of every
// switch is the safe side: not read-only, not idempotent, enabled, shown to the model.
type Definition struct {
	Name                 string
	Kind                 Kind
	Provider             string // who serves it: "local", "catalog", "food"
	Description          string
	InputSchema          json.RawMessage
	ReadOnly             bool
	Idempotent           bool // the same call id may be sent again without a second effect
	RequiresConfirmation bool // it asks, unless a rule or a grant allows the call
	AlwaysAsks           bool // no rule and no grant silences that
	Hidden               bool // never shown to the model
	Disabled             bool
	External             bool // served by nobody here: somebody outside makes the call and says what came of it
	Foreground           bool // a run waits for it, however long it takes: it never goes on in the background
	Timeout              time.Duration

	Handle Handler

	// Prepare runs before a person is asked: it refuses what could not be done, and says what will be. The
	// changes that come with an error are written with the refusal.
	Prepare func(ctx context.Context, call Call) (Prepared, error)
	// Review runs after a person's yes and before it is written down: it says what has become of what they
	// saw, be it that they edited the arguments, be it that the world changed.
	Review func(ctx context.Context, call Call) (Review, error)
	// Settle runs after an attempt, whatever its outcome, and has the last word on the result. Its
	// changes are written in the transaction that records the result.
	Settle func(ctx context.Context, call Call, result json.RawMessage, failure error) (json.RawMessage, []Change, error)
	// Dismiss says what is written, in the same transaction, when a prepared call will not run.
	Dismiss func(call Call, reason string) []Change
}

// Call is one invocation on its way through the pipeline. ID is the tool invocation id and, for what is
// idempotent, the key.
type Call struct {
	ID       string
	Name     string
	Args     json.RawMessage
	Proposed json.RawMessage // what the model gave, where a person edited that
	UserID   string
	ThreadID string
	RunID    string
	Source   string // who calls: "model", "order"
	Mode     Mode   // of the run
	Off      bool   // the person has turned off the skill that brought it, or it lacks a permission
	Rule     string // once admitted: the rule of the policy that let it through
}

// Prepared is what a person is asked about.
type Prepared struct {
	Summary  json.RawMessage // what will happen, checked; shown on the card
	Warnings json.RawMessage // a JSON list, may be empty
	Changes  []Change        // written in the transaction that opens the question
}

// Change is something a capability wants written in the same transaction as the step that caused it.
// Only the store knows the types; the engine carries them.
type Change interface{ Change() }

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (d Definition) check() error {
	switch {
	case !toolName.MatchString(d.Name):
		return fmt.Errorf("register capability %q: the name must match %s", d.Name, toolName)
	case d.Handle == nil && !d.External:
		return fmt.Errorf("register capability %s: it has no handler", d.Name)
	case d.Handle != nil && d.External:
		return fmt.Errorf("register capability %s: it is external, yet it has a handler", d.Name)
	case d.Description == "":
		return fmt.Errorf("register capability %s: it has no description", d.Name)
	case d.AlwaysAsks && !d.RequiresConfirmation:
		return fmt.Errorf("register capability %s: it always asks, yet it does not ask", d.Name)
	case d.RequiresConfirmation && d.ReadOnly:
		return fmt.Errorf("register capability %s: read-only, yet it asks", d.Name)
	}
	return nil
}

// Repeatable tells whether a call may be made again by itself when nobody knows what became of it.
func (d Definition) Repeatable() bool { return d.ReadOnly || d.Idempotent }

// asksAlways tells whether no rule silences the question. What is prepared is prepared for a person to see.
func (d Definition) asksAlways() bool {
	return d.AlwaysAsks || (d.RequiresConfirmation && d.Prepare != nil)
}

func (d Definition) timeout() time.Duration {
	if d.Timeout > 0 {
		return d.Timeout
	}
	return DefaultTimeout
}
