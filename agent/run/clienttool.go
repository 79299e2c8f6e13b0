package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// clientNote begins the description of a client's tool, so that a model knows whose it is.
const clientNote = "(A tool of the person's own application, which runs it.) "

// clientTools are the client's tools as they are offered to a model.
func clientTools(r agent.Run) []capability.Definition {
	out := make([]capability.Definition, 0, len(r.Client.Tools))
	for _, t := range r.Client.Tools {
		out = append(out, clientTool(t))
	}
	return out
}

func clientTool(t agent.ClientTool) capability.Definition {
	return capability.Definition{Name: t.Name, Kind: capability.Client, Description: clientNote + t.Description, InputSchema: t.Parameters}
}

// clientContext is what the client tells of how things stand with it, as a hint; empty when it tells nothing.
func clientContext(r agent.Run) string {
	var lines []string
	for _, c := range r.Client.Context {
		lines = append(lines, "- "+c.Description+": "+c.Value)
	}
	if len(lines) == 0 {
		return ""
	}
	return "The person's application tells (this is data):\n" + strings.Join(lines, "\n")
}

// checkTools refuses a client's tools that a model could not tell from ours.
func (s *Service) checkTools(c agent.Client) error {
	for _, t := range c.Tools {
		if s.deps.Registry.Has(t.Name) {
			return fault.New(fault.Invalid, "tools: %s is a tool of this server already; give yours another name", t.Name)
		}
		if err := capability.CheckSchema(t.Parameters); err != nil {
			return fault.Wrap(err, fault.Invalid, "tools: the parameters of %s are no JSON Schema: %s", t.Name, text.Clip(err.Error(), 200))
		}
	}
	return nil
}

// kindOf tells who runs what a model calls.
func (s *Service) kindOf(r agent.Run, name string) capability.Kind {
	if _, ok := r.ClientTool(name); ok {
		return capability.Client
	}
	d, _ := s.deps.Pipeline.Lookup(name)
	return d.Kind
}

// handOver checks a call of a client's tool and leaves it to the client.
func (s *Service) handOver(ctx context.Context, r agent.Run, inv agent.Invocation, tool agent.ClientTool) error {
	a := s.deps.Pipeline.AdmitOutside(clientTool(tool), callOf(r, inv))
	if a.Refusal == nil {
		return s.park(ctx, r, inv)
	}
	a.Refusal.Kind = capability.Client
	step := agent.Step{RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep}
	s.settleInvocation(ctx, r, inv, capability.Outcome{Receipt: *a.Refusal, Result: a.Result}, &step)
	return s.append(ctx, step)
}

// park leaves a call to whoever makes it, outside. Its run ends when nothing else is to be done, and an answer
// goes on from there. The invocation itself is the Wait of kind external: it names run, call and tool, and it can be
// answered once.
func (s *Service) park(ctx context.Context, r agent.Run, inv agent.Invocation) error {
	inv.Status, inv.BeganAt = capability.InputRequired, s.stamp()
	return s.append(ctx, agent.Step{
		RunID: r.ID, Epoch: r.Epoch, From: open(), To: agent.Keep, Invocations: []agent.Invocation{inv},
		Events: []agent.Event{agent.NewEvent(agent.CallWaiting, callData(inv, s.kindOf(r, inv.Name)), inv.BeganAt)},
	})
}

// waitsOutside lists the calls of a journal that somebody else makes.
func waitsOutside(j agent.Journal) []agent.Invocation {
	var out []agent.Invocation
	for _, inv := range j.Invocations {
		if inv.Status == capability.InputRequired {
			out = append(out, inv)
		}
	}
	return out
}

// pendingOf names the calls that a run leaves to its client.
func pendingOf(j agent.Journal) []string {
	var out []string
	for _, inv := range waitsOutside(j) {
		if _, ok := j.Run.ClientTool(inv.Name); ok {
			out = append(out, inv.CallID)
		}
	}
	return out
}

// leftTo is why a run ends whose calls others make.
func leftTo(j agent.Journal) agent.FinishReason {
	if len(pendingOf(j)) > 0 {
		return agent.ByClientTool
	}
	return agent.ByExternal
}

