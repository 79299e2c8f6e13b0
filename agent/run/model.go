package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/capability"
)

// round is one model call under way.
type round struct {
	s         *Service
	j         agent.Journal
	number    int
	callID    string
	messageID string
	began     time.Time
	size      int // of the context, where the model was seen to take less; 0: as it says
	guessed   int // tokens of the prompt
}

func (s *Service) round(j agent.Journal) *round {
	return &round{s: s, j: j, number: len(answersOf(j)) + 1, callID: s.deps.NewID("llm"), messageID: s.deps.NewID("msg"), began: s.deps.Now()}
}

// asked is the event that begins a round. It is in the journal before the model is called, and with it the id
// of the message, so that pieces of text have a place before the whole is stored.
func (r *round) asked() agent.Event {
	return agent.NewEvent(agent.ModelCalled, agent.ModelData{LLMCallID: r.callID, MessageID: r.messageID, Round: r.number}, r.began)
}

// askModel makes a model round.
func (s *Service) askModel(ctx context.Context, j agent.Journal, last bool) error {
	told, news := s.toTell(&j)
	r := s.round(j)
	err := s.append(ctx, agent.Step{
		RunID: j.Run.ID, Epoch: j.Run.Epoch, From: []agent.Status{agent.Running}, To: agent.Running, Told: told,
		Events: append(news, r.asked()),
	})
	if err != nil {
		return ignoreStale(err)
	}
	return r.converse(ctx, last)
}

// converse calls the model and writes its answer: text, proposed calls, usage.
func (r *round) converse(ctx context.Context, last bool) error {
	answer, err := r.callFitted(ctx, last)
	if last {
		answer.Calls = nil // none were offered
		if answer.Text == "" && err == nil {
			answer.Text, answer.Complete = silentEnd, true
		}
	}
	switch {
	case errors.Is(err, agent.ErrStale):
		return nil
	case err != nil && ctx.Err() != nil:
		return r.abandon(ctx, answer, nil)
	case err != nil:
		return r.abandon(ctx, answer, err)
	case !answer.Complete:
		return r.abandon(ctx, answer, unfinished(answer))
	case answer.Text == "" && len(answer.Calls) == 0:
		return r.abandon(ctx, answer, noAnswer("the model %s gave no answer", answer.Model))
	}
	return r.record(ctx, answer)
}

// noAnswer is the error of an answer that came without an error, and is none.
func noAnswer(format string, args ...any) error {
	return &agent.ModelError{Class: agent.Upstream, Err: fault.New(fault.Unavailable, format, args...)}
}

// unfinished is the error of an answer that its endpoint ended early, and says why.
func unfinished(a agent.Answer) error {
	switch a.Finish {
	case "length":
		return noAnswer("the answer of the model %s was cut off: it is longer than the endpoint allows (length)", a.Model)
	case "content_filter":
		return noAnswer("the answer of the model %s was withheld by the endpoint's filter (content_filter)", a.Model)
	}
	return noAnswer("the answer of the model %s was cut off (%s)", a.Model, a.Finish)
}

// silentEnd is said for a model that says nothing in its last round; the finish reason names the bound.
const silentEnd = "已达到本次运行的上限，先停在这里。 / The limits of this run are reached, so it stops here."

func ignoreStale(err error) error {
	if errors.Is(err, agent.ErrStale) {
		return nil
	}
	return err
}

// errOutOfTime ends a model call that goes on when the run's working time is over.
var errOutOfTime error = fault.New(fault.Timeout, "the working time of this run is over, and the model had not finished")

// lastTime is what a model has at the least to answer, however little of the working time is left.
const lastTime = time.Minute

// call asks the model within the working time that the run has left.
func (r *round) call(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	ids := flow.From(ctx)
	ids.LLMCallID, ids.SpanID = r.callID, span.IDOf(r.callID)
	left := max(r.s.config.Bounds.Active-r.j.Run.Active, lastTime)
	ctx, stop := context.WithTimeoutCause(flow.With(ctx, ids), left, errOutOfTime)
	defer stop()
	answer, err := r.s.deps.Model.Stream(ctx, p, agent.Listener{
		Text:  func(delta string) { r.s.live.say(r.j.Run.ID, r.messageID, delta) },
		Again: func(a agent.ModelAttempt) { r.again(ctx, a) },
	})
	if err != nil && errors.Is(context.Cause(ctx), errOutOfTime) {
		err = errOutOfTime
	}
	return answer, err
}

