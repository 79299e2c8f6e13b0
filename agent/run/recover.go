package run

import (
	"context"
	"encoding/json"
	"fmt"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/flow"
)

// recover takes up what an earlier process left. Open runs go on from their journal; waiting ones go on
// waiting. In the strict form everything unfinished has FAILED (D-88).
func (s *Service) recover(ctx context.Context) error {
	if err := s.deps.Store.ReleaseDead(ctx); err != nil {
		return err
	}
	open, err := s.deps.Store.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range open {
		if err := failpoint.Hit(ctx, failpoint.Recovering); err != nil {
			return err
		}
		if !s.config.Strict {
			s.active.schedule(r.ID)
			continue
		}
		if err := s.abandonMessage(ctx, r); err != nil {
			return err
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
		if _, err := s.end(ctx, j, step); err != nil {
			return err
		}
	}
	s.adoptTasks(ctx)
	s.tellAll(ctx)
	flow.Log(ctx).Info().Int("open", len(open)).Bool("strict", s.config.Strict).Msg("runs recovered")
	return nil
}

// abandonMessage ends the message that a model was writing when the earlier worker ended. Its text is lost, as
// pieces are not stored; the new answer has a new id.
func (s *Service) abandonMessage(ctx context.Context, r agent.Run) error {
	read, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	events, err := s.deps.Store.Events(read, r.ID, 0)
	if err != nil {
		return err
	}
	writing := agent.MessageData{Abandoned: true}
	for _, e := range events {
		switch e.Type {
		case agent.ModelCalled:
			var asked agent.ModelData
			if err := json.Unmarshal(e.Data, &asked); err != nil {
				return fmt.Errorf("read event %d of %s: %w", e.Seq, r.ID, err)
			}
			writing.MessageID = asked.MessageID
		case agent.MessageEnded, agent.ModelAnswered:
			writing.MessageID = ""
		}
	}
	if writing.MessageID == "" {
		return nil
	}
	return s.append(ctx, agent.Step{
		RunID: r.ID, Epoch: r.Epoch, From: []agent.Status{r.Status}, To: agent.Keep,
		Events: []agent.Event{agent.NewEvent(agent.MessageEnded, writing, s.deps.Now())},
	})
}