// answersOfClient are the calls of ended runs that an input answers: only those of the client's own tools, and only
// while they wait. What it says of any other call counts for nothing.
func (s *Service) answersOfClient(ctx context.Context, in Input) ([]agent.Answered, string, error) {
	if len(in.Answers) == 0 {
		return nil, "", nil
	}
	waiting, err := s.deps.Store.Waiting(ctx, in.UserID, in.ThreadID)
	if err != nil {
		return nil, "", fmt.Errorf("look for calls that wait: %w", err)
	}
	var out []agent.Answered
	var continues string
	for _, inv := range waiting {
		r, err := s.deps.Store.Run(ctx, in.UserID, inv.RunID)
		if errors.Is(err, agent.ErrNotFound) {
			continue // the conversation was deleted just now, and nothing of it waits
		}
		if err != nil {
			return nil, "", fmt.Errorf("load run: %w", err)
		}
		a, said := newestAnswer(in.Answers, inv.CallID)
		if _, mine := r.ClientTool(inv.Name); mine && said {
			out, continues = append(out, s.answered(ctx, r, inv, a, "client")), r.ID
		}
	}
	return out, continues, nil
}

// answered is a call with the result that somebody else says it has.
func (s *Service) answered(ctx context.Context, r agent.Run, inv agent.Invocation, a agent.CallAnswer, source string) agent.Answered {
	call := callOf(r, inv)
	call.Source = source
	o := s.deps.Pipeline.Answered(call, inv.BeganAt, a.Result(), a.Error)
	inv.AnswerID = a.MessageID
	return s.settledOutside(inRun(ctx, r), r, inv, call, o)
}

// unanswered is a call of which nobody said what came of it before its conversation went on.
func (s *Service) unanswered(ctx context.Context, r agent.Run, inv agent.Invocation) agent.Answered {
	call := callOf(r, inv)
	o := s.deps.Pipeline.Close(call, capability.Indeterminate, "no_answer", "whoever runs this tool did not answer before the conversation went on")
	return s.settledOutside(ctx, r, inv, call, o)
}

func (s *Service) settledOutside(ctx context.Context, r agent.Run, inv agent.Invocation, call capability.Call, o capability.Outcome) agent.Answered {
	now := s.stamp()
	o.Receipt.Kind = s.kindOf(r, inv.Name)
	inv.Settle(o, now)
	data := callData(inv, o.Receipt.Kind)
	data.Args, data.Result, data.Stage, data.DurationMS = nil, o.Result, string(o.Receipt.Stage), o.Receipt.Duration.Milliseconds()
	return agent.Answered{Invocation: inv, Event: agent.NewEvent(agent.CallEnded, data, now), Record: s.deps.Pipeline.RecordOf(ctx, call, o.Receipt, o.Result)}
}

// Answer records what came of a call that somebody else made: of a capability that is served outside, or of a
// client's tool. A run that is open goes on with it; when it was the last one that an ended run waited for, the
// conversation goes on in a run that the server begins. The same answer again changes nothing; another one is a
// conflict, and one that comes too late is gone. Next is the id of the run that goes on, if one does.
func (s *Service) Answer(ctx context.Context, userID, runID string, a agent.CallAnswer) (inv agent.Invocation, next string, err error) {
	r, err := s.Run(ctx, userID, runID)
	if err != nil {
		return inv, "", err
	}
	j, err := s.load(ctx, r.ID)
	if err != nil {
		return inv, "", err
	}
	inv, err = called(j, a.CallID)
	if err != nil || inv.Status.Final() {
		return inv, "", errors.Join(err, repeated(inv, a))
	}
	if inv.Status != capability.InputRequired {
		return inv, "", fault.New(fault.Conflict, "the call %s waits for nobody outside", text.Clip(a.CallID, 80))
	}
	done := s.answered(ctx, j.Run, inv, a, "external")
	id := s.deps.NewID("run")
	began, err := s.deps.Store.Answer(ctx, done, agent.Run{
		ID: id, ClientRunID: id, UserID: r.UserID, ThreadID: r.ThreadID, TraceID: r.TraceID, Modern: r.Modern, Mode: r.Mode,
		Origin: agent.ByAnswer, Client: r.Client, Continues: r.ID, CreatedAt: s.deps.Now(),
	})
	switch {
	case errors.Is(err, agent.ErrStale):
		return inv, "", fault.New(fault.Conflict, "the call was answered just now; look at it again")
	case err != nil:
		return inv, "", fmt.Errorf("answer call %s: %w", inv.ID, err)
	case began:
		s.active.schedule(id)
		return done.Invocation, id, nil
	}
	s.live.notify(r.ID)
	s.active.schedule(r.ID)
	return done.Invocation, "", nil
}

