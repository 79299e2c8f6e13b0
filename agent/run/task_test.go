package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// patient is a world in which calls go on in the background after ten seconds.
func patient(w *world) { w.cfg.OffloadAfter = 10 * time.Second }

// sleepFor lets virtual time pass, and all that is due by then happen.
func sleepFor(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// hints lists what the runs of a conversation were told, oldest first.
func (w *world) hints(thread string) []agent.Message {
	w.t.Helper()
	all, err := w.db.History(context.Background(), "ann", thread, false, 100)
	must(w.t, err)
	var out []agent.Message
	for _, m := range all {
		if m.Role == agent.Hint {
			out = append(out, m)
		}
	}
	return out
}

func (w *world) task(thread string) agent.Task {
	w.t.Helper()
	all := w.allTasks(thread)
	if len(all) != 1 {
		w.t.Fatalf("got %d tasks, want 1: %+v", len(all), all)
	}
	return all[0]
}

func (w *world) allTasks(thread string) []agent.Task {
	w.t.Helper()
	found, _, err := w.db.Tasks(context.Background(), "ann", agent.TaskFilter{ThreadID: thread}, agent.Page{Limit: 50})
	must(w.t, err)
	return found
}

func (w *world) runsOf(thread string) []agent.Run {
	w.t.Helper()
	found, _, err := w.db.Runs(context.Background(), "ann", thread, agent.Page{Limit: 50})
	must(w.t, err)
	return found
}

// toldOnce checks that each task that has ended was told of by exactly one hint, in the run that says so.
func (w *world) toldOnce(thread string) {
	w.t.Helper()
	hints := w.hints(thread)
	for _, t := range w.allTasks(thread) {
		n := 0
		for _, h := range hints {
			if strings.HasPrefix(h.Text, "task "+t.ID+": ") {
				n++
				want(w.t, "the run that told", h.RunID, t.DeliveredRun)
			}
		}
		want(w.t, "told of "+t.ID, n, 1)
	}
}

func hintsIn(p agent.Prompt) (n int) {
	for _, m := range p.Messages {
		n += strings.Count(m.Text, "<hint>task ")
	}
	return n
}

func waits(id string, seconds int) turn {
	return turn{calls: []agent.ToolCall{call(id, "wait", fmt.Sprintf(`{"s":%d}`, seconds))}}
}

// thinks is a model round that takes its time.
func thinks(d time.Duration, says string) turn {
	return turn{do: func(ctx context.Context, onText func(string)) (agent.Answer, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return agent.Answer{}, ctx.Err()
		}
		onText(says)
		return agent.Answer{Text: says, Complete: true}, nil
	}}
}

// TestTask_ToldInTheSameRun: the round goes on with the placeholder, and the outcome comes before its next one.
func TestTask_ToldInTheSameRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(waits("a", 25), turn{calls: []agent.ToolCall{call("b", "hold", `{"s":20}`)}})
		r := w.send("t1", "go")
		sleepFor(9 * time.Second)
		want(t, "rounds before the time is over", w.model.rounds(), 1)
		sleepFor(2 * time.Second)
		want(t, "rounds after it", w.model.rounds(), 2)
		j := w.journal(r.ID)
		task := w.task("t1")
		want(t, "call", j.Invocations[0].Status, capability.Offloaded)
		want(t, "task", task.Status, capability.Running)
		read := w.model.lastPrompt().Messages
		want(t, "what the model reads", read[len(read)-1].Text, string(agent.Placeholder(task.ID)))
		if placeholder := read[len(read)-1].Text; !strings.Contains(placeholder, `"status":"OFFLOADED"`) || !strings.Contains(placeholder, task.ID) {
			t.Errorf("the placeholder is %s", placeholder)
		}
		sleepFor(15 * time.Second) // 26 s: it has ended, and the run waits for another call
		want(t, "task", w.task("t1").Status, capability.Succeeded)
		want(t, "told", w.task("t1").DeliveredRun, "")
		want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Succeeded)
		want(t, "result", string(w.journal(r.ID).Invocations[0].Result), `{"waited":25}`)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "rounds", w.model.rounds(), 3)
		read = w.model.lastPrompt().Messages
		want(t, "hints in its prompt", hintsIn(w.model.lastPrompt()), 1)
		want(t, "the last that the model reads", read[len(read)-1].Text, "<hint>task "+task.ID+`: wait finished: {"arguments":{"s":25},"result":{"waited":25}}</hint>`)
		synctest.Wait()
		want(t, "runs", len(w.runsOf("t1")), 1)
		w.toldOnce("t1")
		seen := types(w.until(r.ID, agent.RunEnded))
		want(t, "events of the task", strings.Count(seen, "call_offloaded"), 1)
		want(t, "events of its end", strings.Count(seen, "task_ended"), 1)
		w.stop()
	})
}

