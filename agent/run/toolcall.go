package run

import (
	"context"
	"errors"
	"sync"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// open are the states in which a running run's calls may write.
func open() []agent.Status { return []agent.Status{agent.Running, agent.AwaitingConfirmation} }

// callSet runs the calls of one worker, several at once, each at most once.
type callSet struct {
	s    *Service
	done chan callDone
	busy map[string]bool
	wg   sync.WaitGroup
}

type callDone struct {
	id  string
	err error // the call could not be recorded
}

func newCallSet(s *Service) *callSet {
	return &callSet{s: s, done: make(chan callDone), busy: map[string]bool{}}
}

func (c *callSet) running() int { return len(c.busy) }

// start begins the calls that are not running yet.
func (c *callSet) start(ctx context.Context, j agent.Journal, calls []agent.Invocation) {
	for _, inv := range calls {
		if c.busy[inv.ID] {
			continue
		}
		c.busy[inv.ID] = true
		c.wg.Go(func() { c.done <- callDone{inv.ID, c.s.guardedCall(ctx, j.Run, inv)} })
	}
}

// awaitOne waits until a call has ended, or something happened to the run.
func (c *callSet) awaitOne(wake <-chan struct{}) error {
	select {
	case d := <-c.done:
		delete(c.busy, d.id)
		return d.err
	case <-wake:
		return nil
	}
}

// wait waits for all calls; their results are in the journal then.
func (c *callSet) wait() {
	for range len(c.busy) {
		<-c.done
	}
	c.wg.Wait()
}

func callOf(r agent.Run, inv agent.Invocation) capability.Call {
	return capability.Call{
		ID: inv.ID, Name: inv.Name, Args: inv.Args, Proposed: inv.Proposed, UserID: r.UserID,
		ThreadID: r.ThreadID, RunID: r.ID, Source: "model", Mode: r.Mode,
	}
}

// guardedCall turns a panic into the call's error: a bug must not end every run of the process.
func (s *Service) guardedCall(ctx context.Context, r agent.Run, inv agent.Invocation) (err error) {
	defer func() {
		if p := recover(); p != nil {
			flow.Log(ctx).Error().Interface("panic", p).Str("tool", inv.Name).Msg("call panicked")
			err = fault.New(fault.Internal, "the call of %s broke", inv.Name)
		}
	}()
	return s.runCall(ctx, r, inv)
}

// runCall takes one call as far as it goes: to its result, or to the question.
func (s *Service) runCall(ctx context.Context, r agent.Run, inv agent.Invocation) error {
	err := s.advance(inCall(ctx, inv), r, inv)
	if errors.Is(err, agent.ErrStale) {
		return nil
	}
	return err
}

func (s *Service) advance(ctx context.Context, r agent.Run, inv agent.Invocation) error {
	call := callOf(r, inv)
	switch inv.Status {
	case capability.Proposed:
		return s.admit(ctx, r, inv, call)
	case capability.Running:
		return s.resumeCall(ctx, r, inv, call)
	}
	return s.execute(ctx, r, inv, call)
}

// admit takes a proposed call through the first half of the pipeline.
func (s *Service) admit(ctx context.Context, r agent.Run, inv agent.Invocation, call capability.Call) error {
	if tool, ok := r.ClientTool(inv.Name); ok {
		return s.handOver(ctx, r, inv, tool)
	}
	var err error
	if call.Off, err = s.switchedOff(ctx, r, inv.Name); err != nil && ctx.Err() == nil {
		return err
	}
	a := s.deps.Pipeline.Admit(ctx, s.toolkit(r), call)
	if ctx.Err() != nil {
		return nil // decided anew by whoever goes on with the run
	}
	switch {
	case a.Refusal != nil:
		step := agent.Step{RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep}
		s.settleInvocation(ctx, r, inv, capability.Outcome{Receipt: *a.Refusal, Result: a.Result, Changes: a.Changes}, &step)
		return s.append(ctx, step)
	case a.Ask:
		return s.ask(ctx, r, inv, a)
	}
	call.Rule = a.Verdict.Rule
	return s.execute(ctx, r, inv, call)
}

// resumeCall goes on with a call that was running when an earlier process ended: again, if that does no
// harm; otherwise the person is asked whether it happened.
func (s *Service) resumeCall(ctx context.Context, r agent.Run, inv agent.Invocation, call capability.Call) error {
	if d, _ := s.deps.Pipeline.Lookup(inv.Name); d.Repeatable() {
		return s.execute(ctx, r, inv, call)
	}
	return s.askOutcome(ctx, r, inv, agent.Interrupted, "the program stopped while this ran; it is not known whether it happened", 0)
}

// execute makes the attempt. A call with an effect is claimed in the journal before it starts.
func (s *Service) execute(ctx context.Context, r agent.Run, inv agent.Invocation, call capability.Call) error {
	d, _ := s.deps.Pipeline.Lookup(inv.Name)
	if d.External {
		return s.park(ctx, r, inv)
	}
	resumed := !d.ReadOnly && inv.Status == capability.Running
	if !d.ReadOnly && !resumed && !failpoint.On(failpoint.Forgetful) {
		if err := s.claim(ctx, r, &inv, d.Kind); err != nil {
			return err
		}
	}
	a := s.attempt(ctx, call)
	o, gone := s.await(ctx, r, inv, a, d)
	if gone {
		return nil
	}
	o, known := s.judge(a.ctx, call, inv, o, resumed, "run")
	switch {
	case !known && takenFrom(a.ctx):
		return nil // no outcome: the next process makes it again, or asks whether it happened
	case !known:
		return s.askOutcome(ctx, r, inv, o.Receipt.Code, o.Receipt.Message+"; it is not known whether it happened", o.Receipt.Duration)
	}
	step := agent.Step{RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep, Active: o.Receipt.Duration}
	s.settleInvocation(ctx, r, inv, o, &step)
	if err := failpoint.Hit(ctx, failpoint.BeforeResult); err != nil {
		return err
	}
	if err := s.append(ctx, step); err != nil {
		return err
	}
	return failpoint.Hit(ctx, failpoint.AfterResult)
}

// judge says what a call has come to whose attempt has ended. Of one that is not known there is no outcome: the work
// was taken from this process, or, when it was not, nobody knows whether it happened. What is the run, or the task,
// that was cancelled.
func (s *Service) judge(ctx context.Context, call capability.Call, inv agent.Invocation, o capability.Outcome, resumed bool, what string) (_ capability.Outcome, known bool) {
	unknown := o.Receipt.Status == capability.Indeterminate
	switch {
	case o.Receipt.Status != capability.Cancelled && !unknown:
		return o, true
	case takenFrom(ctx), unknown && ctx.Err() == nil:
		return o, false
	case unknown:
		return s.deps.Pipeline.Close(call, capability.Indeterminate, "cancelled", "the "+what+" was cancelled while this ran; it is not known whether it happened"), true
	case resumed || inv.Attempts > 1: // an earlier attempt may have happened
		return s.deps.Pipeline.Close(call, capability.Indeterminate, "cancelled", "the "+what+" was cancelled; it is not known whether this happened before"), true
	}
	// it ended before it was settled, so nothing of it stands
	return s.deps.Pipeline.Close(call, capability.Cancelled, "cancelled", "the "+what+" was cancelled while this ran"), true
}

// claim writes down that a call begins, before it does.
func (s *Service) claim(ctx context.Context, r agent.Run, inv *agent.Invocation, kind capability.Kind) error {
	now := s.stamp()
	inv.Status, inv.BeganAt = capability.Running, now
	inv.Attempts++
	data := callData(*inv, kind)
	data.Attempt = inv.Attempts
	err := s.append(ctx, agent.Step{
		RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep, Invocations: []agent.Invocation{*inv},
		Events: []agent.Event{agent.NewEvent(agent.CallStarted, data, now)},
	})
	if err != nil {
		return err
	}
	return failpoint.Hit(ctx, failpoint.CallStarted)
}

// settleInvocation adds a call's one result, with its event, its audit record and what its capability
// wants written, to a step.
func (s *Service) settleInvocation(ctx context.Context, r agent.Run, inv agent.Invocation, o capability.Outcome, step *agent.Step) {
	now := s.deps.Now()
	inv.Status, inv.Result, inv.Receipt, inv.EndedAt = o.Receipt.Status, o.Result, o.Receipt, now
	data := callData(inv, o.Receipt.Kind)
	data.Args, data.Result, data.Stage = nil, o.Result, string(o.Receipt.Stage)
	if len(inv.Proposed) > 0 {
		data.EditedArgs = inv.Args
	}
	data.DurationMS = o.Receipt.Duration.Milliseconds()
	step.Invocations = append(step.Invocations, inv)
	step.Events = append(step.Events, agent.NewEvent(agent.CallEnded, data, now))
	step.Records = append(step.Records, s.deps.Pipeline.RecordOf(ctx, callOf(r, inv), o.Receipt, o.Result))
	step.Changes = append(step.Changes, o.Changes...)
}

func callData(inv agent.Invocation, kind capability.Kind) agent.CallData {
	return agent.CallData{
		InvocationID: inv.ID, CallID: inv.CallID, MessageID: inv.MessageID, Name: inv.Name,
		Args: inv.Args, Kind: string(kind), Status: string(inv.Status),
	}
}