// again tells that a model is asked once more, or another one, after a pause. The call goes on whether or not that
// can be written.
func (r *round) again(ctx context.Context, a agent.ModelAttempt) {
	flow.Log(ctx).Warn().Str("model", a.Model).Str("class", string(a.Class)).Str("next", a.Next).Dur("wait", a.Wait).Msg("model asked again")
	err := r.s.append(ctx, agent.Step{
		RunID: r.j.Run.ID, Epoch: r.j.Run.Epoch, From: []agent.Status{agent.Running}, To: agent.Running,
		Events: []agent.Event{agent.NewEvent(agent.ModelRetried, agent.RetryData{
			LLMCallID: r.callID, Model: a.Model, Class: a.Class, Message: a.Words, Next: a.Next, WaitMS: a.Wait.Milliseconds(),
		}, r.s.deps.Now())},
	})
	if err != nil && !errors.Is(err, agent.ErrStale) {
		flow.Log(ctx).Error().Err(err).Msg("the next attempt is not told of")
	}
}

// record writes a complete answer. An answer without calls ends the run in the same transaction. When somebody
// cancelled the run meanwhile, that counts: the answer is kept as one that was never finished.
func (r *round) record(ctx context.Context, a agent.Answer) error {
	if err := failpoint.Hit(ctx, failpoint.ModelAnswered); err != nil {
		return err
	}
	step := r.answered(ctx, a)
	if len(a.Calls) > 0 {
		return ignoreStale(r.s.append(ctx, step))
	}
	step.To, step.Finish = agent.Succeeded, finishOf(r.j, r.s.config.Bounds, r.number-1)
	written, err := r.s.end(ctx, r.j, step)
	if err != nil || written {
		return err
	}
	return r.abandon(ctx, a, nil)
}

func (r *round) answered(ctx context.Context, a agent.Answer) agent.Step {
	now := r.s.deps.Now()
	step := r.step(a, now)
	if a.Reasoning != "" {
		step.Events = append(step.Events, agent.NewEvent(agent.ReasoningEnded, agent.MessageData{MessageID: r.messageID, Text: a.Reasoning}, now))
	}
	if a.Text != "" {
		step.Events = append(step.Events, agent.NewEvent(agent.MessageEnded, agent.MessageData{MessageID: r.messageID, Text: a.Text}, now))
	}
	for i, call := range a.Calls {
		inv := r.proposed(call, i, now)
		data := callData(inv, r.s.kindOf(r.j.Run, call.Name))
		data.Extra = call.Extra
		step.Events = append(step.Events, agent.NewEvent(agent.CallProposed, data, now))
		reason, words := refusal(append(slices.Clone(r.j.Invocations), step.Invocations...), inv, r.s.config.Bounds)
		if reason == "" {
			step.Invocations = append(step.Invocations, inv)
			continue
		}
		o := r.s.deps.Pipeline.Close(callOf(r.j.Run, inv), capability.Refused, string(reason), words)
		r.s.settleInvocation(ctx, r.j.Run, inv, o, &step)
	}
	step.Events = append(step.Events, agent.NewEvent(agent.ModelAnswered,
		agent.ModelData{LLMCallID: r.callID, Round: r.number, Model: a.Model, Usage: a.Usage}, now))
	return step
}

func (r *round) proposed(call agent.ToolCall, position int, now time.Time) agent.Invocation {
	return agent.Invocation{
		ID: r.s.deps.NewID("inv"), RunID: r.j.Run.ID, UserID: r.j.Run.UserID, MessageID: r.messageID, CallID: call.ID,
		Round: r.number, Position: position, Name: call.Name, Args: call.Args, Status: capability.Proposed, CreatedAt: now,
	}
}

// abandon keeps what was said of an answer that did not arrive whole. Without a cause the run stays
// open: it was cancelled, or the program stops.
func (r *round) abandon(ctx context.Context, a agent.Answer, cause error) error {
	now := r.s.deps.Now()
	step := r.step(a, now)
	if text := r.s.live.text(r.j.Run.ID, r.messageID); text != "" {
		step.Events = append(step.Events, agent.NewEvent(agent.MessageEnded,
			agent.MessageData{MessageID: r.messageID, Text: text, Abandoned: true}, now))
	}
	if cause == nil {
		return ignoreStale(r.s.append(ctx, step))
	}
	flow.Log(ctx).Warn().Err(cause).Msg("model call failed")
	step.ModelCalls[0].Error = fault.MessageOf(cause)
	step.To, step.Finish = agent.Failed, agent.Broken
	if errors.Is(cause, errOutOfTime) {
		step.Finish = agent.OutOfTime
	}
	step.ErrorCode, step.ErrorMessage = errorCode(cause), fault.MessageOf(cause)
	_, err := r.s.end(ctx, r.j, step)
	return err
}

func (r *round) step(a agent.Answer, now time.Time) agent.Step {
	took := now.Sub(r.began)
	return agent.Step{
		RunID: r.j.Run.ID, Epoch: r.j.Run.Epoch, From: []agent.Status{agent.Running}, To: agent.Running,
		Usage: a.Usage, Active: took, Model: a.Model,
		ModelCalls: []agent.ModelCall{{
			ID: r.callID, RunID: r.j.Run.ID, Round: r.number, Model: a.Model, Request: a.Request,
			Usage: a.Usage, Estimated: r.guessed, Finish: a.Finish, StartedAt: r.began, Duration: took,
		}},
	}
}
