package run

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// outcomeTTL is how long the question whether a call happened stays open: for somebody who comes back from a
// holiday. Afterwards the outcome stays unknown.
const outcomeTTL = 7 * 24 * time.Hour

// askOutcome asks the person whether a call happened of which nobody else knows (design, section 4). It is not
// made again before they say so.
func (s *Service) askOutcome(ctx context.Context, r agent.Run, inv agent.Invocation, why, message string, active time.Duration) error {
	began := inv.BeganAt
	if began.IsZero() {
		began = inv.CreatedAt
	}
	c := agent.Confirmation{
		Kind: agent.AskOutcome, Answers: agent.Replies(),
		Attempt: &agent.Attempt{Number: max(1, inv.Attempts), Began: began, Why: why, Message: message},
	}
	return s.open(ctx, r, inv, c, outcomeTTL, agent.Step{Active: active})
}

// fitting checks that a decision answers what a question asks, and completes it.
func fitting(c agent.Confirmation, d agent.Decision) (agent.Decision, error) {
	switch {
	case c.Kind != agent.AskOutcome && d.Answer != "":
		return d, fault.New(fault.Invalid, "this question asks whether the call may run: say yes or no; answer belongs to one that asks whether it happened")
	case c.Kind != agent.AskOutcome:
		if sameArgs(d.Edited, c.Args) {
			d.Edited = nil
		}
		return d, nil
	case !slices.Contains(agent.Replies(), d.Answer):
		return d, fault.New(fault.Invalid, "this question asks whether the call happened: answer it with happened, did_not_happen or try_again")
	case d.Edited != nil:
		return d, fault.New(fault.Invalid, "what may have happened cannot be edited: answer without args")
	}
	d.Status = agent.ConfirmationAnswered
	return d, nil
}

// askedAgain tells whether a question about an outcome follows an earlier one about the same call: an answer
// that was meant for that one must not count for this one.
func askedAgain(j agent.Journal, c agent.Confirmation) bool {
	return c.Kind == agent.AskOutcome && slices.ContainsFunc(j.Confirmations, func(earlier agent.Confirmation) bool {
		return earlier.ID != c.ID && earlier.InvocationID == c.InvocationID && earlier.Kind == agent.AskOutcome
	})
}

// settleOutcome adds to a step what a person said of a call, or that nobody did. What they say is told as what
// they say: nothing is guessed. Who said it is for the audit and the receipt, not for the model.
func (s *Service) settleOutcome(ctx context.Context, r agent.Run, inv agent.Invocation, d agent.Decision, step *agent.Step) {
	status, reason, message := said(d)
	o := s.deps.Pipeline.Close(callOf(r, inv), status, reason, message)
	if d.Answer != "" {
		o.Receipt.Stage = capability.StageConfirm
		o.Receipt.Message = d.By + " (" + d.Via + "): " + message
	}
	if d.Answer == agent.TryAgain {
		inv.Status = capability.Allowed
		step.Invocations = append(step.Invocations, inv)
		step.Records = append(step.Records, s.deps.Pipeline.RecordOf(ctx, callOf(r, inv), o.Receipt, o.Result))
	} else {
		s.settleInvocation(ctx, r, inv, o, step)
	}
	step.Records[len(step.Records)-1].Output = audited(o.Result, d)
}

func said(d agent.Decision) (status capability.Status, reason, message string) {
	switch d.Answer {
	case agent.Happened:
		status, reason, message = capability.Succeeded, "said_to_have_happened", "the person says that it happened; its own answer is lost"
	case agent.DidNotHappen:
		status, reason, message = capability.Failed, "said_not_to_have_happened", "the person says that it did not happen, so nothing was done"
	case agent.TryAgain:
		status, reason, message = capability.Indeterminate, "said_to_try_again", "the person wants it to be tried again; whether it happened before is not known"
	default:
		return capability.Indeterminate, "nobody_said", "nobody said whether it happened, so it is not known"
	}
	if d.Reason != "" {
		message += ": " + text.Clip(d.Reason, 200)
	}
	return status, reason, message
}

// audited adds who said it to a result.
func audited(result json.RawMessage, d agent.Decision) string {
	var out map[string]string
	if json.Unmarshal(result, &out) != nil {
		return string(result)
	}
	out["by"], out["via"] = d.By, d.Via
	raw, err := json.Marshal(out)
	if err != nil {
		return string(result)
	}
	return string(raw)
}
