package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// hang makes notes have no answer; the channel tells of each that was written.
func (w *world) hang() <-chan struct{} {
	written := make(chan struct{}, 4)
	w.tools.note = func(ctx context.Context) error {
		written <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	return written
}

// interrupted starts a run whose note is under way when the program ends, and gives the question that the next
// program asks.
func interrupted(t *testing.T, w *world) (agent.Run, agent.Confirmation) {
	t.Helper()
	written := w.hang()
	w.model.script(turn{calls: []agent.ToolCall{call("a", "note", `{"say":"hi"}`)}})
	r := w.send("t1", "buy a note")
	<-written
	return r, w.restarted(r.ID)
}

// restarted ends the program and starts it again, where notes go well, and gives the open question.
func (w *world) restarted(runID string) agent.Confirmation {
	w.t.Helper()
	w.stop()
	w.tools.note = nil
	w.start()
	return w.newest(runID)
}

// newest waits for a run's newest question.
func (w *world) newest(runID string) agent.Confirmation {
	w.t.Helper()
	asked := len(w.journal(runID).Confirmations)
	for u, err := range w.runs.Follow(context.Background(), runID, run.Cursor{}) {
		must(w.t, err)
		if u.Event == nil || u.Event.Type == agent.RunEnded {
			continue
		}
		if open, err := w.db.OpenConfirmations(context.Background(), "ann"); err == nil && len(open) > 0 && open[len(open)-1].RunID == runID {
			return open[len(open)-1]
		}
	}
	w.t.Fatalf("run %s has no open question, %d were asked", runID, asked)
	return agent.Confirmation{}
}

func (w *world) say(runID, id string, answer agent.Reply) (agent.Confirmation, error) {
	return w.runs.Decide(context.Background(), "ann", runID, id, agent.Decision{
		Status: agent.ConfirmationConfirmed, Answer: answer, By: "ann", Via: "test",
	})
}

func (w *world) records(runID string) []capability.Record {
	w.t.Helper()
	records, _, err := w.db.Records(context.Background(), "ann", capability.Selection{RunID: runID}, agent.Page{Limit: 10})
	must(w.t, err)
	return records
}

// TestInterruptedEffect_IsAskedAbout: what may have happened is not repeated, not given up and not guessed.
func TestInterruptedEffect_IsAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Asking)
	want(t, "kind", q.Kind, agent.AskOutcome)
	want(t, "answers", fmt.Sprint(q.Answers), "[happened did_not_happen try_again]")
	want(t, "arguments", string(q.Args), `{"say":"hi"}`)
	want(t, "why", q.Attempt.Why, agent.Interrupted)
	want(t, "attempt", q.Attempt.Number, 1)
	want(t, "began", q.Attempt.Began, w.journal(r.ID).Invocations[0].BeganAt)
	want(t, "it stays open for", q.Deadline.Sub(q.CreatedAt), 7*24*time.Hour)
	again := w.restarted(r.ID)
	want(t, "after another restart", again.ID, q.ID)
	want(t, "noted", w.tools.count("note"), 1)
	want(t, "audited", len(w.records(r.ID)), 0)
}

func TestOutcome_Happened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	c, err := w.say(r.ID, q.ID, agent.Happened)
	must(t, err)
	want(t, "question", c.Status, agent.ConfirmationAnswered)
	want(t, "answer", c.Answer, agent.Happened)
	want(t, "by", c.DecidedBy, "ann")
	want(t, "run", w.end(r.ID).Status, agent.Succeeded)
	want(t, "noted", w.tools.count("note"), 1)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "call", inv.Status, capability.Succeeded)
	want(t, "stage", inv.Receipt.Stage, capability.StageConfirm)
	want(t, "code", inv.Receipt.Code, "said_to_have_happened")
	want(t, "receipt", inv.Receipt.Message, "ann (test): the person says that it happened; its own answer is lost")
	want(t, "what the model reads", w.toolText(), `{"message":"the person says that it happened; its own answer is lost","reason":"said_to_have_happened","status":"SUCCEEDED"}`)
	records := w.records(r.ID)
	want(t, "audited", len(records), 1)
	want(t, "audited status", records[0].Status, capability.Succeeded)
	want(t, "audited code", records[0].Code, "said_to_have_happened")
	if !strings.Contains(records[0].Output, `"by":"ann"`) || !strings.Contains(records[0].Output, `"via":"test"`) {
		t.Errorf("the audit has %s, want who said it", records[0].Output)
	}
}

// toolText is what the model read of the newest call.
func (w *world) toolText() string {
	messages := w.model.lastPrompt().Messages
	return messages[len(messages)-1].Text
}

