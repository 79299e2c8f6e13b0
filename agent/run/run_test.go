package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/skills"
)

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{say: []string{"你", "好"}})
	r := w.send("t1", "hello")
	seen := w.until(r.ID, agent.RunEnded)
	text := ""
	for _, u := range seen {
		text += u.Delta
	}
	want(t, "text seen", text, "你好")
	var end agent.EndData
	must(t, json.Unmarshal(seen[len(seen)-1].Event.Data, &end))
	want(t, "the model that the end names", end.Model, "scripted")
	stored := w.end(r.ID)
	want(t, "status", stored.Status, agent.Succeeded)
	want(t, "reason", stored.FinishReason, agent.Completed)
	want(t, "usage", stored.Usage, agent.Usage{Input: 3, Output: 2})
	history, err := w.db.History(context.Background(), "ann", "t1", true, 10)
	must(t, err)
	want(t, "messages", len(history), 2)
	want(t, "answer", history[1].Text, "你好")
}

func TestCallsOfOneRoundRunTogetherAndAnswerInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.slow = make(chan struct{})
	w.model.script(turn{calls: []agent.ToolCall{call("a", "slow", `{}`), call("b", "look", `{"x":1}`)}})
	r := w.send("t1", "hello")
	w.until(r.ID, agent.CallEnded) // look has ended while slow runs
	close(w.tools.slow)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	var ids []string
	for _, m := range w.model.lastPrompt().Messages {
		if m.Role == agent.Tool {
			ids = append(ids, m.ToolCallID)
		}
	}
	want(t, "order of results", strings.Join(ids, ","), "a,b")
}

func TestUnknownToolAndBadArgumentsReachTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{
		call("a", "no_such", `{}`), call("b", "buy", `{"n":"two"}`), call("c", "look", `{}`),
	}})
	r := w.send("t1", "buy")
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	j := w.journal(r.ID)
	want(t, "unknown tool", j.Invocations[0].Status, capability.Invalid)
	want(t, "stage", j.Invocations[0].Receipt.Stage, capability.StageResolve)
	want(t, "bad arguments", j.Invocations[1].Status, capability.Invalid)
	want(t, "stage", j.Invocations[1].Receipt.Stage, capability.StageValidate)
	want(t, "sibling", j.Invocations[2].Status, capability.Succeeded)
	if !strings.Contains(string(j.Invocations[0].Result), `look`) {
		t.Errorf("the result of an unknown tool names none that exists: %s", j.Invocations[0].Result)
	}
}

func TestToolOutsideTheToolkitIsNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.db.SaveInstallation(context.Background(), skills.Installation{UserID: "ann", SkillID: "test.buy", Installed: true}))
	w.model.script(turn{calls: []agent.ToolCall{call("a", "note", `{}`)}})
	r := w.send("t1", "buy with the skill turned off")
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "noted", w.tools.count("note"), 0)
	want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Invalid)
	for _, d := range w.model.lastPrompt().Tools {
		if d.Name == "note" || d.Name == "buy" {
			t.Errorf("%s is offered although its skill is off", d.Name)
		}
	}
	if !strings.Contains(w.model.lastPrompt().Messages[0].Text, "turned the skill \"Buy\"") {
		t.Error("the instructions do not say that the skill is off")
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	q := w.question(r.ID)
	want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
	want(t, "bought before the yes", w.tools.count("buy"), 0)
	want(t, "summary", string(q.Summary), `{"total":"32.00"}`)

	c, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	want(t, "decision", c.Status, agent.ConfirmationConfirmed)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
	want(t, "settled", w.tools.count("settle"), 1)

	again, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	want(t, "the same again", again.Status, agent.ConfirmationConfirmed)
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationRejected)
	want(t, "the opposite", fault.CodeOf(err), fault.Conflict)
	_, err = w.decide(r.ID, "conf-unknown", agent.ConfirmationConfirmed)
	want(t, "unknown", fault.CodeOf(err), fault.NotFound)
	want(t, "bought", w.tools.count("buy"), 1)
}

func TestReject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	_, err := w.decide(r.ID, w.question(r.ID).ID, agent.ConfirmationRejected)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 0)
	want(t, "dismissed", w.tools.count("dismiss rejected"), 1)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "call", inv.Status, capability.Denied)
	if !strings.Contains(string(inv.Result), `"DENIED"`) {
		t.Errorf("the model reads %s, want DENIED in it", inv.Result)
	}
}

func TestExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
		began := time.Now()
		r := w.send("t1", "buy one")
		q := w.question(r.ID)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		if waited := time.Since(began); waited < 300*time.Second || waited > 301*time.Second {
			t.Errorf("expired after %s, want 300s", waited)
		}
		want(t, "dismissed", w.tools.count("dismiss expired"), 1)
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		want(t, "late", fault.CodeOf(err), fault.Gone)
		want(t, "bought", w.tools.count("buy"), 0)
		w.stop()
	})
}

