package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// ask opens the question whether a call may run: the row, the state of the run and what the capability
// prepared are one transaction (D-94).
func (s *Service) ask(ctx context.Context, r agent.Run, inv agent.Invocation, a capability.Admission) error {
	c := agent.Confirmation{Kind: agent.AskConfirm, Summary: a.Prepared.Summary, Warnings: a.Prepared.Warnings}
	if a.Verdict.ByRule() {
		c.Because = a.Verdict.Reason
	}
	if !a.Verdict.Fixed {
		c.Suggestions = agent.Suggestions(inv)
	}
	return s.open(ctx, r, inv, c, s.config.ConfirmationTTL, agent.Step{Changes: a.Prepared.Changes})
}

// open completes a question about a call and writes it with the step that asks it.
func (s *Service) open(ctx context.Context, r agent.Run, inv agent.Invocation, c agent.Confirmation, ttl time.Duration, step agent.Step) error {
	now := s.stamp()
	c.ID, c.RunID, c.UserID, c.ThreadID = s.deps.NewID("conf"), r.ID, r.UserID, r.ThreadID
	c.InvocationID, c.CallID, c.Tool, c.Args, c.ArgsDigest = inv.ID, inv.CallID, inv.Name, inv.Args, capability.Digest(inv.Args)
	c.Status, c.CreatedAt, c.Deadline = agent.ConfirmationOpen, now, now.Add(ttl)
	inv.Status = capability.Asking
	step.RunID, step.Epoch, step.From, step.To = r.ID, r.Epoch, open(), agent.AwaitingConfirmation
	step.Invocations, step.Confirmations = []agent.Invocation{inv}, []agent.Confirmation{c}
	step.Events = append(step.Events, agent.NewEvent(agent.ConfirmationRequired, c, now))
	if err := failpoint.Hit(ctx, failpoint.BeforeAsk); err != nil {
		return err
	}
	if err := s.append(ctx, step); err != nil {
		return err
	}
	s.watchAgain()
	return failpoint.Hit(ctx, failpoint.AfterAsk)
}

// stamp is the time now, no finer than it is stored: a question looks the same when it is asked and ever after.
func (s *Service) stamp() time.Time { return s.deps.Now().Truncate(time.Microsecond) }

// Decide answers a question of a run for its owner. With an empty confirmationID the run's one open
// question is meant. The same answer again gives the stored decision; another is a conflict; one that
// comes too late is gone. A yes may come with edited arguments. When they cannot be, the question stays as
// it is. A question whether a call happened is answered by d.Answer, and by nothing else. When a yes would
// mean something that the person has not seen, such as another price, a new question takes the place of the
// old one, and the answer is a *ReplacedError.
func (s *Service) Decide(ctx context.Context, userID, runID, confirmationID string, d agent.Decision) (agent.Confirmation, error) {
	r, err := s.Run(ctx, userID, runID)
	if err != nil {
		return agent.Confirmation{}, err
	}
	c, err := s.confirmation(ctx, r, confirmationID)
	if err != nil {
		return c, err
	}
	if d, err = fitting(c, d); err != nil {
		return c, err
	}
	if err := rememberable(c, d); err != nil {
		return c, err
	}
	if d.ArgsDigest != "" && d.ArgsDigest != c.ArgsDigest {
		return c, fault.New(fault.Conflict, "what you saw is not what is asked: argsDigest is not that of the question's arguments")
	}
	if c.Status == agent.ConfirmationOpen && s.timeLeft(c) <= 0 {
		if c, err = s.decide(ctx, c, expired()); err != nil {
			return agent.Confirmation{}, err
		}
	}
	if c.Status == agent.ConfirmationOpen {
		if c, err = s.answer(ctx, c, d); err != nil {
			return c, err
		}
		s.agreeCovered(ctx, c)
	}
	return c, s.verdict(ctx, c, d)
}

func (s *Service) answer(ctx context.Context, c agent.Confirmation, d agent.Decision) (agent.Confirmation, error) {
	if d.Status == agent.ConfirmationConfirmed {
		return s.agree(ctx, c, d)
	}
	return s.decide(ctx, c, d)
}

// verdict tells what a closed question says to a decision about it.
func (s *Service) verdict(ctx context.Context, c agent.Confirmation, d agent.Decision) error {
	switch {
	case c.ReplacedBy != "":
		return s.replaced(ctx, c)
	case c.Status == d.Status && d.Remember != "" && d.Remember != c.Remembered:
		return fault.New(fault.Conflict, "the question was answered already, and not to be remembered as %s", d.Remember)
	case c.Status == d.Status && c.Answer == d.Answer && sameEdit(c.Edited, d.Edited):
		return nil
	case c.Status == agent.ConfirmationAnswered:
		return fault.New(fault.Conflict, "the question was answered already: %s", c.Answer)
	case c.Status == d.Status:
		return fault.New(fault.Conflict, "the question was answered already, with other arguments")
	case c.Status == agent.ConfirmationExpired || c.Status == agent.ConfirmationCancelled:
		return fault.New(fault.Gone, "the question is closed: %s", c.Status)
	}
	return fault.New(fault.Conflict, "the question was answered already: %s", c.Status)
}

