// Package schedule starts runs by the clock: schedules, their due times, and the fires that are made of them, each
// once (S-19). It creates runs through the engine, and must not know how they run, HTTP or SQL.
package schedule

import (
	"context"
	"time"

	"agentmesh/agent"
)

// Limits of schedules. Two due times of one are never less than a minute apart, as cron has no seconds.
const (
	MaxOfUser  = 20
	MaxName    = 80   // characters
	MaxMessage = 4000 // characters
)

// Grace is how late a due time may be found and still run; what is older was missed (notes on runtimes, 2.8).
const Grace = 300 * time.Second

// Conversation says where the runs of a schedule take place.
type Conversation string

// The conversations of a schedule's runs.
const (
	Keep  Conversation = "keep"  // one for all of them, which they remember
	Fresh Conversation = "fresh" // a new one each time
)

// Schedule is a message that is sent by the clock, for a person, while nobody watches.
type Schedule struct {
	ID           string       `json:"id"`
	UserID       string       `json:"-"`
	Name         string       `json:"name"`
	Cron         string       `json:"cron"`
	TimeZone     string       `json:"timeZone"`
	Message      string       `json:"message"`
	Conversation Conversation `json:"conversation"`
	Enabled      bool         `json:"enabled"`
	CreatedAt    time.Time    `json:"createdAt"`
	UpdatedAt    time.Time    `json:"updatedAt"`
	DueAt        time.Time    `json:"-"` // the next due time while enabled; the zero time: none
}

// FireStatus is what became of a due time.
type FireStatus string

// The states of a fire. All but Due are final.
const (
	Due     FireStatus = "DUE"     // its run is about to be made
	Started FireStatus = "STARTED" // RunID is its run
	Missed  FireStatus = "MISSED"  // nobody was there in time
	Skipped FireStatus = "SKIPPED" // its run could not be made; Reason says why
)

// Fire is one due time that has come, known by schedule and time: there is one of each, whoever makes it.
type Fire struct {
	ScheduleID string     `json:"-"`
	UserID     string     `json:"-"`
	DueAt      time.Time  `json:"dueAt"`
	Status     FireStatus `json:"status"`
	Reason     string     `json:"reason,omitempty"`
	RunID      string     `json:"runId,omitempty"`
	ThreadID   string     `json:"threadId,omitempty"`
	Message    string     `json:"-"` // as it was when it was due
	At         time.Time  `json:"at"`
}

// Store keeps schedules and fires.
type Store interface {
	// CreateSchedule stores a schedule, unless its user has so many already; it tells whether it did.
	CreateSchedule(ctx context.Context, s Schedule, most int) (bool, error)
	// SaveSchedule changes a schedule. ErrNotFound: there is none, or not this user's.
	SaveSchedule(ctx context.Context, s Schedule) error
	// DeleteSchedule drops a schedule with its fires; their runs stay. ErrNotFound as above.
	DeleteSchedule(ctx context.Context, userID, id string) error
	// Schedule gives one of a user's schedules.
	Schedule(ctx context.Context, userID, id string) (Schedule, error)
	// Schedules lists a user's, newest first.
	Schedules(ctx context.Context, userID string, p agent.Page) (list []Schedule, next string, err error)
	// Fires lists the newest fires of a schedule, newest first.
	Fires(ctx context.Context, scheduleID string, limit int) ([]Fire, error)

	// DueSchedules lists enabled schedules of all users that are due by a time.
	DueSchedules(ctx context.Context, by time.Time) ([]Schedule, error)
	// NextDue gives the earliest due time of all; the zero time: there is none.
	NextDue(ctx context.Context) (time.Time, error)
	// ClaimDue moves a schedule from the due time that s has to the next one and writes the fires with it, in one
	// transaction. It tells whether this call did, and not another process's before it.
	ClaimDue(ctx context.Context, s Schedule, next time.Time, fires []Fire) (bool, error)
	// InsertFire writes a fire that nobody waited for, once.
	InsertFire(ctx context.Context, f Fire) (bool, error)
	// OpenFires lists fires that are Due: a process may have ended before it made their runs.
	OpenFires(ctx context.Context) ([]Fire, error)
	// CloseFire writes what became of a fire that is Due; of one that is not, nothing.
	CloseFire(ctx context.Context, f Fire) error
}