// hitl-approve-and-deny-at-once: exactly one wins.
func TestConfirmAndRejectAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		before := w.tools.count("buy")
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
		r := w.send("t1", "buy one")
		q := w.question(r.ID)
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i, s := range []agent.ConfirmationStatus{agent.ConfirmationConfirmed, agent.ConfirmationRejected} {
			wg.Go(func() { _, errs[i] = w.decide(r.ID, q.ID, s) })
		}
		wg.Wait()
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("confirm: %v, reject: %v; want exactly one to win", errs[0], errs[1])
		}
		bought := w.tools.count("buy") - before
		want(t, "bought as decided", bought == 1, errs[0] == nil)
	}
}

func TestQuestionBlocksOnlyItsOwnCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.slow = make(chan struct{})
	w.model.script(turn{calls: []agent.ToolCall{
		call("a", "buy", `{"n":1}`), call("b", "slow", `{}`), call("c", "buy", `{"n":2}`),
	}})
	r := w.send("t1", "buy two things")
	w.until(r.ID, agent.ConfirmationRequired)
	open := awaitOpen(t, w, 2)
	_, err := w.decide(r.ID, open[0].ID, agent.ConfirmationRejected)
	must(t, err)
	_, err = w.decide(r.ID, open[1].ID, agent.ConfirmationConfirmed)
	must(t, err)
	for w.tools.count("settle") == 0 { // the confirmed call runs although slow does not end
		w.untilCount(r.ID, agent.CallEnded, 2)
	}
	close(w.tools.slow)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
	want(t, "results", len(w.journal(r.ID).Invocations), 3)
}

// untilCount follows a run until it has so many events of a type.
func (w *world) untilCount(runID string, of agent.EventType, n int) {
	w.t.Helper()
	for u, err := range w.runs.Follow(context.Background(), runID, run.Cursor{}) {
		must(w.t, err)
		if u.Event != nil && u.Event.Type == of {
			if n--; n == 0 {
				return
			}
		}
	}
}

func awaitOpen(t *testing.T, w *world, n int) []agent.Confirmation {
	t.Helper()
	runs, err := w.db.OpenRuns(context.Background())
	must(t, err)
	w.untilCount(runs[0].ID, agent.ConfirmationRequired, n)
	open, err := w.db.OpenConfirmations(context.Background(), "ann")
	must(t, err)
	want(t, "open questions", len(open), n)
	return open
}

func TestPrepareRefusesWithoutAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.tools.failing = true })
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	j := w.journal(r.ID)
	want(t, "questions", len(j.Confirmations), 0)
	want(t, "stage", j.Invocations[0].Receipt.Stage, capability.StagePrepare)
}

func TestNewInputWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	q := w.question(r.ID)
	_, err := w.runs.Create(context.Background(), run.Input{UserID: "ann", ThreadID: "t1", ClientRunID: "x", MessageID: "m2", Text: "hello?"})
	var open *run.OpenConfirmationError
	if !errors.As(err, &open) || open.Confirmation.ID != q.ID {
		t.Fatalf("got %v, want the open question", err)
	}
	other := w.send("t2", "another conversation goes on")
	want(t, "other conversation", w.end(other.ID).Status, agent.Succeeded)
}

func TestMessageSentAgainUnderItsOldID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		r, err := w.runs.Create(context.Background(), run.Input{UserID: "ann", ThreadID: "t1", ClientRunID: "x", MessageID: "m1", Text: "hello"})
		must(t, err)
		w.runs.Begin(r.ID)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	}
}

func TestRunsOfOneConversationAreSerial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.model.script(turn{do: func(ctx context.Context, onText func(string)) (agent.Answer, error) {
		<-gate
		onText("first")
		return agent.Answer{Text: "first", Complete: true}, nil
	}})
	first := w.send("t1", "one")
	w.until(first.ID, agent.ModelCalled)
	second := w.send("t1", "two")
	want(t, "second", w.journal(second.ID).Run.Status, agent.Pending)
	close(gate)
	want(t, "first", w.end(first.ID).Status, agent.Succeeded)
	want(t, "second", w.end(second.ID).Status, agent.Succeeded)
	var texts []string
	for _, m := range w.model.lastPrompt().Messages {
		if m.Role != agent.System {
			said, _, _ := strings.Cut(m.Text, "\n\n<hint>")
			texts = append(texts, said)
		}
	}
	want(t, "prompt", strings.Join(texts, "|"), "one|first|two")
}