// TestTask_ToldByARunOfItsOwn: the run has ended, so the program begins one that tells the person.
func TestTask_ToldByARunOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn   turn
		status capability.Status
		words  string
	}{
		"success": {waits("a", 25), capability.Succeeded, `wait finished: {"arguments":{"s":25},"result":{"waited":25}}`},
		"failure": {turn{calls: []agent.ToolCall{call("a", "wait", `{"s":25,"fail":true}`)}}, capability.Failed, `wait failed: {"arguments":{"s":25,"fail":true},"result":{"error":`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, patient)
				w.model.script(c.turn, turn{say: []string{"it runs on"}}, turn{say: []string{"here it is"}})
				r := w.send("t1", "go")
				sleepFor(11 * time.Second)
				want(t, "status", w.journal(r.ID).Run.Status, agent.Succeeded)
				want(t, "call", w.journal(r.ID).Invocations[0].Status, capability.Offloaded)
				sleepFor(15 * time.Second)
				want(t, "task", w.task("t1").Status, c.status)
				runs := w.runsOf("t1")
				want(t, "runs", len(runs), 2)
				want(t, "origin", runs[0].Origin, agent.ByTask)
				want(t, "status", runs[0].Status, agent.Succeeded)
				hint := w.hints("t1")[0]
				if !strings.Contains(hint.Text, c.words) {
					t.Errorf("got the hint %s, want %s in it", hint.Text, c.words)
				}
				history, err := w.db.History(t.Context(), "ann", "t1", true, 10)
				must(t, err)
				want(t, "the result stays what the model was given", history[2].Text, string(agent.Placeholder(w.task("t1").ID)))
				want(t, "answer", history[len(history)-1].Text, "here it is")
				want(t, "hints in its prompt", hintsIn(w.model.lastPrompt()), 1)
				want(t, "events", types(w.until(runs[0].ID, agent.RunEnded)),
					"run_started skills_routed task_ended hint_given model_called «here it is» message_ended model_answered run_ended")
				w.toldOnce("t1")
				sleepFor(time.Hour) // nobody watches it, and nothing tells it again
				want(t, "runs", len(w.runsOf("t1")), 2)
				w.stop()
			})
		})
	}
}

// TestTask_TwoEndAsTheRunEnds: each is told once, whichever way it falls.
func TestTask_TwoEndAsTheRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(
			turn{calls: []agent.ToolCall{call("a", "wait", `{"s":25}`), call("b", "wait", `{"s":25}`), call("c", "wait", `{"s":24}`)}},
			thinks(15*time.Second, "they run on"), // its answer comes as they end
		)
		w.send("t1", "go")
		sleepFor(time.Minute)
		want(t, "tasks", len(w.allTasks("t1")), 3)
		w.toldOnce("t1")
		for _, r := range w.runsOf("t1") {
			want(t, "status", r.Status, agent.Succeeded)
		}
		w.stop()
	})
}

// TestTask_Stop ends the call's work and tells of that once.
func TestTask_Stop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(waits("a", 100))
		w.send("t1", "go")
		sleepFor(12 * time.Second)
		task := w.task("t1")
		_, err := w.runs.CancelTask(t.Context(), "bob", task.ID)
		want(t, "another's", fault.CodeOf(err), fault.NotFound)
		for range 2 {
			got, err := w.runs.CancelTask(t.Context(), "ann", task.ID)
			must(t, err)
			want(t, "task", got.Status, capability.Cancelled)
		}
		sleepFor(time.Minute)
		want(t, "cancelled", w.tools.count("wait cancelled"), 1)
		want(t, "call", w.journal(task.RunID).Invocations[0].Status, capability.Cancelled)
		want(t, "runs", len(w.runsOf("t1")), 2)
		w.toldOnce("t1")

		w.model.script(waits("b", 20))
		w.send("t2", "go")
		sleepFor(time.Minute)
		_, err = w.runs.CancelTask(t.Context(), "ann", w.task("t2").ID)
		want(t, "one that has ended", fault.CodeOf(err), fault.Conflict)
		w.stop()
	})
}