func TestOutcome_DidNotHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	_, err := w.runs.Decide(context.Background(), "ann", r.ID, "", agent.Decision{Answer: agent.DidNotHappen, Reason: "I looked", By: "ann", Via: "test"})
	must(t, err)
	want(t, "run", w.end(r.ID).Status, agent.Succeeded)
	want(t, "noted", w.tools.count("note"), 1)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Failed)
	want(t, "what the model reads", w.toolText(),
		`{"message":"the person says that it did not happen, so nothing was done: I looked","reason":"said_not_to_have_happened","status":"FAILED"}`)
	want(t, "audited code", w.records(r.ID)[0].Code, "said_not_to_have_happened")
	_, err = w.say(r.ID, q.ID, agent.DidNotHappen)
	must(t, err)
	_, err = w.say(r.ID, q.ID, agent.Happened)
	want(t, "another answer", fault.CodeOf(err), fault.Conflict)
}

// TestOutcome_TryAgain: the same call runs once more, and is asked about again when that is interrupted too.
func TestOutcome_TryAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	written := w.hang()
	_, err := w.say(r.ID, "", agent.TryAgain)
	must(t, err)
	<-written
	again := w.restarted(r.ID)
	if again.ID == q.ID {
		t.Fatal("the second interruption was not asked about")
	}
	want(t, "attempt", again.Attempt.Number, 2)
	want(t, "noted", w.tools.count("note"), 2)
	_, err = w.say(r.ID, "", agent.TryAgain)
	want(t, "an answer that may be a repeat of the first", fault.CodeOf(err), fault.Conflict)
	_, err = w.say(r.ID, q.ID, agent.TryAgain)
	must(t, err)
	want(t, "noted after the first answer came again", w.tools.count("note"), 2)
	_, err = w.say(r.ID, again.ID, agent.TryAgain)
	must(t, err)
	want(t, "run", w.end(r.ID).Status, agent.Succeeded)
	want(t, "noted", w.tools.count("note"), 3)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "call", inv.Status, capability.Succeeded)
	want(t, "attempts", inv.Attempts, 3)
	want(t, "result", string(inv.Result), `{"args":{"say":"hi"},"did":"note"}`)
	codes := ""
	for _, rec := range w.records(r.ID) {
		codes += rec.Code + " " + string(rec.Status) + " "
	}
	want(t, "audited", codes, "said_to_try_again INDETERMINATE said_to_try_again INDETERMINATE  SUCCEEDED ")
	want(t, "started", w.starts(r.ID), "[1 2 3]")
}

// starts lists the attempts that the journal has.
func (w *world) starts(runID string) string {
	w.t.Helper()
	events, err := w.db.Events(context.Background(), runID, 0)
	must(w.t, err)
	var attempts []int
	for _, e := range events {
		var d agent.CallData
		if e.Type == agent.CallStarted && json.Unmarshal(e.Data, &d) == nil {
			attempts = append(attempts, d.Attempt)
		}
	}
	return fmt.Sprint(attempts)
}

// TestOutcome_AnswersMustFit: nothing but one of the three is an answer, and the question stays.
func TestOutcome_AnswersMustFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	for name, d := range map[string]agent.Decision{
		"a yes":           {Status: agent.ConfirmationConfirmed},
		"a no":            {Status: agent.ConfirmationRejected},
		"another word":    {Status: agent.ConfirmationConfirmed, Answer: "maybe"},
		"other arguments": {Status: agent.ConfirmationConfirmed, Answer: agent.TryAgain, Edited: &agent.Edit{Args: json.RawMessage(`{}`)}},
	} {
		c, err := w.runs.Decide(context.Background(), "ann", r.ID, q.ID, d)
		want(t, name, fault.CodeOf(err), fault.Invalid)
		want(t, name, c.Status, agent.ConfirmationOpen)
	}
	_, err := w.runs.Decide(context.Background(), "bob", r.ID, q.ID, agent.Decision{Answer: agent.Happened, By: "bob"})
	want(t, "somebody else", fault.CodeOf(err), fault.NotFound)
	want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)

	asking := newWorld(t)
	other, usual := asked(t, asking)
	_, err = asking.say(other.ID, usual.ID, agent.Happened)
	want(t, "an answer to the usual question", fault.CodeOf(err), fault.Invalid)
}

// TestOutcome_AnswersAtOnce: one counts, the same ones agree with it, the others hear that they do not.
func TestOutcome_AnswersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() { _, errs[i] = w.say(r.ID, q.ID, agent.Replies()[i%3]) })
	}
	wg.Wait()
	w.end(r.ID)
	won := w.journal(r.ID).Confirmations[0].Answer
	for i, err := range errs {
		code := fault.Code("")
		if agent.Replies()[i%3] != won {
			code = fault.Conflict
		}
		want(t, fmt.Sprintf("answer %d with %s won", i, won), fault.CodeOf(err), code)
	}
	notes := 1
	if won == agent.TryAgain {
		notes = 2
	}
	want(t, "noted", w.tools.count("note"), notes)
	want(t, "audited", len(w.records(r.ID)), notes)
}