// confirmation finds the one that is meant.
func (s *Service) confirmation(ctx context.Context, r agent.Run, id string) (agent.Confirmation, error) {
	j, err := s.load(ctx, r.ID)
	if err != nil {
		return agent.Confirmation{}, err
	}
	var found []agent.Confirmation
	for _, c := range j.Confirmations {
		if c.ID == id || (id == "" && c.Status == agent.ConfirmationOpen) {
			found = append(found, c)
		}
	}
	if id == "" && len(found) == 0 && len(j.Confirmations) > 0 {
		found = j.Confirmations[len(j.Confirmations)-1:]
	}
	switch len(found) {
	case 0:
		return agent.Confirmation{}, fault.New(fault.NotFound, "this run has no such question")
	case 1:
		if id == "" && found[0].Status == agent.ConfirmationOpen && (replaces(j, found[0]) || askedAgain(j, found[0])) {
			return found[0], &ReplacedError{found[0]} // it must be meant by name
		}
		return found[0], nil
	}
	return agent.Confirmation{}, fault.New(fault.Invalid, "several questions are open: name one by confirmationId")
}

// decide closes an open question, other than with a yes, once, whoever else tries, and lets the run go on.
func (s *Service) decide(ctx context.Context, c agent.Confirmation, d agent.Decision) (agent.Confirmation, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	j, err := s.load(ctx, c.RunID)
	if err != nil {
		return agent.Confirmation{}, err
	}
	ctx = inRun(ctx, j.Run)
	d.At = s.stamp()
	step, err := s.decision(ctx, j, c, d)
	if err != nil {
		return agent.Confirmation{}, err
	}
	stands, _, err := s.close(ctx, c, d, step)
	return stands, err
}

// close writes a decision with its step; it tells whether this one closed the question.
func (s *Service) close(ctx context.Context, c agent.Confirmation, d agent.Decision, step agent.Step) (agent.Confirmation, bool, error) {
	if err := failpoint.Hit(ctx, failpoint.BeforeDecide); err != nil {
		return agent.Confirmation{}, false, err
	}
	stands, won, err := s.deps.Store.Decide(ctx, c.ID, d, step)
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.AfterDecide)
	}
	if err != nil {
		return agent.Confirmation{}, false, fmt.Errorf("decide %s: %w", c.ID, err)
	}
	if won {
		s.live.notify(c.RunID)
		s.active.schedule(c.RunID)
	}
	return stands, won, nil
}

// decision is what a decision that needs no further look writes: as a rule the call's result.
func (s *Service) decision(ctx context.Context, j agent.Journal, c agent.Confirmation, d agent.Decision) (agent.Step, error) {
	inv, err := asked(j, c)
	if err != nil {
		return agent.Step{}, err
	}
	step := resolution(c, d)
	if c.Kind == agent.AskOutcome {
		s.settleOutcome(ctx, j.Run, inv, d, &step)
		return step, nil
	}
	reason, message := denial(d)
	o := s.deps.Pipeline.Close(callOf(j.Run, inv), capability.Denied, reason, message)
	s.settleInvocation(ctx, j.Run, inv, o, &step)
	return step, nil
}

// asked gives the call that a question is about.
func asked(j agent.Journal, c agent.Confirmation) (agent.Invocation, error) {
	for _, inv := range j.Invocations {
		if inv.ID == c.InvocationID {
			return inv, nil
		}
	}
	return agent.Invocation{}, errors.New("the question's call is not in the journal")
}

// resolution is the step that closes a question, with the event that tells of it.
func resolution(c agent.Confirmation, d agent.Decision) agent.Step {
	c.Status, c.Answer, c.Reason, c.Edited, c.ReplacedBy = d.Status, d.Answer, d.Reason, d.Edited, d.ReplacedBy
	c.Remembered = d.Remember
	c.DecidedBy, c.DecidedVia, c.DecidedAt = d.By, d.Via, &d.At
	return agent.Step{
		RunID: c.RunID, From: open(), To: agent.Keep, At: d.At,
		Events: []agent.Event{agent.NewEvent(agent.ConfirmationResolved, c, d.At)},
	}
}

func denial(d agent.Decision) (reason, message string) {
	if d.Status == agent.ConfirmationExpired {
		return "expired", "nobody answered in time, so nothing was done"
	}
	if d.Reason != "" {
		return "rejected", "the person said no: " + text.Clip(d.Reason, 200)
	}
	return "rejected", "the person said no, so nothing was done"
}
