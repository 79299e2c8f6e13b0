package run

import (
	"cmp"
	"context"
	"errors"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// finish ends a run: what has no result yet gets one that says what happened, open questions close,
// and the next run of the conversation goes on. What is closed is read from the journal, so the step holds
// for that journal only: a question may have taken another's place meanwhile.
func (s *Service) finish(ctx context.Context, j agent.Journal, step next) error {
	out := agent.Step{
		RunID: j.Run.ID, Epoch: j.Run.Epoch, From: []agent.Status{j.Run.Status}, Head: j.Run.Head, To: step.status, Finish: step.reason,
	}
	if step.status == agent.Cancelled {
		s.closeCalls(ctx, j, &out, "cancelled", "the run was cancelled")
	}
	_, err := s.end(ctx, j, out)
	return err
}

// fail ends a run with an error; only its safe words are stored. What went wrong because the work was
// called off is no failure of the run: the journal says what it was called off for.
func (s *Service) fail(ctx context.Context, j agent.Journal, cause error) error {
	if ctx.Err() != nil {
		s.active.schedule(j.Run.ID)
		return nil
	}
	epoch := j.Run.Epoch
	j, err := s.load(ctx, j.Run.ID) // as it is now: calls may have been claimed since
	if err != nil || j.Run.Status.Final() {
		return err
	}
	out := agent.Step{
		RunID: j.Run.ID, Epoch: epoch, From: []agent.Status{j.Run.Status}, Head: j.Run.Head, To: agent.Failed, Finish: agent.Broken,
		ErrorCode: errorCode(cause), ErrorMessage: fault.MessageOf(cause),
	}
	s.closeCalls(ctx, j, &out, "failed", "the run failed")
	_, err = s.end(ctx, j, out)
	return err
}

// errorCode names what a run failed of: the class of a model's error, or the code of any other fault.
func errorCode(cause error) string {
	if failed := (*agent.ModelError)(nil); errors.As(cause, &failed) {
		return string(failed.Class)
	}
	return string(fault.CodeOf(cause))
}

// end appends the last step of a run with its last event. It tells whether that was written: the run may
// have changed meanwhile.
func (s *Service) end(ctx context.Context, j agent.Journal, out agent.Step) (written bool, err error) {
	now := s.deps.Now()
	out.Events = append(out.Events, agent.NewEvent(agent.RunEnded, agent.EndData{
		Status: out.To.String(), Reason: out.Finish, Code: out.ErrorCode, Message: out.ErrorMessage,
		Model: cmp.Or(out.Model, j.Run.Model), Usage: j.Run.Usage.Add(out.Usage), Pending: leftWith(j, out.To),
	}, now))
	if err := failpoint.Hit(ctx, failpoint.BeforeEnd); err != nil {
		return false, err
	}
	err = s.append(ctx, out)
	if errors.Is(err, agent.ErrStale) {
		s.active.schedule(j.Run.ID) // look again
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.active.ended(j.Run.ID)
	s.live.forget(j.Run.ID)
	s.wakePending(ctx, j.Run.UserID, j.Run.ThreadID)
	if !j.Run.StartedAt.IsZero() { // one that could not begin tells nothing, and nor would the next: that is for the heartbeat
		s.tell(ctx, j.Run.UserID, j.Run.ThreadID)
	}
	return true, failpoint.Hit(ctx, failpoint.AfterEnd)
}

// leftWith names the calls that a run which has not failed leaves to its client.
func leftWith(j agent.Journal, to agent.Status) []string {
	if to != agent.Succeeded {
		return nil
	}
	return pendingOf(j)
}

// closeCalls gives every call that the run waits for a result, and closes open questions.
func (s *Service) closeCalls(ctx context.Context, j agent.Journal, out *agent.Step, reason, message string) {
	now := s.deps.Now()
	for _, inv := range j.Invocations {
		if inv.Status.Settled() { // what goes on in the background ends by itself
			continue
		}
		status, words := capability.Cancelled, message
		if inv.Attempts > 0 { // it was begun, and nothing was heard of it
			status, words = capability.Indeterminate, message+"; it is not known whether this happened"
		}
		o := s.deps.Pipeline.Close(callOf(j.Run, inv), status, reason, words)
		s.settleInvocation(ctx, j.Run, inv, o, out)
	}
	for _, c := range j.Confirmations {
		if c.Status != agent.ConfirmationOpen {
			continue
		}
		c.Status, c.Reason, c.DecidedBy, c.DecidedAt = agent.ConfirmationCancelled, reason, "system", &now
		out.Closed = append(out.Closed, c)
		out.Events = append(out.Events, agent.NewEvent(agent.ConfirmationResolved, c, now))
	}
}

// wakePending lets the conversation's waiting runs look whether it is their turn.
func (s *Service) wakePending(ctx context.Context, userID, threadID string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	waiting, err := s.deps.Store.PendingRuns(ctx, userID, threadID)
	if err != nil {
		flow.Log(ctx).Error().Err(err).Msg("waiting runs not woken")
	}
	for _, runID := range waiting {
		s.active.schedule(runID)
	}
}
