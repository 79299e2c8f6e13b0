package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/app/platform/wrap"
)

// work takes a run's steps until it ends, or waits for a person. Outgoing calls end with ctx; what is
// written does not.
func (s *Service) work(ctx context.Context, w *worker) {
	var steps Work = func(ctx context.Context, _ string) error { return s.takeSteps(ctx, w) }
	err := wrap.Around(steps, append([]wrap.Wrapper[Work]{recovered}, s.deps.Around...)...)(ctx, w.id)
	if fault.CodeOf(err) == fault.StorageFull && !takenFrom(ctx) {
		err = s.endFull(ctx, w.id, err)
	}
	s.release(ctx, w)
	if err == nil || takenFrom(ctx) {
		return
	}
	// A run is never left RUNNING with nobody at work: whatever kept this worker from going on, a full
	// disk or a bug, another one tries a little later.
	flow.Log(ctx).Error().Err(err).Str("runId", w.id).Msg("run worker stopped; another one follows")
	time.AfterFunc(retryWork, func() { s.active.schedule(w.id) })
}

// retryWork is the pause before a run's next worker when one stopped with an error.
const retryWork = 2 * time.Second

func (s *Service) takeSteps(ctx context.Context, w *worker) error {
	calls := newCallSet(s)
	defer calls.wait()
	for !takenFrom(ctx) {
		j, err := s.load(ctx, w.id)
		if errors.Is(err, agent.ErrNotFound) {
			return nil // it had ended, and its conversation was deleted
		}
		if err != nil {
			return err
		}
		ctx := inRun(ctx, j.Run)
		step := nextStep(j, s.config.Bounds)
		if mine, err := s.owns(ctx, w, &j, step); err != nil || !mine {
			return err
		}
		if step.do == actCalls {
			calls.start(ctx, j, step.calls)
		}
		if calls.running() > 0 {
			if err := calls.awaitOne(w.wake); err != nil {
				if err := s.fail(ctx, j, err); err != nil {
					return err
				}
			}
			continue
		}
		again, err := s.take(ctx, w, j, step)
		if err != nil {
			return err
		}
		if !again && s.active.leave(w) {
			return nil
		}
	}
	return nil
}

// owns makes sure that a run on which there is something to do is this worker's; a journal that another's
// claim has touched is not acted on. A run that waits for a person has something to do as well while another
// of its calls runs: claimed only after that, it would refuse what the call has come to.
func (s *Service) owns(ctx context.Context, w *worker, j *agent.Journal, step next) (bool, error) {
	epoch := s.active.epoch(w)
	switch {
	case epoch != 0:
		return epoch == j.Run.Epoch, nil
	case j.Run.Status != agent.Running && step.do != actCalls:
		return true, nil
	}
	mine, err := s.takeLease(ctx, w, j.Run)
	j.Run.Epoch = s.active.epoch(w)
	return mine, err
}

// inRun names a run in the context of what is done for it, whoever asks for that.
func inRun(ctx context.Context, r agent.Run) context.Context {
	return flow.With(ctx, flow.IDs{TraceID: r.TraceID, SpanID: span.IDOf(r.ID), RunID: r.ID, ThreadID: r.ThreadID, UserID: r.UserID})
}

// inCall names a call in the context of its run.
func inCall(ctx context.Context, inv agent.Invocation) context.Context {
	ids := flow.From(ctx)
	ids.ToolInvocationID, ids.SpanID = inv.ID, span.IDOf(inv.ID)
	return flow.With(ctx, ids)
}

// take does a step that no call runs beside; it tells whether there may be another one at once.
func (s *Service) take(ctx context.Context, w *worker, j agent.Journal, step next) (again bool, err error) {
	switch step.do {
	case actBegin:
		return s.begin(ctx, w, j)
	case actModel:
		return true, s.askModel(ctx, j, step.last)
	case actFinish:
		return false, s.finish(ctx, j, step)
	}
	return false, nil
}

func (s *Service) load(ctx context.Context, runID string) (agent.Journal, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	j, err := s.deps.Store.Journal(ctx, runID)
	if err != nil {
		return agent.Journal{}, fmt.Errorf("load journal of %s: %w", runID, err)
	}
	return j, nil
}

// append writes a step and wakes the watchers. A step that the run has moved past is dropped: the next
// look at the journal shows why.
func (s *Service) append(ctx context.Context, step agent.Step) error {
	step.At = s.deps.Now()
	err := s.put(ctx, step)
	if errors.Is(err, agent.ErrStale) {
		flow.Log(ctx).Debug().Str("runId", step.RunID).Msg("step dropped: the run has moved on")
		return err
	}
	if err != nil {
		return fmt.Errorf("write step of %s: %w", step.RunID, err)
	}
	s.live.notify(step.RunID)
	return nil
}

// begin takes a run from PENDING to RUNNING, decides what it may call, and asks the model, all of which is one
// step. When another run of the conversation is active it stays PENDING; that one's end sets it going.
func (s *Service) begin(ctx context.Context, w *worker, j agent.Journal) (again bool, err error) {
	routed, err := s.route(ctx, j)
	if err != nil {
		return false, s.fail(ctx, j, err)
	}
	asked, lease := time.Now(), s.firstLease(j.Run)
	told, news := s.toTell(&j)
	j.Run.Status, j.Run.Skills, j.Run.Tools, j.Run.Epoch, j.Run.Model = agent.Running, ids(routed.Skills), routed.Tools, lease.Epoch, s.deps.Model.Name()
	first := s.round(j)
	step := agent.Step{
		RunID: j.Run.ID, From: []agent.Status{agent.Pending}, To: agent.Running, Lease: lease,
		Skills: j.Run.Skills, Tools: routed.Tools, Model: j.Run.Model, Told: told,
		Events: []agent.Event{
			agent.NewEvent(agent.RunStarted, agent.StartedData{
				ThreadID: j.Run.ThreadID, ClientRunID: j.Run.ClientRunID, TraceID: j.Run.TraceID, Modern: j.Run.Modern,
			}, first.began),
			agent.NewEvent(agent.SkillsRouted, routed, first.began),
		},
	}
	if err := s.goOn(ctx, j, &step); err != nil {
		return false, s.fail(ctx, j, err)
	}
	step.Events = append(append(step.Events, news...), first.asked())
	err = s.append(ctx, step)
	switch {
	case errors.Is(err, agent.ErrBusy):
		return false, nil
	case errors.Is(err, agent.ErrStale):
		return true, nil
	case err != nil:
		return false, err
	}
	s.active.leased(w, *lease, asked)
	return true, first.converse(ctx, bound(j, s.config.Bounds, 0) != "")
}

func ids(routed []agent.RoutedSkill) []string {
	out := make([]string, 0, len(routed))
	for _, r := range routed {
		out = append(out, r.ID)
	}
	return out
}
