// Package agent holds the words of the domain (design, section 1): conversation, message, run, event,
// confirmation, and the interfaces of the model and the store that the engine needs. It must not know
// SQL, HTTP or any protocol.
package agent

import (
	"context"
	"time"
)

// Conversation is a lasting talk of one user. Its id is AG-UI's threadId and A2A's contextId (F-3).
type Conversation struct {
	ID        string    `json:"id"`
	UserID    string    `json:"-"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// ConversationStore keeps conversations. Runs begin them; what is not the user's is ErrNotFound.
type ConversationStore interface {
	Conversation(ctx context.Context, userID, id string) (Conversation, error)
	// Conversations lists a user's conversations, last used first.
	Conversations(ctx context.Context, userID string, p Page) (list []Conversation, next string, err error)
	// Messages lists the newest messages of a conversation, then older ones; each part is oldest first, with
	// tool results in their places.
	Messages(ctx context.Context, userID, id string, p Page) (list []Message, next string, err error)
	// RenameConversation gives a conversation another title; it does not count as a use.
	RenameConversation(ctx context.Context, userID, id, title string) (Conversation, error)
	// DeleteConversation removes a conversation with its runs and all that they hold, in one transaction; orders and
	// audit stay. It is a conflict while a run of it is open, or an order has no outcome yet.
	DeleteConversation(ctx context.Context, userID, id string) error
}
