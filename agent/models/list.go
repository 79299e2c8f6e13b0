// Package models makes one model of several: it tries again what may succeed a moment later, and asks the next
// model where that may succeed, as long as nothing of an answer was shown (design, section 9). It must not know
// any endpoint's wire.
package models

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// How a model is tried again.
const (
	retries    = 2                      // beside the first attempt
	firstPause = 500 * time.Millisecond // doubled each time, and stretched by up to a half at random
	longest    = 30 * time.Second       // a longer pause that an endpoint asks for is not waited for
	patience   = time.Minute            // an attempt that took longer to fail is not repeated while another model is there
)

// List is an ordered list of models: the first that answers, answers.
type List struct{ models []agent.Model }

var _ agent.Model = (*List)(nil)

// New makes a list. It has at least one model.
func New(first agent.Model, others ...agent.Model) *List {
	return &List{models: append([]agent.Model{first}, others...)}
}

// Name gives the first model's name.
func (l *List) Name() string { return l.models[0].Name() }

// ContextSize gives the smallest size in tokens: a prompt must fit whichever model answers.
func (l *List) ContextSize() int {
	size := l.models[0].ContextSize()
	for _, m := range l.models {
		size = min(size, m.ContextSize())
	}
	return size
}

// Stream asks the models in their order. The error is that of the last one asked.
func (l *List) Stream(ctx context.Context, p agent.Prompt, to agent.Listener) (agent.Answer, error) {
	shown := false
	hears := agent.Listener{Again: to.Again, Text: func(delta string) {
		shown = true
		to.Text(delta)
	}}
	var spent agent.Usage
	for at, tries := 0, 0; ; {
		began := time.Now()
		answer, err := l.models[at].Stream(ctx, p, hears)
		answer.Usage = answer.Usage.Add(spent)
		var failed *agent.ModelError
		if err == nil || shown || ctx.Err() != nil || !errors.As(err, &failed) {
			return answer, err
		}
		next, wait := l.after(at, tries, time.Since(began), failed)
		if next < 0 {
			return answer, err
		}
		spent = answer.Usage
		to.Again(agent.ModelAttempt{
			Model: l.models[at].Name(), Class: failed.Class, Words: fault.MessageOf(err), Next: l.models[next].Name(), Wait: wait,
		})
		if err := sleep(ctx, wait); err != nil {
			return answer, err
		}
		tries++
		if next != at {
			at, tries = next, 0
		}
	}
}

// after decides what follows a failed attempt: the model that is asked next, -1 for none, and the pause before.
func (l *List) after(at, tries int, took time.Duration, failed *agent.ModelError) (next int, wait time.Duration) {
	last := at+1 == len(l.models)
	switch failed.Class {
	case agent.RateLimit, agent.Upstream, agent.Connection:
		if tries < retries && failed.After <= longest && (took < patience || last) {
			return at, max(failed.After, pause(tries))
		}
	case agent.ContextLength:
		return l.larger(at), 0
	case agent.ModelInternal:
		return -1, 0
	}
	if last {
		return -1, 0
	}
	return at + 1, 0
}

// larger finds the next model that takes more than this one.
func (l *List) larger(at int) int {
	for i := at + 1; i < len(l.models); i++ {
		if l.models[i].ContextSize() > l.models[at].ContextSize() {
			return i
		}
	}
	return -1
}

func pause(tries int) time.Duration {
	d := firstPause << tries
	return d + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		cause := fmt.Errorf("wait before the next attempt: %w", context.Cause(ctx))
		return fault.Wrap(cause, fault.CodeOf(ctx.Err()), "the model call ended: %s", fault.MessageOf(ctx.Err()))
	}
}