func TestModelFailureKeepsThePartialTextOutOfLaterPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{do: func(_ context.Context, onText func(string)) (agent.Answer, error) {
		onText("half an ans")
		return agent.Answer{}, &agent.ModelError{Class: agent.Connection, Err: fault.New(fault.Unavailable, "the model cannot be reached")}
	}})
	r := w.send("t1", "one")
	stored := w.end(r.ID)
	want(t, "status", stored.Status, agent.Failed)
	want(t, "message", stored.ErrorMessage, "the model cannot be reached")
	want(t, "code", stored.ErrorCode, "connection")
	j := w.journal(r.ID)
	want(t, "kept", j.Messages[1].Text, "half an ans")
	want(t, "abandoned", j.Messages[1].Abandoned, true)
	w.end(w.send("t1", "two").ID)
	for _, m := range w.model.lastPrompt().Messages {
		if m.Text == "one" || m.Text == "half an ans" {
			t.Errorf("a failed run's %q is in the next prompt", m.Text)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	look := func(n int) turn {
		return turn{calls: []agent.ToolCall{call("c", "look", `{"n":`+string(rune('0'+n))+`}`)}}
	}
	cases := []struct {
		name   string
		bounds run.Bounds
		turns  []turn
		reason agent.FinishReason
		rounds int
	}{
		{"rounds", run.Bounds{Rounds: 2, Calls: 9, Repeats: 9, Active: time.Hour}, []turn{look(1), look(2)}, agent.MaxRounds, 3},
		{"calls", run.Bounds{Rounds: 9, Calls: 2, Repeats: 9, Active: time.Hour}, []turn{look(1), look(2)}, agent.MaxCalls, 3},
		{"repeats", run.Bounds{Rounds: 9, Calls: 9, Repeats: 3, Active: time.Hour}, []turn{look(1), look(1), look(1), look(1)}, agent.RepeatedCalls, 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) { w.cfg.Bounds = c.bounds })
			w.model.script(c.turns...)
			w.model.script(turn{say: []string{"so far"}, calls: []agent.ToolCall{call("z", "look", `{}`)}})
			r := w.end(w.send("t1", "go").ID)
			want(t, "status", r.Status, agent.Succeeded)
			want(t, "reason", r.FinishReason, c.reason)
			want(t, "rounds", w.model.rounds(), c.rounds)
			want(t, "tools in the last round", len(w.model.lastPrompt().Tools), 0)
		})
	}
}

// TestRepeatedCall: the third identical call in a row is not made; the model hears why, and the run goes on.
func TestRepeatedCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same := turn{calls: []agent.ToolCall{call("c", "look", `{"n":1}`)}}
	w.model.script(same, turn{calls: []agent.ToolCall{call("a", "look", `{"n":1}`), call("b", "look", `{"n":1}`), call("c", "look", `{"n":2}`)}}, turn{say: []string{"done"}})
	r := w.end(w.send("t1", "go").ID)
	want(t, "reason", r.FinishReason, agent.Completed)
	want(t, "calls that ran", w.tools.count("look"), 3)
	told := 0
	for _, m := range w.model.lastPrompt().Messages {
		if m.Role == agent.Tool && strings.Contains(m.Text, "repeated_calls") && strings.Contains(m.Text, "2 times just before") {
			told++
		}
	}
	want(t, "results that say so", told, 1)
}

func TestDecisionAboutOtherArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	q := w.question(r.ID)
	for _, id := range []string{"", q.ID} {
		_, err := w.runs.Decide(context.Background(), "ann", r.ID, id, agent.Decision{Status: agent.ConfirmationConfirmed, ArgsDigest: "sha256:00"})
		want(t, "code", fault.CodeOf(err), fault.Conflict)
	}
	want(t, "bought", w.tools.count("buy"), 0)
	_, err := w.runs.Decide(context.Background(), "ann", r.ID, "", agent.Decision{Status: agent.ConfirmationConfirmed, ArgsDigest: q.ArgsDigest})
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
}

// web-send-twice: what was sent while a run was at work stands behind that run's answer.
func TestMessagesDoNotInterleave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.model.script(turn{do: func(context.Context, func(string)) (agent.Answer, error) {
		<-gate
		return agent.Answer{Text: "first", Complete: true}, nil
	}})
	first := w.send("t1", "one")
	second := w.send("t1", "two")
	close(gate)
	w.end(first.ID)
	w.end(second.ID)
	history, err := w.db.History(context.Background(), "ann", "t1", false, 10)
	must(t, err)
	var texts []string
	for _, m := range history {
		texts = append(texts, m.Text)
	}
	want(t, "order", strings.Join(texts, "|"), "one|first|two|done")
}

func TestSilentModelOnABound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.cfg.Bounds.Rounds = 1 })
	again := turn{calls: []agent.ToolCall{call("a", "look", `{}`)}}
	w.model.script(again, again)
	r := w.end(w.send("t1", "go").ID)
	want(t, "status", r.Status, agent.Succeeded)
	want(t, "reason", r.FinishReason, agent.MaxRounds)
}

func TestMoreCallsThanTheBoundInOneAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.cfg.Bounds.Calls = 2 })
	w.model.script(turn{calls: []agent.ToolCall{call("a", "look", `{"n":1}`), call("b", "look", `{"n":2}`), call("c", "look", `{"n":3}`)}})
	r := w.end(w.send("t1", "go").ID)
	want(t, "reason", r.FinishReason, agent.MaxCalls)
	want(t, "looked", w.tools.count("look"), 2)
	want(t, "third", w.journal(r.ID).Invocations[2].Status, capability.Refused)
}
