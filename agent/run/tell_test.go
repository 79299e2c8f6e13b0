package run_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/capability"
)

// A run that tells of a task may do no more than the run that the task is of.
func TestTell_KeepsTheMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(waits("a", 25), turn{say: []string{"later"}}, turn{calls: []agent.ToolCall{call("b", "note", `{}`)}})
		in := run.Input{Origin: agent.ByAPI, UserID: "ann", ThreadID: "t1", ClientRunID: "l", MessageID: "m1", Text: "buy", Mode: capability.ModeExplore}
		r, err := w.runs.Create(context.Background(), in)
		must(t, err)
		w.runs.Begin(r.ID)
		sleepFor(time.Minute)
		for _, r := range w.runsOf("t1") {
			want(t, fmt.Sprint("mode of the run of origin ", r.Origin), r.Mode, capability.ModeExplore)
		}
		want(t, "writes of a conversation that may only read", w.tools.count("note"), 0)
	})
}

// A model that answers every end of a task with another slow call is stopped: nobody has said anything since.
func TestTell_Ends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		for n := range 400 {
			w.model.script(waits(fmt.Sprint("c", n), 25), turn{say: []string{"it runs on"}})
		}
		w.send("t1", "go")
		sleepFor(time.Hour)
		all := w.runsOf("t1")
		want(t, "runs after one message", len(all), 1+run.DefaultBounds().Tellings)
		want(t, "the last one", all[0].FinishReason, agent.MaxTellings)
		want(t, "the one before", all[1].FinishReason, agent.Completed)
	})
}

// An answer to a call that somebody outside makes is nothing that a person says: telling ends all the same.
func TestTell_EndsWhereAnswersComeBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		for n := range 40 {
			both := []agent.ToolCall{call(fmt.Sprint("w", n), "wait", `{"s":40}`), call(fmt.Sprint("o", n), "outside", `{}`)}
			w.model.script(turn{calls: both})
			if n > 0 {
				w.model.script(turn{say: []string{"it is known"}}) // by the run that an answer begins
			}
		}
		w.send("t1", "go")
		sleepFor(15 * time.Second)
		for range 20 {
			sleepFor(40 * time.Second) // a run has told, and its own call has become a task
			waiting, err := w.db.Waiting(context.Background(), "ann", "t1")
			must(t, err)
			if len(waiting) > 0 {
				inv := waiting[len(waiting)-1]
				_, _, err := w.runs.Answer(context.Background(), "ann", inv.RunID, answer(inv.CallID, `{"n":1}`))
				must(t, err)
			}
		}
		told := 0
		for _, r := range w.runsOf("t1") {
			if r.Origin == agent.ByTask {
				told++
			}
		}
		want(t, "runs that tell", told, run.DefaultBounds().Tellings)
		want(t, "runs that answers began", len(w.runsOf("t1"))-1-told, run.DefaultBounds().Tellings-1)
	})
}

// A person who closed the page did not ask for their task to be stopped, so they are told that it was.
func TestTell_OfATaskWhoseClientLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(waits("a", 100), thinks(time.Hour, "never"))
		r := w.sendBy(agent.ByAGUI, "t1", "go")
		ctx, leave := context.WithCancel(context.Background())
		go func() {
			for range w.runs.Follow(ctx, r.ID, run.Cursor{}) {
			}
		}()
		sleepFor(15 * time.Second)
		leave()
		sleepFor(2 * time.Minute)
		want(t, "run", string(w.journal(r.ID).Run.FinishReason), string(agent.ClientLeft))
		want(t, "task", w.task("t1").Status, capability.Cancelled)
		want(t, "hints", len(w.hints("t1")), 1)
	})
}
