package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// doing is a task at work.
type doing struct {
	run     agent.Run
	task    agent.Task
	inv     agent.Invocation
	resumed bool // an earlier process may have made it happen
}

// endTask writes what a task has come to, and has it told. Where nobody knows whether it happened, that is the
// outcome: its round has long gone on, so there is no question that could hold it (docs/adr/0014).
func (s *Service) endTask(ctx context.Context, w *worker, d doing, o capability.Outcome) {
	o, known := s.judge(ctx, callOf(d.run, d.inv), d.inv, o, d.resumed, "task")
	if !known && takenFrom(ctx) {
		s.releaseTask(ctx, w)
		return // the next process goes on with it
	}
	s.writeEnd(ctx, w, d, agent.StatusOfTask(o.Receipt.Status), o)
}

func (s *Service) writeEnd(ctx context.Context, w *worker, d doing, status capability.Status, o capability.Outcome) {
	var step agent.Step
	s.settleInvocation(ctx, d.run, d.inv, o, &step)
	d.task.Status, d.task.Result = status, o.Result
	at := s.stamp()
	end := agent.TaskEnd{
		Lease: agent.Lease{ID: d.task.ID, Owner: s.owner, Epoch: s.tasks.epoch(w)}, Status: status, Invocation: step.Invocations[0],
		Records: step.Records, Changes: step.Changes, Event: agent.NewEvent(agent.TaskEnded, d.task.Data(), at), At: at,
	}
	err := failpoint.Hit(ctx, failpoint.BeforeTaskEnd)
	if err == nil {
		err = s.putEnd(ctx, end)
	}
	if err == nil {
		s.tasks.unleased(w)
		err = failpoint.Hit(ctx, failpoint.AfterTaskEnd)
	}
	if err != nil {
		s.releaseTask(ctx, w)
		flow.Log(ctx).Error().Err(err).Str("taskId", d.task.ID).Msg("end of task not written")
		return
	}
	s.live.notify(d.run.ID)
	s.tell(ctx, d.run.UserID, d.run.ThreadID)
}

// putEnd writes an outcome. It has happened, so it is written again until it is: another attempt would be a second one.
func (s *Service) putEnd(ctx context.Context, end agent.TaskEnd) error {
	for {
		limited, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		err := s.deps.Store.EndTask(limited, end)
		stop()
		if err == nil || errors.Is(err, agent.ErrStale) {
			return err
		}
		flow.Log(ctx).Warn().Err(err).Str("taskId", end.Lease.ID).Msg("end of task not written yet")
		if !s.tasks.pause(retryWork) {
			return err
		}
	}
}

func (s *Service) releaseTask(ctx context.Context, w *worker) {
	lease, ok := s.tasks.unleased(w)
	if !ok {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	if err := s.deps.Store.ReleaseTask(ctx, lease); err != nil {
		flow.Log(ctx).Warn().Err(err).Str("taskId", w.id).Msg("lease not released")
	}
}

// workTask goes on with a task that nobody works on: its process died, or could not go on.
func (s *Service) workTask(ctx context.Context, w *worker) {
	d, err := s.takeTask(ctx, w)
	if err != nil {
		if !errors.Is(err, agent.ErrStale) {
			flow.Log(ctx).Error().Err(err).Str("taskId", w.id).Msg("task not taken up")
		}
		s.releaseTask(ctx, w)
		return
	}
	ctx = inCall(inRun(ctx, d.run), d.inv)
	if s.config.Strict {
		o := s.deps.Pipeline.Close(callOf(d.run, d.inv), capability.Indeterminate, "restarted", "the program was restarted while this ran; it is not known whether it happened")
		s.writeEnd(ctx, w, d, capability.Failed, o)
		return
	}
	s.endTask(ctx, w, d, s.again(ctx, d))
}

// again makes a task's call once more, if that does no harm and nobody has stopped it.
func (s *Service) again(ctx context.Context, d doing) capability.Outcome {
	call := callOf(d.run, d.inv)
	def, _ := s.deps.Pipeline.Lookup(d.inv.Name)
	switch {
	case d.task.CancelReason != "":
		return capability.Outcome{Receipt: capability.Receipt{Status: capability.Cancelled}}
	case !def.Repeatable():
		return s.deps.Pipeline.Close(call, capability.Indeterminate, agent.Interrupted, "the program stopped while this ran; it is not known whether it happened")
	}
	return s.guardedExecute(ctx, call)
}

// takeTask claims a task, and reads what it is.
func (s *Service) takeTask(ctx context.Context, w *worker) (d doing, err error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	asked, now := time.Now(), s.deps.Now()
	lease, err := s.deps.Store.ClaimTask(ctx, w.id, s.owner, now, now.Add(leaseTime))
	if err != nil {
		return d, err
	}
	s.tasks.leased(w, lease, asked)
	if d.task, err = s.deps.Store.Task(ctx, "", w.id); err != nil {
		return d, err
	}
	j, err := s.load(ctx, d.task.RunID)
	if err != nil {
		return d, err
	}
	d.run = j.Run
	for _, inv := range j.Invocations {
		if inv.ID == d.task.InvocationID {
			def, _ := s.deps.Pipeline.Lookup(inv.Name)
			d.inv, d.resumed = inv, !def.ReadOnly
			return d, nil
		}
	}
	return d, fmt.Errorf("task %s: its call is not in the journal", d.task.ID)
}

// adoptTasks takes up tasks that nobody works on.
func (s *Service) adoptTasks(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	orphans, err := s.deps.Store.OrphanTasks(ctx, s.deps.Now())
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("orphaned tasks not looked for")
		return
	}
	for _, id := range orphans {
		if s.tasks.schedule(id) {
			flow.Log(ctx).Info().Str("taskId", id).Msg("orphaned task taken up")
		}
	}
}

// stopPoll is how often a task that was stopped is looked at, by whoever waits to see it end.
const stopPoll = 50 * time.Millisecond

// CancelTask records the wish to stop a task, ends its work, and gives the task as it then stands. It is idempotent; a
// task that ended otherwise is a conflict. What may have happened before it was stopped is INDETERMINATE.
func (s *Service) CancelTask(ctx context.Context, userID, id string) (agent.Task, error) {
	t, err := s.task(ctx, userID, id)
	if err != nil {
		return t, err
	}
	if !t.Ended() {
		if err := s.deps.Store.CancelTask(context.WithoutCancel(ctx), userID, id, agent.ByUser); err != nil {
			return t, err
		}
		s.tasks.cancel(id)
		s.tasks.schedule(id)
		if t, err = s.awaitTask(ctx, userID, id); err != nil {
			return t, err
		}
	}
	if t.Ended() && t.Status != capability.Cancelled && (t.Status != capability.Indeterminate || t.CancelReason == "") {
		return t, fault.New(fault.Conflict, "the task has ended: %s", t.Status)
	}
	return t, nil
}

// awaitTask waits a little for a stopped task to end, so that the answer can say so.
func (s *Service) awaitTask(ctx context.Context, userID, id string) (agent.Task, error) {
	for deadline := time.Now().Add(writeTime); ; {
		t, err := s.task(ctx, userID, id)
		if err != nil || t.Ended() || time.Now().After(deadline) || !s.tasks.pause(stopPoll) {
			return t, err
		}
	}
}

func (s *Service) task(ctx context.Context, userID, id string) (agent.Task, error) {
	t, err := s.deps.Store.Task(ctx, userID, id)
	if errors.Is(err, agent.ErrNotFound) {
		return t, fault.New(fault.NotFound, "there is no task %q", text.Clip(id, 80))
	}
	return t, err
}
