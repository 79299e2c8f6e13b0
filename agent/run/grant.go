package run

import (
	"context"
	"slices"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
	"agentmesh/skills"
)

// rememberable refuses to remember an answer as what its question does not suggest.
func rememberable(c agent.Confirmation, d agent.Decision) error {
	switch {
	case d.Remember == "":
		return nil
	case d.Status != agent.ConfirmationConfirmed:
		return fault.New(fault.Invalid, "remember goes with a yes")
	case d.Edited != nil:
		return fault.New(fault.Invalid, "a yes to edited arguments cannot be remembered: remember belongs to the call that was asked about")
	case len(c.Suggestions) == 0:
		return fault.New(fault.Invalid, "a call of %s is asked about every time", c.Tool)
	}
	if _, ok := suggestion(c, d.Remember); !ok {
		return fault.New(fault.Invalid, "this question does not suggest to remember it as %q", d.Remember)
	}
	return nil
}

func suggestion(c agent.Confirmation, id string) (agent.Suggestion, bool) {
	i := slices.IndexFunc(c.Suggestions, func(s agent.Suggestion) bool { return s.ID == id })
	if i < 0 {
		return agent.Suggestion{}, false
	}
	return c.Suggestions[i], true
}

// switchedOff tells whether no skill that is on for this person, with its permissions granted, has the tool any more:
// skills are switched while runs go on (D-113).
func (s *Service) switchedOff(ctx context.Context, r agent.Run, tool string) (bool, error) {
	on, _, err := s.deps.Market.Enabled(ctx, r.UserID)
	if err != nil {
		return false, err
	}
	return slices.Contains(r.Tools, tool) && !slices.ContainsFunc(on, func(m skills.Manifest) bool { return slices.Contains(m.Capabilities, tool) }), nil
}

// granted makes the grant that a yes comes with.
func (s *Service) granted(c agent.Confirmation, d agent.Decision) []agent.Grant {
	chosen, ok := suggestion(c, d.Remember)
	if !ok {
		return nil
	}
	return []agent.Grant{{
		ID: s.deps.NewID("grant"), UserID: c.UserID, Capability: chosen.Capability, Args: chosen.Args,
		ConfirmationID: c.ID, CreatedAt: d.At,
	}}
}

// agreeCovered says yes to the run's other open questions that a remembered yes covers: the person has answered
// them with it. One that cannot be answered so stays open.
func (s *Service) agreeCovered(ctx context.Context, c agent.Confirmation) {
	chosen, ok := suggestion(c, c.Remembered)
	if !ok {
		return
	}
	j, err := s.load(ctx, c.RunID)
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("questions that a grant covers not looked for")
		return
	}
	for _, other := range j.Confirmations {
		if other.Status != agent.ConfirmationOpen || other.Tool != chosen.Capability || len(other.Suggestions) == 0 || other.Kind != agent.AskConfirm {
			continue
		}
		if len(chosen.Args) > 0 && !capability.SameArgs(chosen.Args, other.Args) {
			continue
		}
		d := agent.Decision{Status: agent.ConfirmationConfirmed, By: c.DecidedBy, Via: "grant"}
		if _, err := s.agree(ctx, other, d); err != nil {
			flow.Log(ctx).Info().Err(err).Str("confirmationId", other.ID).Msg("question that a grant covers stays open")
		}
	}
}
