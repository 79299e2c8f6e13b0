package run

import (
	"context"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
)

// recover takes up what an earlier process left. Open runs go on from their journal; waiting ones go on
// waiting. In the strict form everything unfinished has FAILED (D-88).
func (s *Service) recover(ctx context.Context) error {
	open, err := s.deps.Store.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range open {
		if !s.config.Strict {
			s.active.schedule(r.ID)
			continue
		}
		j, err := s.load(ctx, r.ID)
		if err != nil {
			return err
		}
		step := agent.Step{
			RunID: r.ID, From: []agent.Status{r.Status}, To: agent.Failed, Finish: agent.Restarted,
			ErrorCode: "restarted", ErrorMessage: "the program was restarted while this ran",
		}
		s.closeCalls(ctx, j, &step, "restarted", "the program was restarted")
		if err := s.end(ctx, j, step); err != nil {
			return err
		}
	}
	flow.Log(ctx).Info().Int("open", len(open)).Bool("strict", s.config.Strict).Msg("runs recovered")
	return nil
}