// TestTask_StopsWithItsRun: who cancels a run means all of it; nobody is told of what they asked for.
func TestTask_StopsWithItsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(waits("a", 100), thinks(time.Hour, "never"))
		r := w.send("t1", "go")
		sleepFor(12 * time.Second)
		_, err := w.runs.Cancel(t.Context(), "ann", r.ID)
		must(t, err)
		sleepFor(time.Minute)
		want(t, "cancelled", w.tools.count("wait cancelled"), 1)
		task := w.task("t1")
		want(t, "task", task.Status, capability.Cancelled)
		want(t, "told of by", task.DeliveredRun, r.ID)
		want(t, "runs", len(w.runsOf("t1")), 1)
		w.stop()
	})
}

// TestTask_WaitsForAPerson: the run that asks is the one that tells, after the decision.
func TestTask_WaitsForAPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "wait", `{"s":25}`), call("b", "buy", `{"n":1}`)}})
		r := w.send("t1", "buy one")
		sleepFor(time.Minute)
		want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
		want(t, "task", w.task("t1").Status, capability.Succeeded)
		want(t, "runs", len(w.runsOf("t1")), 1)
		if seen := types(w.until(r.ID, agent.TaskEnded)); !strings.Contains(seen, "confirmation_required") {
			t.Errorf("saw %s", seen)
		}
		_, err := w.decide(r.ID, w.question(r.ID).ID, agent.ConfirmationConfirmed)
		must(t, err)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "told of by", w.task("t1").DeliveredRun, r.ID)
		w.toldOnce("t1")
		w.stop()
	})
}

// TestTask_SettlesLikeAnyCall: what has an effect settles it when it ends, and not before.
func TestTask_SettlesLikeAnyCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.tools.buying = make(chan struct{})
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
		r := w.send("t1", "buy one")
		_, err := w.decide(r.ID, w.question(r.ID).ID, agent.ConfirmationConfirmed)
		must(t, err)
		sleepFor(20 * time.Second)
		want(t, "status", w.journal(r.ID).Run.Status, agent.Succeeded)
		want(t, "settled", w.tools.count("settle"), 0)
		close(w.tools.buying)
		sleepFor(time.Second)
		want(t, "settled", w.tools.count("settle"), 1)
		want(t, "task", w.task("t1").Status, capability.Succeeded)
		records, _, err := w.db.Records(t.Context(), "ann", capability.Selection{RunID: r.ID}, agent.Page{Limit: 10})
		must(t, err)
		want(t, "audit records", len(records), 1)
		w.stop()
	})
}

// TestTask_ForegroundIsWaitedFor: a capability may forbid it.
func TestTask_ForegroundIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "hold", `{"s":25}`)}})
		r := w.send("t1", "go")
		sleepFor(20 * time.Second)
		want(t, "rounds", w.model.rounds(), 1)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "tasks", len(w.allTasks("t1")), 0)
		w.stop()
	})
}

// restart ends the process and starts another one on the same database.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// TestTask_Restart: what does no harm runs again, without its run; of the rest nobody knows, and that is told.
func TestTask_Restart(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		call   agent.ToolCall
		strict bool
		status capability.Status
		begun  int
	}{
		"repeatable":     {call("a", "wait", `{"s":25}`), false, capability.Succeeded, 2},
		"not repeatable": {call("a", "note", `{}`), false, capability.Indeterminate, 1},
		"strict":         {call("a", "wait", `{"s":25}`), true, capability.Failed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, patient)
				w.tools.note = hang
				w.model.script(turn{calls: []agent.ToolCall{c.call}}, turn{say: []string{"it runs on"}}, turn{say: []string{"told"}})
				r := w.send("t1", "buy: go")
				sleepFor(12 * time.Second)
				want(t, "status", w.journal(r.ID).Run.Status, agent.Succeeded)
				w.cfg.Strict = c.strict
				w.restart()
				sleepFor(time.Minute)
				want(t, "begun", w.tools.count(c.call.Name), c.begun)
				want(t, "task", w.task("t1").Status, c.status)
				want(t, "runs", len(w.runsOf("t1")), 2)
				w.toldOnce("t1")
				want(t, "answer", w.journal(w.task("t1").DeliveredRun).Run.Status, agent.Succeeded)
				w.stop()
			})
		})
	}
}

// untelling is a process that ends between an outcome and its telling.
type untelling struct{ agent.RunStore }

func (untelling) CreateTelling(context.Context, agent.Run) error { return agent.ErrBusy }

