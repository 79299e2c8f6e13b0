package run_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/run"
)

func input() run.Input {
	return run.Input{Origin: agent.ByAGUI, UserID: "ann", ThreadID: "t1", ClientRunID: "label", MessageID: "m1", Text: "buy one"}
}

func (w *world) take(in run.Input) agent.Run {
	w.t.Helper()
	r, err := w.runs.Create(context.Background(), in)
	must(w.t, err)
	w.runs.Begin(r.ID)
	return r
}

// TestSameInput: what a client sends again, because it lost the answer, makes no second run.
func TestSameInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.take(input())
	q := w.question(r.ID)
	want(t, "while its question is open", w.take(input()).ID, r.ID)
	w.stop()
	w.start()
	want(t, "after a restart", w.take(input()).ID, r.ID)
	_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	w.end(r.ID)
	again := w.take(input())
	want(t, "after its end", again.ID, r.ID)
	want(t, "as it is", again.Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
}

func TestSameInput_AtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			if r, err := w.runs.Create(context.Background(), input()); err == nil {
				ids[i] = r.ID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		want(t, "run", id, ids[0])
	}
	list, _, err := w.db.Runs(context.Background(), "ann", "t1", agent.Page{Limit: 30})
	must(t, err)
	want(t, "runs", len(list), 1)
}

// TestOtherInput: whatever differs makes it another one, and so does a client that names nothing.
func TestOtherInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := map[string]string{}
	for name, change := range map[string]func(*run.Input){
		"as it is":      func(*run.Input) {},
		"user":          func(in *run.Input) { in.UserID = "bob" },
		"thread":        func(in *run.Input) { in.ThreadID = "t2" },
		"label":         func(in *run.Input) { in.ClientRunID = "label-2" },
		"message":       func(in *run.Input) { in.MessageID = "m2" },
		"text":          func(in *run.Input) { in.Text = "buy two" },
		"shifted":       func(in *run.Input) { in.ClientRunID, in.MessageID = "labelm", "1" },
		"no label":      func(in *run.Input) { in.ClientRunID = "" },
		"no message id": func(in *run.Input) { in.MessageID = "" },
	} {
		in := input()
		change(&in)
		r := w.take(in)
		if other, there := seen[r.ID]; there {
			t.Errorf("%s and %s are one run", name, other)
		}
		seen[r.ID] = name
		again := w.take(in)
		want(t, fmt.Sprintf("%s, sent again, is the same", name), again.ID == r.ID, in.ClientRunID != "" && in.MessageID != "")
		seen[again.ID] = name
	}
}