// TestOutcome_NobodySays: after a week it is still not known, and nothing is guessed.
func TestOutcome_NobodySays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, q := interrupted(t, w)
		time.Sleep(7*24*time.Hour - time.Minute)
		synctest.Wait()
		want(t, "before the end of the week", w.journal(r.ID).Confirmations[0].Status, agent.ConfirmationOpen)
		time.Sleep(2 * time.Minute)
		want(t, "run", w.end(r.ID).Status, agent.Succeeded)
		want(t, "question", w.journal(r.ID).Confirmations[0].Status, agent.ConfirmationExpired)
		want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Indeterminate)
		want(t, "what the model reads", w.toolText(), `{"message":"nobody said whether it happened, so it is not known","reason":"nobody_said","status":"INDETERMINATE"}`)
		_, err := w.say(r.ID, q.ID, agent.Happened)
		want(t, "too late", fault.CodeOf(err), fault.Gone)
		want(t, "noted", w.tools.count("note"), 1)
		w.stop()
	})
}

func TestOutcome_Cancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	want(t, "run", w.cancel(r.ID).Status, agent.Cancelled)
	want(t, "question", w.journal(r.ID).Confirmations[0].Status, agent.ConfirmationCancelled)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Indeterminate)
	want(t, "what is told", string(w.journal(r.ID).Invocations[0].Result), `{"message":"the run was cancelled; it is not known whether this happened","reason":"cancelled","status":"INDETERMINATE"}`)
	_, err := w.say(r.ID, q.ID, agent.TryAgain)
	want(t, "too late", fault.CodeOf(err), fault.Gone)
	want(t, "noted", w.tools.count("note"), 1)
}

func TestOutcome_StrictRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	w.cfg.Strict = true
	w.stop()
	w.start()
	want(t, "run", w.journal(r.ID).Run.Status, agent.Failed)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Indeterminate)
	_, err := w.say(r.ID, q.ID, agent.Happened)
	want(t, "late", fault.CodeOf(err), fault.Gone)
}

// TestCancelWhileAnEffectRuns: the run ends, so nobody is asked, and the result does not say that nothing happened.
func TestCancelWhileAnEffectRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	written := w.hang()
	w.model.script(turn{calls: []agent.ToolCall{call("a", "note", `{}`)}})
	r := w.send("t1", "buy a note")
	<-written
	want(t, "run", w.cancel(r.ID).Status, agent.Cancelled)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Indeterminate)
	want(t, "questions", len(w.journal(r.ID).Confirmations), 0)
}

// TestCancelWhileItIsTriedAgain: also where the second attempt is known to have done nothing, the first may have.
func TestCancelWhileItIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := interrupted(t, w)
	written := make(chan struct{})
	w.tools.note = func(ctx context.Context) error {
		close(written)
		<-ctx.Done()
		return &fault.Error{Code: fault.Cancelled, Message: "not sent", Unsent: true}
	}
	_, err := w.say(r.ID, q.ID, agent.TryAgain)
	must(t, err)
	<-written
	want(t, "run", w.cancel(r.ID).Status, agent.Cancelled)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Indeterminate)
}

// TestLostAnswer: a failure after the request was sent, where nobody knows, is the same as a crash; what is
// known to have failed is a failure (notes on durability, 4.2).
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		asks bool
		why  string
	}{
		"timeout":        {fault.New(fault.Timeout, "no answer in time"), true, "timeout"},
		"broken off":     {fault.New(fault.Unavailable, "the connection broke"), true, "unavailable"},
		"not connected":  {fault.Wrap(&net.OpError{Op: "dial", Err: net.ErrClosed}, fault.Unavailable, "away"), false, ""},
		"marked unsent":  {&fault.Error{Code: fault.Unavailable, Message: "no session", Unsent: true}, false, ""},
		"refused":        {fault.New(fault.Conflict, "sold out"), false, ""},
		"too many calls": {fault.New(fault.RateLimited, "later"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tools.note = func(context.Context) error { return c.err }
			w.model.script(turn{calls: []agent.ToolCall{call("a", "note", `{}`)}})
			r := w.send("t1", "buy a note")
			if !c.asks {
				w.end(r.ID)
				want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Failed)
				return
			}
			q := w.question(r.ID)
			want(t, "why", q.Attempt.Why, c.why)
			want(t, "message", q.Attempt.Message, fault.MessageOf(c.err)+"; it is not known whether it happened")
			w.tools.note = nil
			_, err := w.say(r.ID, q.ID, agent.TryAgain)
			must(t, err)
			w.end(r.ID)
			want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Succeeded)
			want(t, "noted", w.tools.count("note"), 2)
		})
	}
}

// TestSlowEffect: its time limit is such a failure too.
func TestSlowEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hang()
		w.model.script(turn{calls: []agent.ToolCall{call("a", "note", `{}`)}})
		r := w.send("t1", "buy a note")
		q := w.question(r.ID)
		want(t, "why", q.Attempt.Why, "timeout")
		_, err := w.say(r.ID, q.ID, agent.Happened)
		must(t, err)
		want(t, "run", w.end(r.ID).Status, agent.Succeeded)
		w.stop()
	})
}
