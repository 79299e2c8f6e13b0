package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

// Every prompt pairs calls with results (design, section 4), also while somebody outside has not answered.
func TestPrompt_EveryCallHasAResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "wait", `{"s":25}`), call("c1", "paint", `{"colour":"red"}`)}})
		w.input(paintInput("t", "paint it red, and wait"))
		sleepFor(time.Minute)
		want(t, "runs", len(w.runsOf("t")), 2)
		results := map[string]bool{}
		p := w.model.lastPrompt()
		for _, m := range p.Messages {
			if m.Role == agent.Tool {
				results[m.ToolCallID] = true
			}
		}
		for _, m := range p.Messages {
			for _, c := range m.Calls {
				if !results[c.ID] {
					t.Errorf("the call %s of %s has no result in the prompt: %s", c.ID, c.Name, said(p))
				}
			}
		}
	})
}

// What a client answered is what the run that goes on is about: it is no part of the past that gives way to a summary.
func TestPrompt_OfARunThatGoesOnHasItsAnswers(t *testing.T) {
	t.Parallel()
	w := smallWorld(t, func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("they painted") })
	var calls []agent.ToolCall
	var answers []agent.CallAnswer
	for i := range 6 {
		id := fmt.Sprint("c", i)
		calls = append(calls, call(id, "paint", fmt.Sprintf(`{"colour":"red %d"}`, i)))
		answers = append(answers, answer(id, "the result "+id+strings.Repeat("水煮牛肉", 400)))
	}
	w.model.script(turn{calls: calls})
	w.end(w.input(paintInput("t", "paint it red")).ID)
	w.end(w.input(paintInput("t", "", answers...)).ID)
	p := w.model.lastPrompt()
	tools, users := 0, 0
	for _, m := range p.Messages {
		switch m.Role {
		case agent.Tool:
			tools++
		case agent.User:
			users++
		}
	}
	if tools == 0 {
		t.Errorf("the run that goes on with 6 answers reads none of them; its prompt: %+v", p.Messages[1:])
	}
}

// What a run goes on from is read also where a run that told of a task, before the answer came, let it give way to a summary.
func TestPrompt_OfARunThatGoesOnReadsWhatASummaryCovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient, func(w *world) {
			w.model.size = small
			w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("they talked") }
		})
		w.model.script(turn{calls: []agent.ToolCall{call("a", "wait", `{"s":25}`), call("b", "wait", `{"s":60}`), call("c1", "paint", `{"colour":"red"}`)}})
		first := w.input(paintInput("t", "paint it red "+strings.Repeat("水煮牛肉", 800)))
		w.model.script(turn{say: []string{strings.Repeat("水煮牛肉", 700)}})
		sleepFor(2 * time.Minute)
		all := w.runsOf("t")
		want(t, "runs", len(all), 3)
		want(t, "compressions", len(w.compressions(all[0].ID)), 1)
		_, next, err := w.runs.Answer(context.Background(), "ann", first.ID, answer("c1", "it is red now"))
		must(t, err)
		w.end(next)
		p := w.model.lastPrompt()
		if text := promptText(p); !strings.Contains(text, "it is red now") || !strings.Contains(text, "paint it red") {
			t.Errorf("the run that goes on does not read the call and its answer: %.600s", text)
		}
		want(t, "first turn", p.Messages[1].Role, agent.User)
	})
}

// A run and those that go on from it give way together, so the first turn is a user's.
func TestPrompt_BeginsWithAUser(t *testing.T) {
	t.Parallel()
	w := smallWorld(t, func(context.Context, agent.Prompt) (agent.Answer, error) {
		return agent.Answer{}, fault.New(fault.Unavailable, "no summary")
	})
	w.model.script(turn{say: []string{strings.Repeat("水煮牛肉", 900)}, calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}}, turn{say: []string{"It is red."}})
	w.end(w.input(paintInput("t", "paint it red")).ID)
	w.end(w.input(paintInput("t", "", answer("c1", "done"))).ID)
	r := w.end(w.input(paintInput("t", strings.Repeat("水煮牛肉", 600))).ID)
	want(t, "status", r.Status, agent.Succeeded)
	p := w.model.lastPrompt()
	want(t, "first turn", p.Messages[1].Role, agent.User)
}

