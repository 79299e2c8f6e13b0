package models_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/models"
	"agentmesh/app/platform/fault"
)

// fake answers with the errors of its script, one a call, and then with its name.
type fake struct {
	name   string
	size   int
	script []error
	says   string // before it fails
	slow   time.Duration
	asked  int
}

func (f *fake) Name() string     { return f.name }
func (f *fake) ContextSize() int { return f.size }

func (f *fake) Stream(_ context.Context, _ agent.Prompt, l agent.Listener) (agent.Answer, error) {
	f.asked++
	if f.asked > len(f.script) {
		l.Text(f.name)
		return agent.Answer{Text: f.name, Complete: true, Model: f.name}, nil
	}
	time.Sleep(f.slow)
	if f.says != "" {
		l.Text(f.says)
	}
	return agent.Answer{Model: f.name}, f.script[f.asked-1]
}

func failure(class agent.ErrorClass, after time.Duration) error {
	return &agent.ModelError{Class: class, After: after, Err: fault.New(fault.Unavailable, "no: %s", class)}
}

func many(err error) []error { return []error{err, err, err, err, err, err} }

// TestList: who is asked, how often and with what pauses, by what went wrong.
func TestList(t *testing.T) {
	t.Parallel()
	busy, wrong := failure(agent.RateLimit, time.Second), failure(agent.Authentication, 0)
	cases := []struct {
		name     string
		a, b     fake
		answered string // empty: nobody
		asked    [2]int
		waited   time.Duration // at least
	}{
		{"one_failure_is_tried_again", fake{script: []error{busy}}, fake{}, "a", [2]int{2, 0}, time.Second},
		{"two_are", fake{script: []error{failure(agent.Upstream, 0), failure(agent.Connection, 0)}}, fake{}, "a", [2]int{3, 0}, 1500 * time.Millisecond},
		{"after_three_it_is_the_next_model", fake{script: many(busy)}, fake{}, "b", [2]int{3, 1}, 2 * time.Second},
		{"a_long_pause_is_not_waited_for", fake{script: many(failure(agent.RateLimit, time.Hour))}, fake{}, "b", [2]int{1, 1}, 0},
		{"a_slow_failure_is_not_repeated_before_the_next_model", fake{slow: 2 * time.Minute, script: many(failure(agent.Connection, 0))}, fake{}, "b", [2]int{1, 1}, 2 * time.Minute},
		{"but_after_the_last_it_is", fake{script: many(wrong)}, fake{slow: 2 * time.Minute, script: many(busy)[:1]}, "b", [2]int{1, 2}, 2 * time.Minute},
		{"a_wrong_key_is_not_tried_again", fake{script: many(wrong)}, fake{}, "b", [2]int{1, 1}, 0},
		{"too_long_goes_to_a_larger_model", fake{size: 10, script: many(failure(agent.ContextLength, 0))}, fake{size: 20}, "b", [2]int{1, 1}, 0},
		{"and_not_to_one_that_is_no_larger", fake{size: 10, script: many(failure(agent.ContextLength, 0))}, fake{size: 10}, "", [2]int{1, 0}, 0},
		{"what_was_shown_stands", fake{says: "half", script: many(busy)}, fake{}, "", [2]int{1, 0}, 0},
		{"our_own_fault_ends_it", fake{script: many(failure(agent.ModelInternal, 0))}, fake{}, "", [2]int{1, 0}, 0},
		{"nobody", fake{script: many(wrong)}, fake{script: many(busy)}, "", [2]int{1, 3}, 2 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c.a.name, c.b.name = "a", "b"
				began, again := time.Now(), 0
				answer, err := models.New(&c.a, &c.b).Stream(t.Context(), agent.Prompt{}, agent.Listener{
					Text: func(string) {}, Again: func(agent.ModelAttempt) { again++ },
				})
				if (err == nil) != (c.answered != "") || answer.Text != c.answered {
					t.Errorf("got %q, %v, want %q", answer.Text, err, c.answered)
				}
				if asked := [2]int{c.a.asked, c.b.asked}; asked != c.asked || again != asked[0]+asked[1]-1 {
					t.Errorf("asked %v, told of %d, want %v and each but the last", asked, again, c.asked)
				}
				if took := time.Since(began); took < c.waited || took > 2*c.waited {
					t.Errorf("waited %s, want about %s", took, c.waited)
				}
			})
		})
	}
}

func TestList_TellsBeforeItWaits_AndEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop was pressed")
		var told []agent.ModelAttempt
		began := time.Now()
		_, err := models.New(&fake{name: "a", script: many(failure(agent.RateLimit, 20*time.Second))}).Stream(ctx, agent.Prompt{}, agent.Listener{
			Text: func(string) {}, Again: func(a agent.ModelAttempt) { told = append(told, a); cancel(stop) },
		})
		if !errors.Is(err, stop) || fault.CodeOf(err) != fault.Cancelled || time.Since(began) != 0 {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		want := []agent.ModelAttempt{{Model: "a", Class: agent.RateLimit, Words: "no: rate_limit", Next: "a", Wait: 20 * time.Second}}
		if !reflect.DeepEqual(told, want) {
			t.Errorf("got %+v, want %+v", told, want)
		}
	})
}

func TestList_ContextSizeIsTheSmallest(t *testing.T) {
	t.Parallel()
	l := models.New(&fake{name: "a", size: 20}, &fake{name: "b", size: 10})
	if l.ContextSize() != 10 || l.Name() != "a" {
		t.Errorf("got %d, %s", l.ContextSize(), l.Name())
	}
}
