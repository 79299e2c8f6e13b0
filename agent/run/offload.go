package run

import (
	"context"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// OffloadAfter is how long a run waits for a call when an operator says nothing (design, section 10).
const OffloadAfter = 10 * time.Second

// attempt is one call under way. Its work ends with its run's, until it is put into the background.
type attempt struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	detach func() bool             // its work ends no more with the run's, unless it does already
	done   chan capability.Outcome // gets one
}

func (s *Service) attempt(ctx context.Context, call capability.Call) *attempt {
	a := &attempt{done: make(chan capability.Outcome, 1)}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	a.attach(ctx)
	began := s.tasks.goWork(func(context.Context) { a.done <- s.guardedExecute(a.ctx, call) })
	if !began { // the engine stops
		a.cancel(ErrShutdown)
		a.done <- s.deps.Pipeline.Execute(a.ctx, call)
	}
	return a
}

func (a *attempt) attach(ctx context.Context) {
	if ctx.Err() != nil { // at once: nothing may begin after it
		a.cancel(context.Cause(ctx))
	}
	a.detach = context.AfterFunc(ctx, func() { a.cancel(context.Cause(ctx)) })
}

// guardedExecute turns a panic into the call's failure: a bug must not end every run of the process.
func (s *Service) guardedExecute(ctx context.Context, call capability.Call) (o capability.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			flow.Log(ctx).Error().Interface("panic", p).Str("tool", call.Name).Msg("call panicked")
			o = s.deps.Pipeline.Close(call, capability.Indeterminate, string(fault.Internal), "the call of "+call.Name+" broke")
		}
	}()
	return s.deps.Pipeline.Execute(ctx, call)
}

// await waits for an attempt, and no longer than a run waits for a call: then it goes on in the background, and the
// round without it.
func (s *Service) await(ctx context.Context, r agent.Run, inv agent.Invocation, a *attempt, d capability.Definition) (o capability.Outcome, gone bool) {
	var slow <-chan time.Time
	if s.config.OffloadAfter > 0 && !d.Foreground {
		timer := time.NewTimer(s.config.OffloadAfter)
		defer timer.Stop()
		slow = timer.C
	}
	select {
	case o = <-a.done:
	case <-slow:
		if s.offload(ctx, r, inv, a, d.Kind) {
			return o, true
		}
		o = <-a.done
	}
	a.detach()
	return o, false
}

// offload puts a call into the background: a task with a lease of its own, and the placeholder as the call's result
// for now, in one step. Where that cannot be written the call goes on as it was.
func (s *Service) offload(ctx context.Context, r agent.Run, inv agent.Invocation, a *attempt, kind capability.Kind) bool {
	now, asked := s.stamp(), time.Now()
	t := agent.Task{
		ID: s.deps.NewID("task"), Origin: agent.ByCall, UserID: r.UserID, ThreadID: r.ThreadID, RunID: r.ID, TraceID: r.TraceID,
		InvocationID: inv.ID, CallID: inv.CallID, Capability: inv.Name, Args: inv.Args, Status: capability.Running, StartedAt: now,
	}
	lease := agent.Lease{ID: t.ID, Owner: s.owner, Epoch: 1, Until: s.deps.Now().Add(leaseTime)}
	w := s.tasks.enlist(t.ID, r.ID, a.cancel) // before it is written: a cancel of the run reaches it from there on
	if w == nil {
		return false
	}
	if !a.detach() { // it is being ended
		s.tasks.dismiss(w)
		return false
	}
	inv.Status, inv.TaskID = capability.Offloaded, t.ID
	data := callData(inv, kind)
	data.Args, data.Result, data.TaskID = nil, inv.Told(), t.ID
	data.DurationMS = s.config.OffloadAfter.Milliseconds()
	err := s.append(ctx, agent.Step{
		RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep, Active: s.config.OffloadAfter,
		Invocations: []agent.Invocation{inv}, Tasks: []agent.Task{t}, TaskLease: lease,
		Events: []agent.Event{agent.NewEvent(agent.CallOffloaded, data, now)},
	})
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Str("tool", inv.Name).Msg("slow call stays in the foreground")
		s.tasks.dismiss(w)
		a.attach(ctx)
		return false
	}
	s.tasks.leased(w, lease, asked)
	if err := failpoint.Hit(ctx, failpoint.AfterOffload); err != nil {
		flow.Log(ctx).Error().Err(err).Str("taskId", t.ID).Msg("fault after a call went on in the background")
	}
	s.tasks.goWork(func(context.Context) {
		defer s.tasks.drop(w)
		s.endTask(a.ctx, w, doing{run: r, task: t, inv: inv}, <-a.done)
	})
	return true
}