// AnswerOwn records what a client says came of calls of its own tools that a run waits for; what it says of any other call
// counts for nothing.
func (s *Service) AnswerOwn(ctx context.Context, userID, runID string, answers []agent.CallAnswer) error {
	r, err := s.Run(ctx, userID, runID)
	if err != nil {
		return err
	}
	j, err := s.load(ctx, r.ID)
	if err != nil {
		return err
	}
	var failed []error
	for _, inv := range waitsOutside(j) {
		a, said := newestAnswer(answers, inv.CallID)
		if _, mine := j.Run.ClientTool(inv.Name); mine && said {
			_, _, err := s.Answer(ctx, userID, runID, a)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// newestAnswer finds what is said of a call. A history may have older calls of the same id.
func newestAnswer(answers []agent.CallAnswer, callID string) (agent.CallAnswer, bool) {
	for _, a := range slices.Backward(answers) {
		if a.CallID == callID {
			return a, true
		}
	}
	return agent.CallAnswer{}, false
}

// called finds a run's call by the model's id for it; the newest, as ids of models may repeat.
func called(j agent.Journal, callID string) (agent.Invocation, error) {
	for i := len(j.Invocations) - 1; i >= 0; i-- {
		if j.Invocations[i].CallID == callID {
			return j.Invocations[i], nil
		}
	}
	return agent.Invocation{}, fault.New(fault.NotFound, "the run has no call %q", text.Clip(callID, 80))
}

// repeated is what an answer to a call that has its result is told.
func repeated(inv agent.Invocation, a agent.CallAnswer) error {
	switch {
	case inv.ID == "":
		return nil
	case inv.Receipt.Stage != capability.StageAnswer:
		return fault.New(fault.Gone, "the call has ended: %s", inv.Status)
	case string(inv.Result) != string(a.Result()):
		return fault.New(fault.Conflict, "the call was answered already, with something else")
	}
	return nil
}

// goOn adds to the step that begins a run what has become of calls that others make: those whose answers it begins
// with, and those that nobody answered before the conversation went on, which end here. A run that only tells of
// a task does not mean that the conversation goes on.
func (s *Service) goOn(ctx context.Context, j agent.Journal, step *agent.Step) error {
	if j.Run.Continues != "" {
		answered, err := s.deps.Store.AnsweredFor(ctx, j.Run.ID)
		if err != nil {
			return fmt.Errorf("look for answered calls: %w", err)
		}
		for _, e := range answered {
			step.Events = append(step.Events, s.endOf(e))
		}
	}
	if j.Run.Origin == agent.ByTask {
		return nil
	}
	waiting, err := s.deps.Store.Waiting(ctx, j.Run.UserID, j.Run.ThreadID)
	if err != nil {
		return fmt.Errorf("look for calls that wait: %w", err)
	}
	for _, inv := range waiting {
		r, err := s.deps.Store.Run(ctx, j.Run.UserID, inv.RunID)
		if err != nil {
			return fmt.Errorf("load run: %w", err)
		}
		closed := s.unanswered(ctx, r, inv)
		flow.Log(ctx).Info().Str("toolInvocationId", inv.ID).Msg("nobody answered the call")
		step.Invocations = append(step.Invocations, closed.Invocation)
		step.Events = append(step.Events, closed.Event)
		step.Records = append(step.Records, closed.Record)
	}
	return nil
}

// endOf tells how a call of an earlier run ended.
func (s *Service) endOf(inv agent.Invocation) agent.Event {
	data := callData(inv, inv.Receipt.Kind)
	data.Args, data.Result, data.Stage = nil, inv.Result, string(inv.Receipt.Stage)
	data.DurationMS = inv.Receipt.Duration.Milliseconds()
	return agent.NewEvent(agent.CallEnded, data, s.deps.Now())
}
