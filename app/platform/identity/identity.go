// Package identity says who calls: the user, and what they may do. It travels in a request's context from
// the listener, which finds it out, to the handlers, which ask. It knows nothing of keys or of what is done.
package identity

import (
	"context"
	"slices"
)

// Role says what a caller may do (design, section 12).
type Role string

// The roles. A person decides their own confirmations; an agent decides nothing; an admin may all.
const (
	Person Role = "person"
	Agent  Role = "agent"
	Admin  Role = "admin"
)

// Known tells whether a role exists.
func (r Role) Known() bool { return slices.Contains([]Role{Person, Agent, Admin}, r) }

// MayDecide tells whether a caller of this role may answer confirmations.
func (r Role) MayDecide() bool { return r == Person || r == Admin }

// Identity is a caller.
type Identity struct {
	User string
	Role Role
}

type key struct{}

// With puts the caller into a context.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, key{}, id)
}

// From gives the caller of a context, if the listener found one out.
func From(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(key{}).(Identity)
	return id, ok
}
