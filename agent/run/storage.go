package run

import (
	"context"
	"errors"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// lockPause is the pause before a step is written again that another program kept from being written.
const lockPause = 100 * time.Millisecond

// put writes a step. While another program keeps the database locked it waits for that to end: the step
// has happened, and a run must not fail for it.
func (s *Service) put(ctx context.Context, step agent.Step) error {
	for {
		limited, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		err := s.deps.Store.Append(limited, step)
		stop()
		if fault.CodeOf(err) != fault.Unavailable || takenFrom(ctx) {
			return err
		}
		flow.Log(ctx).Warn().Err(err).Str("runId", step.RunID).Msg("step not written yet")
		time.Sleep(lockPause)
	}
}

// endFull ends a run whose step did not fit the disk: its last step still does, into the room that is kept
// for it. If not, those who watch are told, and another worker tries later.
func (s *Service) endFull(ctx context.Context, runID string, cause error) error {
	j, err := s.load(ctx, runID)
	if errors.Is(err, agent.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = s.fail(ctx, j, cause)
	}
	if err != nil {
		s.live.trouble(runID, cause)
	}
	return err
}
