// Package agent holds the words of the domain (design, section 1): conversation, message, run, event,
// confirmation, and the interfaces of the model and the store that the engine needs. It must not know
// SQL, HTTP or any protocol.
package agent

import "time"

// Conversation is a lasting talk of one user. Its id is AG-UI's threadId and A2A's contextId (F-3).
type Conversation struct {
	ID        string    `json:"id"`
	UserID    string    `json:"-"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}
