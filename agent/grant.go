package agent

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/capability"
)

// Grant is what a person has allowed for good with their yes: every call of a capability, or those with exactly
// these arguments (design, section 5). It silences questions that may be silenced, for this person's runs.
type Grant struct {
	ID             string          `json:"id"`
	UserID         string          `json:"-"`
	Capability     string          `json:"capability"`
	Args           json.RawMessage `json:"args,omitempty"` // left out: any
	ConfirmationID string          `json:"confirmationId"` // the question that was answered with it
	CreatedAt      time.Time       `json:"createdAt"`
}

// Rule is the grant as the policy reads it.
func (g Grant) Rule() capability.Rule {
	return capability.Rule{Capability: g.Capability, Effect: capability.Allow, Exact: g.Args, Grant: g.ID}
}

// GrantStore keeps grants. They are made in the step of the decision that they come with.
type GrantStore interface {
	// Grants lists a user's grants, newest first.
	Grants(ctx context.Context, userID string, p Page) (list []Grant, next string, err error)
	// Revoke takes a grant out of use. ErrNotFound: there is none with this id, or none of this user's.
	Revoke(ctx context.Context, userID, id string, at time.Time) error
}

// Suggestion is what a yes to a question may be remembered as.
type Suggestion struct {
	ID         string          `json:"id"`
	Capability string          `json:"capability"`
	Args       json.RawMessage `json:"args,omitempty"` // exactly these; left out: any
}

// The ids of suggestions.
const (
	SuggestTool = "tool" // every call of this capability
	SuggestArgs = "args" // calls with exactly these arguments
)

// Suggestions are those for a call.
func Suggestions(inv Invocation) []Suggestion {
	return []Suggestion{{ID: SuggestArgs, Capability: inv.Name, Args: inv.Args}, {ID: SuggestTool, Capability: inv.Name}}
}