// Where a long run drops its oldest rounds, what it was told between them stays.
func TestPrompt_KeepsWhatIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient, func(w *world) {
			w.model.size = 2048
			w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("x") }
		})
		w.cfg.Bounds.Rounds = 30
		w.model.script(waits("a", 15), turn{calls: []agent.ToolCall{call("b", "hold", `{"s":20}`)}})
		for n := range 9 {
			args := fmt.Sprintf(`{"n":%d,"x":%q}`, n, strings.Repeat("水", 90))
			w.model.script(turn{say: []string{strings.Repeat("好", 90)}, calls: []agent.ToolCall{call(fmt.Sprint("l", n), "look", args)}})
		}
		w.send("t1", "go")
		sleepFor(10 * time.Minute)
		if got := hintsIn(w.model.lastPrompt()); got != 1 {
			t.Errorf("the last prompt tells of %d ended tasks, want 1", got)
		}
	})
}

// A summary that was made for a large model is cut for a smaller one.
func TestSummary_FitsASmallerModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.model.size = 32_768
		w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) {
			return summaryOf(strings.Repeat("水煮牛肉", 2000))
		}
	})
	last := w.talk("t1", 20)
	for len(w.compressions(last.ID)) == 0 {
		last = w.talk("t1", 1)
	}
	w.model.size = 4096
	w.model.refuse = func(p agent.Prompt) error {
		if run.Tokens(promptText(p)) <= 4096 {
			return nil
		}
		return &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.Invalid, "too long")}
	}
	r := w.end(w.send("t1", "and now?").ID)
	want(t, "status: "+r.ErrorMessage, r.Status, agent.Succeeded)
}

// An endpoint that refuses for length after it has begun to answer is not asked again: a watcher would read both beginnings.
func TestTooLong_NotAskedAgainOnceShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(
		turn{do: func(_ context.Context, onText func(string)) (agent.Answer, error) {
			onText("The first beginning. ")
			time.Sleep(100 * time.Millisecond)
			return agent.Answer{Text: "The first beginning. "}, &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.Invalid, "too long")}
		}},
		turn{do: func(_ context.Context, onText func(string)) (agent.Answer, error) {
			onText("Quite another answer, which is longer.")
			time.Sleep(100 * time.Millisecond)
			return agent.Answer{Text: "Quite another answer, which is longer.", Complete: true}, nil
		}},
	)
	for range 3 { // so that three quarters are enough for the prompt
		w.model.turns = append([]turn{{say: []string{strings.Repeat("水煮牛肉", 250)}}}, w.model.turns...)
		w.end(w.send("t1", "tell me more").ID)
	}
	w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("shorter") }
	r := w.send("t1", "go")
	var seen strings.Builder
	for _, u := range w.until(r.ID, agent.RunEnded) {
		seen.WriteString(u.Delta)
	}
	history, err := w.db.History(context.Background(), "ann", "t1", false, 100)
	must(t, err)
	want(t, "what the watcher read", seen.String(), history[len(history)-1].Text)
}

// What an endpoint says of one conversation's prompt makes no other one shorter.
func TestTooLong_ConcernsOneConversation(t *testing.T) {
	t.Parallel()
	once := false
	w := newWorld(t, func(w *world) {
		w.model.size = 32_768
		w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("shorter") }
	})
	w.talk("t2", 10)
	w.talk("t1", 3)
	w.model.refuse = func(agent.Prompt) error {
		if once {
			return nil
		}
		once = true
		return &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.Invalid, "too long")}
	}
	w.end(w.send("t1", "go").ID)
	last := w.talk("t2", 1) // 11,000 of 32,768 tokens
	want(t, "compressions of another conversation that has room", len(w.compressions(last.ID)), 0)
}
