package run

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
)

//go:embed prompts/summary.md
var summaryPrompt string

// summaryTries is how often a summary is asked for when the request is too long; each time half as long.
const summaryTries = 3

// summaryAsk is the request of a summary and what came of it.
type summaryAsk struct {
	text  string
	calls []agent.ModelCall
	took  time.Duration
	err   error // there is no summary
}

// summarise asks the model for a summary of runs, on top of the older one. It is a call of its own, without
// tools, and counts like any other.
func (r *round) summarise(ctx context.Context, d *draft, runs []turn) summaryAsk {
	var lines []string
	for _, messages := range runs {
		lines = append(lines, retell(messages, d.zone)...)
	}
	running, err := r.s.runningTasks(ctx, r.j.Run)
	if err != nil {
		return summaryAsk{err: err}
	}
	head := summaryOrder(d, running)
	room := int(float64(d.limits.most)/d.factor) - Tokens(summaryPrompt) - Tokens(head) - 4*messageFrame
	var out summaryAsk
	for range summaryTries {
		told := strings.Join(within(lines, room), "\n")
		out.ask(ctx, r, d, agent.Prompt{Messages: []agent.Message{
			{Role: agent.System, Text: summaryPrompt},
			{Role: agent.User, Text: plain(head + "<conversation>\n" + told + "\n</conversation>")},
		}})
		if !tooLong(out.err) {
			break
		}
		room /= 2
	}
	return out
}

// summaryOrder says what is wanted, and what is known besides the messages.
func summaryOrder(d *draft, running []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Summarise the conversation below in at most %d words or %d Chinese characters.\n\n", d.limits.summary/2, d.limits.summary*3/4)
	if d.summary != "" {
		fmt.Fprintf(&b, "<earlier-summary>\n%s\n</earlier-summary>\n\n", d.summary)
	}
	if len(running) > 0 {
		fmt.Fprintf(&b, "Still running in the background: %s\n\n", strings.Join(running, "; "))
	}
	return b.String()
}

// errNoSummary says that a model gave an answer that is no summary.
var errNoSummary = fault.New(fault.Unavailable, "the model gave no summary")

// ask makes one attempt.
func (a *summaryAsk) ask(ctx context.Context, r *round, d *draft, p agent.Prompt) {
	began, id := r.s.deps.Now(), r.s.deps.NewID("llm")
	ids := flow.From(ctx)
	ids.LLMCallID, ids.SpanID = id, span.IDOf(id)
	limited, stop := context.WithTimeout(flow.With(ctx, ids), max(r.s.config.Bounds.Active-r.j.Run.Active, time.Minute))
	defer stop()
	answer, err := r.s.deps.Model.Stream(limited, p, agent.OnText(func(string) {}))
	a.text = strings.TrimSpace(answer.Text)
	if err == nil && (a.text == "" || !answer.Complete) {
		err = errNoSummary
	}
	a.err, a.text = err, clipTokens(a.text, d.limits.summary)
	took := r.s.deps.Now().Sub(began)
	a.took += took
	call := agent.ModelCall{
		ID: id, RunID: r.j.Run.ID, Round: r.number, Model: answer.Model, Request: answer.Request, Usage: answer.Usage,
		Estimated: tokensOfPrompt(p), Finish: answer.Finish, StartedAt: began, Duration: took,
	}
	if err != nil {
		call.Error = fault.MessageOf(err)
	}
	a.calls = append(a.calls, call)
}

// tooLong tells whether an endpoint found a request too long for its model.
func tooLong(err error) bool {
	var e *agent.ModelError
	return errors.As(err, &e) && e.Class == agent.ContextLength
}
