package run

import (
	"context"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// fitted gives the prompt of a round, short enough for the model: older runs give way to a summary, then this
// run's own results are shortened (D-141). What cannot be made to fit is refused here and never sent.
func (r *round) fitted(ctx context.Context, last bool) (agent.Prompt, error) {
	d, err := r.s.draft(ctx, r.j, last)
	if err != nil {
		return agent.Prompt{}, err
	}
	if r.size > 0 {
		d.limits = limitsOf(r.size)
		d.bound()
	}
	for d.count() > d.limits.line && len(d.turns) > 0 {
		if err := r.compress(ctx, d); err != nil {
			return agent.Prompt{}, err
		}
	}
	d.shorten()
	count := d.count()
	if count > d.limits.most {
		return agent.Prompt{}, &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.TooLarge,
			"this does not fit the model: about %d tokens are needed, and %d may be sent", count, d.limits.most)}
	}
	if room := d.scaled(Tokens(fullHint) + messageFrame); count > d.limits.line*4/5 && count+room <= d.limits.line {
		d.hints = append(d.hints, fullHint)
	}
	p := d.prompt()
	r.guessed = tokensOfPrompt(p)
	return p, nil
}

// compress lets the oldest runs of a draft give way: to a summary, or, when none can be had, to nothing. That
// holds for this prompt only: the messages are there, and the next prompt tries again.
func (r *round) compress(ctx context.Context, d *draft) error {
	before, n := d.count(), d.oldest()
	old := d.turns[:n]
	asked := summaryAsk{}
	if !d.silent {
		asked = r.summarise(ctx, d, old)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("compress the context: %w", context.Cause(ctx))
	}
	d.turns = d.turns[n:]
	done := agent.CompressedData{How: agent.Truncated, Before: before, Messages: countAll(old)}
	if asked.text != "" && asked.err == nil {
		d.summary, done.How = asked.text, agent.Summarised
		done.LLMCallID = asked.calls[len(asked.calls)-1].ID
	} else {
		d.silent = true
		done.Reason = fault.MessageOf(asked.err)
		flow.Log(ctx).Warn().Err(asked.err).Msg("no summary: the oldest messages are left out of this prompt")
	}
	done.After = d.count()
	newest := old[len(old)-1]
	return r.recordCompression(ctx, done, asked, agent.Summary{
		RunID: r.j.Run.ID, Covers: newest[len(newest)-1].RunID, Text: asked.text, Messages: done.Messages, Before: before, After: done.After,
	})
}

// recordCompression writes the summary with its event, its call and its audit record, or none of them.
func (r *round) recordCompression(ctx context.Context, done agent.CompressedData, asked summaryAsk, v agent.Summary) error {
	now := r.s.deps.Now()
	step := agent.Step{
		RunID: r.j.Run.ID, Epoch: r.j.Run.Epoch, From: []agent.Status{agent.Running}, To: agent.Running, Active: asked.took,
		ModelCalls: asked.calls, Events: []agent.Event{agent.NewEvent(agent.ContextCompressed, done, now)},
		Records: []capability.Record{r.compressionRecord(ctx, done, asked, now)},
	}
	for _, c := range asked.calls {
		step.Usage = step.Usage.Add(c.Usage)
	}
	if done.How == agent.Summarised {
		v.At = now
		step.Summaries = []agent.Summary{v}
	}
	if err := r.s.append(ctx, step); err != nil {
		return err
	}
	r.j.Run.Usage, r.j.Run.Active = r.j.Run.Usage.Add(step.Usage), r.j.Run.Active+asked.took
	r.began = r.s.deps.Now()
	return nil
}

// compressionRecord is the audit's line: that, how and why a model no longer reads what was said.
func (r *round) compressionRecord(ctx context.Context, done agent.CompressedData, asked summaryAsk, now time.Time) capability.Record {
	receipt := capability.Receipt{
		InvocationID: done.LLMCallID, Capability: "compress_context", Kind: capability.Local, Status: capability.Succeeded,
		Stage: capability.StageReceipt, Duration: asked.took,
	}
	if asked.err != nil {
		receipt.Status, receipt.Stage = capability.Failed, capability.StageAttempt
		receipt.Code, receipt.Message = string(fault.CodeOf(asked.err)), done.Reason
	}
	return capability.Record{
		Receipt: receipt, At: now, UserID: r.j.Run.UserID, ThreadID: r.j.Run.ThreadID, RunID: r.j.Run.ID,
		TraceID: flow.From(ctx).TraceID, Source: "engine",
		Input:  fmt.Sprintf(`{"messages":%d,"tokens":%d}`, done.Messages, done.Before),
		Output: fmt.Sprintf(`{"how":%q,"tokens":%d}`, done.How, done.After),
	}
}

func countAll(runs []turn) int {
	n := 0
	for _, r := range runs {
		n += len(r)
	}
	return n
}

// callFitted asks the model with a prompt that fits. When the endpoint finds it too long all the same, the model
// takes less than it is said to: it is asked once more with less, and what it then took counts from now on. Once a
// piece of an answer was shown nothing is asked again.
func (r *round) callFitted(ctx context.Context, last bool) (agent.Answer, error) {
	p, err := r.fitted(ctx, last)
	if err != nil {
		return agent.Answer{}, err
	}
	answer, refusal := r.call(ctx, p)
	if !tooLong(refusal) || r.s.live.text(r.j.Run.ID, r.messageID) != "" {
		return answer, refusal
	}
	refused := r.step(answer, r.s.deps.Now())
	refused.ModelCalls[0].ID, refused.ModelCalls[0].Error = r.s.deps.NewID("llm"), fault.MessageOf(refusal)
	if err := r.s.append(ctx, refused); err != nil {
		return agent.Answer{}, err
	}
	r.size = min(r.s.size(r.j.Run), r.guessed*3/4)
	if p, err = r.fitted(ctx, last); tooLong(err) {
		return answer, refusal
	} else if err != nil {
		return agent.Answer{}, err
	}
	if answer, err = r.call(ctx, p); err == nil {
		r.s.learned.keep(r.j.Run, r.size)
	}
	return answer, err
}
