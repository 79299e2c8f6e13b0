package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// ReplacedError refuses an answer to a question whose place another one has taken: what the person saw is
// not what would happen. Confirmation is the one to answer.
type ReplacedError struct{ Confirmation agent.Confirmation }

func (e *ReplacedError) Error() string { return e.Unwrap().Error() }

// Unwrap gives the fault that it is.
func (e *ReplacedError) Unwrap() error {
	if e.Confirmation.Kind == agent.AskOutcome {
		return fault.New(fault.Conflict, "it was tried again, and again nobody knows, so a new question is open: answer it by its confirmationId")
	}
	return fault.New(fault.Conflict, "what would happen has changed, so a new question is open: look at it and answer it by its confirmationId")
}

// lookMargin is what is left of a question's time after the look, for writing the answer down.
const lookMargin = 500 * time.Millisecond

// maxAsked is how often one call may be asked about anew.
const maxAsked = 20

// agree takes a yes. Before it counts, the call is looked at once more: the person may have edited its
// arguments, and the world may have changed since they were asked. Edits that cannot be leave the question
// open. Without any, a look that fails is no reason to refuse: running the call says what is wrong.
func (s *Service) agree(ctx context.Context, c agent.Confirmation, d agent.Decision) (agent.Confirmation, error) {
	j, err := s.load(ctx, c.RunID)
	if err != nil {
		return agent.Confirmation{}, err
	}
	if now := questionIn(j, c.ID); now.Status != agent.ConfirmationOpen {
		return now, nil // somebody was quicker, and the call may be theirs by now
	}
	inv, err := asked(j, c)
	if err != nil {
		return agent.Confirmation{}, err
	}
	if n := askedAbout(j, inv.ID); n >= maxAsked && d.Edited != nil {
		return s.stillOpen(ctx, c, fault.New(fault.Conflict, "this call was asked about %d times; agree to what is asked, or reject it and say what you want", n))
	}
	ctx = inCall(inRun(ctx, j.Run), inv)
	edited := d.Edited != nil
	if edited {
		inv.Edit(d.Edited.Args)
	}
	// A yes in time counts: the look ends before the question does.
	look, stop := context.WithTimeout(ctx, max(0, s.timeLeft(c)-lookMargin))
	defer stop()
	review, err := s.deps.Pipeline.Review(look, callOf(j.Run, inv), edited)
	if err != nil && ctx.Err() == nil && look.Err() != nil {
		err = fault.Wrap(err, fault.Timeout, "what you made of it could not be checked before the question's time ended")
	}
	switch {
	case err != nil && edited:
		return s.stillOpen(ctx, c, err)
	case err != nil:
		flow.Log(ctx).Info().Err(err).Str("confirmationId", c.ID).Msg("not looked at again before it runs")
	}
	stands, won, err := s.write(ctx, c, d, inv, review)
	if (err != nil || !won) && review.Drop != nil {
		review.Drop(ctx)
	}
	if errors.Is(err, agent.ErrStale) {
		return s.stillOpen(ctx, c, fault.New(fault.Unavailable, "what you agreed to could not be kept ready; please try again"))
	}
	return stands, err
}

// questionIn gives a question as a journal has it.
func questionIn(j agent.Journal, id string) agent.Confirmation {
	i := slices.IndexFunc(j.Confirmations, func(c agent.Confirmation) bool { return c.ID == id })
	if i < 0 {
		return agent.Confirmation{}
	}
	return j.Confirmations[i]
}

// askedAbout counts the questions that were asked about a call.
func askedAbout(j agent.Journal, invocationID string) int {
	n := 0
	for _, c := range j.Confirmations {
		if c.InvocationID == invocationID {
			n++
		}
	}
	return n
}

