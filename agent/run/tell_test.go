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