func TestTask_RestartBeforeItIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient, func(w *world) { w.store = func(s agent.RunStore) agent.RunStore { return untelling{s} } })
		w.model.script(waits("a", 25))
		w.send("t1", "go")
		sleepFor(30 * time.Second)
		want(t, "task", w.task("t1").Status, capability.Succeeded)
		want(t, "told of by", w.task("t1").DeliveredRun, "")
		w.store = func(s agent.RunStore) agent.RunStore { return s }
		w.restart()
		sleepFor(time.Second)
		want(t, "begun", w.tools.count("wait"), 1)
		w.toldOnce("t1")
		w.stop()
	})
}

func (c *cut) RenewTasks(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	if c.off.Load() {
		return nil, nil, fault.New(fault.Unavailable, "the database cannot be reached")
	}
	return c.RunStore.RenewTasks(ctx, leases, until)
}

func (c *cut) OrphanTasks(ctx context.Context, now time.Time) ([]string, error) {
	if c.off.Load() {
		return nil, fault.New(fault.Unavailable, "the database cannot be reached")
	}
	return c.RunStore.OrphanTasks(ctx, now)
}

// TestTask_AnotherProcessGoesOn: a task whose process cannot renew its lease is taken over, and what the first one
// comes to is not written.
func TestTask_AnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		partition := &cut{}
		a := newWorld(t, patient, func(w *world) {
			w.open = rundb.OpenShared
			w.store = func(s agent.RunStore) agent.RunStore { partition.RunStore = s; return partition }
		})
		b := newWorld(t, patient, func(w *world) { w.open, w.path = rundb.OpenShared, a.path })
		a.model.script(waits("a", 60))
		a.send("t1", "go")
		sleepFor(40 * time.Second)
		want(t, "begun elsewhere while the lease is renewed", b.tools.count("wait"), 0)
		partition.off.Store(true)
		sleepFor(25 * time.Second)
		want(t, "ended here", a.tools.count("wait cancelled"), 1)
		want(t, "begun elsewhere", b.tools.count("wait"), 1)
		sleepFor(2 * time.Minute)
		want(t, "task", b.task("t1").Status, capability.Succeeded)
		want(t, "claims", b.task("t1").Epoch, 2)
		b.toldOnce("t1")
		a.stop()
		b.stop()
	})
}

// TestTask_OutlivesTheRunThatTellsOfIt: a hint is true whatever became of the run that it was told in, so a later prompt
// holds it.
func TestTask_OutlivesTheRunThatTellsOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		broken := turn{do: func(context.Context, func(string)) (agent.Answer, error) {
			return agent.Answer{}, fault.New(fault.Invalid, "no such model")
		}}
		w.model.script(waits("a", 25), turn{say: []string{"it runs on"}}, broken)
		w.send("t1", "go")
		sleepFor(time.Minute)
		want(t, "the run that tells", w.runsOf("t1")[0].Status, agent.Failed)
		w.end(w.send("t1", "and?").ID)
		want(t, "hints in the next prompt", hintsIn(w.model.lastPrompt()), 1)
		w.toldOnce("t1")
		w.stop()
	})
}

// TestCalls_Together is the show of parallel calls: the time of the slowest, the order of the calls, and one
// that fails stops no other.
func TestCalls_Together(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(turn{calls: []agent.ToolCall{
			call("a", "wait", `{"s":2}`), call("b", "wait", `{"s":1,"fail":true}`), call("c", "wait", `{"s":2}`),
		}})
		began := time.Now()
		r := w.send("t1", "go")
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		if took := time.Since(began); took < 2*time.Second || took >= 3*time.Second {
			t.Errorf("took %s, want about 2 s", took)
		}
		var got []string
		for _, m := range w.model.lastPrompt().Messages {
			if m.Role == agent.Tool {
				got = append(got, m.ToolCallID)
			}
		}
		want(t, "order of results", strings.Join(got, ","), "a,b,c")
		calls := w.journal(r.ID).Invocations
		want(t, "first", calls[0].Status, capability.Succeeded)
		want(t, "failing", calls[1].Status, capability.Failed)
		want(t, "last", calls[2].Status, capability.Succeeded)
		w.stop()
	})
}

// TestCalls_BesideAQuestion: the result of a call is in the stream before a person has answered about another one.
func TestCalls_BesideAQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`), call("b", "wait", `{"s":2}`)}})
		r := w.send("t1", "buy one")
		began := time.Now()
		w.until(r.ID, agent.CallEnded)
		want(t, "its result came after", time.Since(began).Round(time.Second), 2*time.Second)
		want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
		want(t, "bought", w.tools.count("buy"), 0)
		_, err := w.decide(r.ID, w.question(r.ID).ID, agent.ConfirmationConfirmed)
		must(t, err)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		w.stop()
	})
}
