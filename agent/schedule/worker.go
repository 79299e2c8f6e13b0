package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// Runner creates runs and sets them going; the engine does.
type Runner interface {
	Create(ctx context.Context, in run.Input) (agent.Run, error)
	Begin(runID string)
}

// Times of the worker.
const (
	longestSleep = 30 * time.Second // another process may have made a schedule
	retryPause   = time.Second      // after a look that failed
	workTime     = 10 * time.Second // for one look
)

// Start begins to look for due times. The work outlives the call and ends with Stop.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.looked = time.Time{}
	s.done.Go(func() { s.work(ctx) })
}

// Stop ends the work and waits for it.
func (s *Service) Stop() {
	if s.stop != nil {
		s.stop()
	}
	s.done.Wait()
}

func (s *Service) lookAgain() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Service) work(ctx context.Context) {
	for ctx.Err() == nil {
		timer := time.NewTimer(s.look(ctx))
		select {
		case <-timer.C:
		case <-s.wake:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// look makes the fires that are due, and gives the time until the next look.
func (s *Service) look(ctx context.Context) time.Duration {
	ctx, stop := context.WithTimeout(ctx, workTime)
	defer stop()
	wait, err := s.makeDue(ctx)
	if err != nil && ctx.Err() == nil {
		flow.Log(ctx).Error().Err(err).Msg("schedules not looked at")
		return retryPause
	}
	return wait
}

// makeDue makes what is due. What cannot be made of one schedule is tried again, and keeps no other one waiting.
func (s *Service) makeDue(ctx context.Context) (time.Duration, error) {
	if err := s.recount(ctx); err != nil {
		return 0, err
	}
	due, err := s.deps.Store.DueSchedules(ctx, s.now())
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, sch := range due {
		failed = append(failed, s.claim(ctx, sch))
	}
	open, err := s.deps.Store.OpenFires(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range open {
		_, err := s.begin(ctx, f)
		failed = append(failed, err)
	}
	next, err := s.deps.Store.NextDue(ctx)
	failed = append(failed, err)
	if err := errors.Join(failed...); err != nil || next.IsZero() {
		return longestSleep, err
	}
	return min(longestSleep, max(0, next.Sub(s.now()))), nil
}

// recount counts due times anew that lie behind the next one: the clock was ahead when they were counted. That is
// looked at whenever the clock has gone back, and at the start.
func (s *Service) recount(ctx context.Context) error {
	now := s.now()
	if !now.Before(s.looked) && !s.looked.IsZero() {
		s.looked = now
		return nil
	}
	all, err := s.deps.Store.DueSchedules(ctx, endOfTime)
	if err != nil {
		return err
	}
	for _, sch := range all {
		clock, err := parse(sch.Cron, sch.TimeZone)
		if err != nil { // told of when it is due
			continue
		}
		if next := clock.next(now); sch.DueAt.After(next) {
			if _, err := s.deps.Store.ClaimDue(ctx, sch, next, nil); err != nil {
				return fmt.Errorf("count schedule %s anew: %w", sch.ID, err)
			}
		}
	}
	s.looked = now
	return nil
}

// endOfTime is later than any due time.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// claim takes the due times of a schedule that have come: the newest one within the grace runs, older ones were
// missed. So however many there are, one run is made of them. A schedule whose clock cannot be read any more, such as
// one in a time zone that this machine does not know, is due no more, and its fires say why.
func (s *Service) claim(ctx context.Context, sch Schedule) error {
	now := s.now()
	clock, err := parse(sch.Cron, sch.TimeZone)
	if err != nil {
		broken := fireOf(sch, sch.DueAt, now)
		broken.Status, broken.Reason = Missed, text.Clip("its clock cannot be read: "+fault.MessageOf(err), 200)
		if _, err := s.deps.Store.ClaimDue(ctx, sch, time.Time{}, []Fire{broken}); err != nil {
			return fmt.Errorf("stop schedule %s: %w", sch.ID, err)
		}
		return nil
	}
	latest, fires := newest(clock, sch.DueAt, now), []Fire(nil)
	if sch.DueAt.Before(latest) || latest.IsZero() {
		missed := fireOf(sch, sch.DueAt, now)
		missed.Status, missed.Reason = Missed, "nobody was there in time; due times up to "+now.Format(time.RFC3339)+" count as this one"
		fires = append(fires, missed)
	}
	if !latest.IsZero() {
		fires = append(fires, fireOf(sch, latest, now))
	}
	if _, err := s.deps.Store.ClaimDue(ctx, sch, clock.next(now), fires); err != nil {
		return fmt.Errorf("claim schedule %s: %w", sch.ID, err)
	}
	return nil
}

// newest gives the newest due time from one on that is within the grace, or the zero time.
func newest(c clock, from, now time.Time) time.Time {
	var out time.Time
	at := from
	if now.Sub(from) >= Grace {
		at = c.next(now.Add(-Grace))
	}
	for ; !at.IsZero() && !at.After(now); at = c.next(at) {
		out = at
	}
	return out
}

// fireOf makes the fire of a due time.
func fireOf(sch Schedule, due, now time.Time) Fire {
	thread := sch.ID
	if sch.Conversation == Fresh {
		thread += "-" + due.UTC().Format("20060102T150405.000000")
	}
	return Fire{ScheduleID: sch.ID, UserID: sch.UserID, DueAt: due, Status: Due, ThreadID: thread, Message: sch.Message, At: now}
}

// begin makes the run of a fire and sets it going. Its input is named by the fire, so that a fire whose run was made
// by a process that ended before it could say so gets no second one. What cannot be is written down as skipped.
func (s *Service) begin(ctx context.Context, f Fire) (Fire, error) {
	name := f.ScheduleID + "@" + f.DueAt.UTC().Format("20060102T150405.000000")
	r, err := s.deps.Runner.Create(ctx, run.Input{
		UserID: f.UserID, ThreadID: f.ThreadID, ClientRunID: name, MessageID: "msg-" + name,
		Text: f.Message, Origin: agent.BySchedule, Mode: capability.ModeUnattended,
	})
	var open *run.OpenConfirmationError
	switch {
	case errors.As(err, &open):
		f.Status, f.Reason = Skipped, "a question of its conversation was open: "+open.Confirmation.ID
	case err != nil && fault.CodeOf(err) == fault.Conflict:
		f.Status, f.Reason = Skipped, text.Clip(fault.MessageOf(err), 200)
	case err != nil && s.now().Sub(f.At) < Grace: // it may be possible soon
		return f, fmt.Errorf("start the run of %s: %w", name, err)
	case err != nil:
		flow.Log(ctx).Error().Err(err).Str("fire", name).Msg("the run of a schedule cannot be made")
		f.Status, f.Reason = Skipped, "its run could not be made: "+text.Clip(fault.MessageOf(err), 150)
	default:
		f.Status, f.RunID = Started, r.ID
		s.deps.Runner.Begin(r.ID)
	}
	if err := s.deps.Store.CloseFire(ctx, f); err != nil {
		return f, fmt.Errorf("write what became of %s: %w", name, err)
	}
	return f, nil
}
