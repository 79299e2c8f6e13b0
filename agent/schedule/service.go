package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// Deps are the parts that the service works with.
type Deps struct {
	Store  Store
	Runner Runner
	Now    func() time.Time
	NewID  func(kind string) string
	Zone   string // of schedules that name none
}

// Service keeps schedules and starts their runs.
type Service struct {
	deps Deps
	wake chan struct{}
	stop context.CancelFunc
	done sync.WaitGroup

	looked time.Time // when the worker last looked at what is due; only it reads this
}

// New makes the service; Start sets it going.
func New(deps Deps) *Service { return &Service{deps: deps, wake: make(chan struct{}, 1)} }

// Draft is what a person says of a schedule; nil leaves a value as it is, or as it usually is.
type Draft struct {
	Name         *string       `json:"name"`
	Cron         *string       `json:"cron"`
	TimeZone     *string       `json:"timeZone"`
	Message      *string       `json:"message"`
	Conversation *Conversation `json:"conversation"`
	Enabled      *bool         `json:"enabled"`
}

// Create checks and stores a schedule.
func (s *Service) Create(ctx context.Context, userID string, d Draft) (Schedule, error) {
	now := s.now()
	out := Schedule{ID: s.deps.NewID("sched"), UserID: userID, TimeZone: s.deps.Zone, Conversation: Keep, Enabled: true, CreatedAt: now}
	if err := s.apply(&out, d, now); err != nil {
		return Schedule{}, err
	}
	made, err := s.deps.Store.CreateSchedule(ctx, out, MaxOfUser)
	switch {
	case err != nil:
		return Schedule{}, fmt.Errorf("create schedule: %w", err)
	case !made:
		return Schedule{}, fault.New(fault.Conflict, "you have %d schedules, and there can be no more: delete one", MaxOfUser)
	}
	s.lookAgain()
	return out, nil
}

// Change changes a schedule. Its next due time is counted anew from now if what it depends on changed.
func (s *Service) Change(ctx context.Context, userID, id string, d Draft) (Schedule, error) {
	out, err := s.deps.Store.Schedule(ctx, userID, id)
	if err != nil {
		return Schedule{}, err
	}
	if err := s.apply(&out, d, s.now()); err != nil {
		return Schedule{}, err
	}
	if err := s.deps.Store.SaveSchedule(ctx, out); err != nil {
		return Schedule{}, fmt.Errorf("change schedule %s: %w", id, err)
	}
	s.lookAgain()
	return out, nil
}

func (s *Service) apply(out *Schedule, d Draft, now time.Time) error {
	before := *out
	take(&out.Name, d.Name)
	take(&out.Cron, d.Cron)
	take(&out.TimeZone, d.TimeZone)
	take(&out.Message, d.Message)
	take(&out.Conversation, d.Conversation)
	take(&out.Enabled, d.Enabled)
	out.UpdatedAt = now
	clock, err := parse(out.Cron, out.TimeZone)
	switch {
	case err != nil:
		return err
	case wrongLength(out.Name, MaxName):
		return fault.New(fault.Invalid, "name must have 1 to %d characters", MaxName)
	case wrongLength(out.Message, MaxMessage):
		return fault.New(fault.Invalid, "message must have 1 to %d characters", MaxMessage)
	case out.Conversation != Keep && out.Conversation != Fresh:
		return fault.New(fault.Invalid, "conversation must be keep or fresh")
	}
	switch {
	case !out.Enabled:
		out.DueAt = time.Time{}
	case out.DueAt.IsZero() || out.Cron != before.Cron || out.TimeZone != before.TimeZone:
		out.DueAt = clock.next(now)
	}
	return nil
}

func take[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func wrongLength(text string, most int) bool {
	return strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > most
}

// Delete drops a schedule. Its runs stay.
func (s *Service) Delete(ctx context.Context, userID, id string) error {
	return s.deps.Store.DeleteSchedule(ctx, userID, id)
}

// Get gives one of a user's schedules.
func (s *Service) Get(ctx context.Context, userID, id string) (Schedule, error) {
	return s.deps.Store.Schedule(ctx, userID, id)
}

// List lists a user's schedules, newest first.
func (s *Service) List(ctx context.Context, userID string, p agent.Page) ([]Schedule, string, error) {
	return s.deps.Store.Schedules(ctx, userID, p)
}

// Fires lists a schedule's newest fires, newest first.
func (s *Service) Fires(ctx context.Context, scheduleID string, limit int) ([]Fire, error) {
	return s.deps.Store.Fires(ctx, scheduleID, limit)
}

// DueTimes gives the next due times of a schedule; none while it is disabled.
func (s *Service) DueTimes(sch Schedule, n int) []time.Time {
	out := []time.Time{}
	clock, err := parse(sch.Cron, sch.TimeZone)
	if err != nil || !sch.Enabled {
		return out
	}
	for at := cmp.Or(sch.DueAt, clock.next(s.now())); !at.IsZero() && len(out) < n; at = clock.next(at) {
		out = append(out, at)
	}
	return out
}

// RunNow makes a fire at once, as if it were due, whether the schedule is enabled or not.
func (s *Service) RunNow(ctx context.Context, userID, id string) (Fire, error) {
	sch, err := s.deps.Store.Schedule(ctx, userID, id)
	if err != nil {
		return Fire{}, err
	}
	f := fireOf(sch, s.now(), s.now())
	made, err := s.deps.Store.InsertFire(ctx, f)
	switch {
	case err != nil:
		return Fire{}, fmt.Errorf("run schedule %s: %w", id, err)
	case !made:
		return Fire{}, errors.New("a fire of this very moment is there already")
	}
	return s.begin(ctx, f)
}

func (s *Service) now() time.Time { return s.deps.Now().UTC().Truncate(time.Microsecond) }