// write closes the question with the yes, or with another question in its place.
func (s *Service) write(ctx context.Context, c agent.Confirmation, d agent.Decision, inv agent.Invocation, r capability.Review) (agent.Confirmation, bool, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	d.At = s.stamp()
	if r.Ask || warnsAnew(c.Warnings, r.Warnings) {
		return s.askAgain(ctx, c, d, inv, r)
	}
	if d.Edited != nil {
		e := *d.Edited
		e.ArgsDigest, e.Summary, e.Warnings = capability.Digest(e.Args), r.Summary, r.Warnings
		d.Edited = &e
	}
	inv.Status = capability.Allowed
	step := resolution(c, d)
	step.Invocations, step.Changes, step.Grants = []agent.Invocation{inv}, r.Changes, s.granted(c, d)
	return s.close(ctx, c, d, step)
}

// warnsAnew tells whether there is a warning that was not on the card.
func warnsAnew(shown, now json.RawMessage) bool {
	var before, after []json.RawMessage
	if len(now) == 0 || json.Unmarshal(now, &after) != nil {
		return false
	}
	_ = json.Unmarshal(shown, &before) // none were shown
	return slices.ContainsFunc(after, func(w json.RawMessage) bool {
		return !slices.ContainsFunc(before, func(seen json.RawMessage) bool { return capability.SameArgs(seen, w) })
	})
}

// askAgain puts a new question, with what would happen now, in the place of one that was answered with yes.
func (s *Service) askAgain(ctx context.Context, c agent.Confirmation, d agent.Decision, inv agent.Invocation, r capability.Review) (agent.Confirmation, bool, error) {
	again := c
	again.ID, again.Args, again.ArgsDigest = s.deps.NewID("conf"), inv.Args, capability.Digest(inv.Args)
	again.Summary, again.Warnings = r.Summary, r.Warnings
	if len(c.Suggestions) > 0 {
		again.Suggestions = agent.Suggestions(inv)
	}
	again.CreatedAt, again.Deadline = d.At, d.At.Add(s.config.ConfirmationTTL)
	closed := agent.Decision{
		Status: agent.ConfirmationCancelled, Reason: "replaced", ReplacedBy: again.ID, By: d.By, Via: d.Via, At: d.At,
	}
	step := resolution(c, closed)
	step.Confirmations, step.Invocations, step.Changes = []agent.Confirmation{again}, []agent.Invocation{inv}, r.Changes
	step.Events = append(step.Events, agent.NewEvent(agent.ConfirmationRequired, again, d.At))
	stands, won, err := s.close(ctx, c, closed, step)
	if won {
		s.watchAgain()
	}
	return stands, won, err
}

// stillOpen gives the reason why an answer did not count, unless somebody else's did meanwhile.
func (s *Service) stillOpen(ctx context.Context, c agent.Confirmation, why error) (agent.Confirmation, error) {
	now, err := s.deps.Store.Confirmation(ctx, c.UserID, c.ID)
	switch {
	case err != nil:
		return c, why
	case now.Status != agent.ConfirmationOpen:
		return now, nil
	case fault.CodeOf(why) == fault.NotFound: // of something that the arguments name, not of the question
		return now, fault.Wrap(why, fault.Invalid, "%s", fault.MessageOf(why))
	}
	return now, why
}

// replaced finds the question that has come to stand in the place of one.
func (s *Service) replaced(ctx context.Context, c agent.Confirmation) error {
	j, err := s.load(ctx, c.RunID)
	if err != nil {
		return err
	}
	for _, next := range j.Confirmations { // in the order in which they were asked
		if next.ID == c.ReplacedBy {
			c = next
		}
	}
	return &ReplacedError{c}
}

// replaces tells whether a question stands in the place of an earlier one.
func replaces(j agent.Journal, c agent.Confirmation) bool {
	for _, earlier := range j.Confirmations {
		if earlier.ReplacedBy == c.ID {
			return true
		}
	}
	return false
}

func sameArgs(e *agent.Edit, args json.RawMessage) bool {
	return e != nil && capability.SameArgs(e.Args, args)
}

func sameEdit(a, b *agent.Edit) bool {
	return (a == nil && b == nil) || (a != nil && b != nil && capability.SameArgs(a.Args, b.Args))
}
