package agent

import (
	"context"
	"time"
)

// Preference is one remembered fact about a user (D-106).
type Preference struct {
	ID        string    `json:"id"`
	UserID    string    `json:"-"`
	Statement string    `json:"statement"`
	Kind      string    `json:"kind"`
	RunID     string    `json:"runId,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// PreferenceStore keeps preferences and finds them by any word of their text, Chinese ones included.
type PreferenceStore interface {
	// Remember stores a preference. The same statement again gives the stored one.
	Remember(ctx context.Context, p Preference) (Preference, error)
	// Recall lists a user's active preferences, best match first; all of them, newest first, when query
	// is empty. A query of nothing but signs finds nothing.
	Recall(ctx context.Context, userID, query string, limit int) ([]Preference, error)
	// Forget takes preferences out of use.
	Forget(ctx context.Context, userID string, ids []string, at time.Time) error
}
