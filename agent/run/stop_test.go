package run_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// speakAndHang is a model that says something and then waits for its context.
func speakAndHang(text string) turn {
	return turn{do: func(ctx context.Context, onText func(string)) (agent.Answer, error) {
		onText(text)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}}
}

func (w *world) cancel(runID string) agent.Run {
	w.t.Helper()
	r, err := w.runs.Cancel(context.Background(), "ann", runID)
	must(w.t, err)
	return r
}

func TestCancelWhileTheModelSpeaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(speakAndHang("I was say"))
	r := w.send("t1", "go")
	w.speaking(r.ID)
	got := w.cancel(r.ID)
	want(t, "status", got.Status, agent.Cancelled)
	want(t, "reason", got.FinishReason, agent.ByUser)
	want(t, "again", w.cancel(r.ID).Status, agent.Cancelled)
	want(t, "kept text", w.journal(r.ID).Messages[1].Abandoned, true)
	want(t, "next run", w.end(w.send("t1", "and now").ID).Status, agent.Succeeded)
}

func TestCancelWhileACallRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.slow = make(chan struct{})
	w.model.script(turn{calls: []agent.ToolCall{call("a", "slow", `{}`)}})
	r := w.send("t1", "go")
	w.until(r.ID, agent.CallProposed)
	want(t, "status", w.cancel(r.ID).Status, agent.Cancelled)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "call", inv.Status, capability.Cancelled)
	if len(inv.Result) == 0 {
		t.Error("the cancelled call has no result")
	}
}

// hitl-approve-after-stop
func TestCancelWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	q := w.question(r.ID)
	want(t, "status", w.cancel(r.ID).Status, agent.Cancelled)
	want(t, "dismissed", w.tools.count("dismiss cancelled"), 1)
	c, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	want(t, "approve after stop", fault.CodeOf(err), fault.Gone)
	want(t, "question", c.Status, agent.ConfirmationCancelled)
	want(t, "bought", w.tools.count("buy"), 0)
}

func TestCancelOfAnEndedRunIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send("t1", "go")
	w.end(r.ID)
	_, err := w.runs.Cancel(context.Background(), "ann", r.ID)
	want(t, "code", fault.CodeOf(err), fault.Conflict)
	_, err = w.runs.Cancel(context.Background(), "bob", r.ID)
	want(t, "somebody else", fault.CodeOf(err), fault.NotFound)
}

func TestCancelOfAPendingRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(speakAndHang("x"))
	first := w.send("t1", "one")
	w.speaking(first.ID)
	second := w.send("t1", "two")
	want(t, "second", w.cancel(second.ID).Status, agent.Cancelled)
	want(t, "first", w.journal(first.ID).Run.Status, agent.Running)
	want(t, "first", w.cancel(first.ID).Status, agent.Cancelled)
}

func TestRestartDuringAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	q := w.question(r.ID)
	w.stop()
	w.start()
	want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
	_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
	want(t, "prepared", w.tools.count("prepare"), 1)
}

func TestRestartWhileTheModelSpeaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "look", `{}`)}}, speakAndHang("half"))
	r := w.send("t1", "go")
	w.speaking(r.ID)
	w.stop()
	w.start()
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "looked", w.tools.count("look"), 1)
	messages := w.journal(r.ID).Messages
	want(t, "abandoned", messages[2].Abandoned, true)
	want(t, "seen", types(w.until(r.ID, agent.RunEnded)), "run_started skills_routed model_called call_proposed model_answered call_ended "+
		"model_called «half» message_ended model_called «done» message_ended model_answered run_ended")
	want(t, "answer", messages[3].Text, "done")
}

// A kill leaves no time to say that a message ends; the next process does.
func TestKilledWhileTheModelSpeaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(speakAndHang("half"))
	r := w.send("t1", "go")
	w.speaking(r.ID)
	w.stop()
	db := openRaw(t, w.path)
	for _, statement := range []string{
		`DELETE FROM run_events WHERE type = 'message_ended'`, `DELETE FROM messages WHERE role = 'assistant'`,
		`UPDATE runs SET head = (SELECT max(seq) FROM run_events)`,
	} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	must(t, db.Close())
	w.start()
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "seen", types(w.until(r.ID, agent.RunEnded)), "run_started skills_routed model_called message_ended "+
		"model_called «done» message_ended model_answered run_ended")
}

func TestStrictRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}}, speakAndHang("half"))
	waiting := w.send("t1", "buy one")
	q := w.question(waiting.ID)
	speaking := w.send("t2", "go")
	w.speaking(speaking.ID)
	w.stop()
	w.cfg.Strict = true
	w.start()
	for _, id := range []string{waiting.ID, speaking.ID} {
		r := w.journal(id).Run
		want(t, "status", r.Status, agent.Failed)
		want(t, "reason", r.FinishReason, agent.Restarted)
	}
	want(t, "dismissed", w.tools.count("dismiss restarted"), 1)
	_, err := w.decide(waiting.ID, q.ID, agent.ConfirmationConfirmed)
	want(t, "late", fault.CodeOf(err), fault.Gone)
}

// execute changes the database behind the engine's back.
func (w *world) execute(statement string, args ...any) {
	w.t.Helper()
	db := openRaw(w.t, w.path)
	_, err := db.Exec(statement, args...)
	must(w.t, err)
	must(w.t, db.Close())
}

// TestNobodyWatchesForTooLong: how long a run goes on depends on who started it, whoever watched it
// (design, section 4).
func TestNobodyWatchesForTooLong(t *testing.T) {
	t.Parallel()
	for origin, grace := range map[agent.Origin]time.Duration{agent.ByAPI: time.Minute, agent.ByAGUI: 10 * time.Second, "schedule": 0} {
		t.Run(string(origin), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model.script(speakAndHang("x"))
				r := w.sendBy(origin, "t1", "go")
				w.speaking(r.ID) // and leaves
				if grace == 0 {
					time.Sleep(5 * time.Minute)
					synctest.Wait()
					want(t, "nobody started it to watch it", w.journal(r.ID).Run.Status, agent.Running)
					w.stop()
					return
				}
				time.Sleep(grace - time.Second)
				synctest.Wait()
				want(t, "before the grace time", w.journal(r.ID).Run.Status, agent.Running)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				got := w.journal(r.ID).Run
				want(t, "after it", got.Status, agent.Cancelled)
				want(t, "reason", got.FinishReason, agent.ClientLeft)
				w.stop()
			})
		})
	}
}

// A cancel that could not be written is told of: the run goes on with nobody to see it.
func TestALeftRunThatCannotBeCancelledIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		w := newWorld(t, func(w *world) { w.log = log })
		w.model.script(speakAndHang("x"))
		r := w.send("t1", "go")
		w.speaking(r.ID) // and leaves
		w.execute(`CREATE TRIGGER refused BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'disk is full'); END`)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		w.execute(`DROP TRIGGER refused`)
		if said := log.String(); !strings.Contains(said, r.ID) || !strings.Contains(said, "disk is full") {
			t.Errorf("it logged %q, want the run and the cause", said)
		}
		w.stop()
	})
}

func TestALeftQuestionStaysOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
		r := w.send("t1", "buy one")
		q := w.question(r.ID)
		time.Sleep(200 * time.Second)
		synctest.Wait()
		want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		must(t, err)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		w.stop()
	})
}

// TestCancelWinsOverTheAnswer: the cancel was recorded while the model spoke its last words, and nothing told
// the worker. What was said is kept as never finished, and does not enter later prompts.
func TestCancelWinsOverTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{do: func(ctx context.Context, onText func(string)) (agent.Answer, error) {
		onText("all of it")
		open, err := w.db.OpenRuns(ctx)
		must(t, err)
		_, err = w.db.RequestCancel(ctx, open[0].ID, agent.ByUser)
		must(t, err)
		return agent.Answer{Text: "all of it", Complete: true}, nil
	}})
	r := w.send("t1", "go")
	got := w.end(r.ID)
	want(t, "status", got.Status, agent.Cancelled)
	want(t, "reason", got.FinishReason, agent.ByUser)
	said := w.journal(r.ID).Messages[1]
	want(t, "kept", said.Text, "all of it")
	want(t, "abandoned", said.Abandoned, true)
	want(t, "seen", types(w.until(r.ID, agent.RunEnded)), "run_started skills_routed model_called «all of it» message_ended run_ended")
}

// claiming is a store in which something happens while a run is being claimed.
type claiming struct {
	agent.RunStore
	once sync.Once
	then func(runID string)
}

func (c *claiming) Claim(ctx context.Context, runID, owner string, now, until time.Time) (agent.Lease, error) {
	lease, err := c.RunStore.Claim(ctx, runID, owner, now, until)
	c.once.Do(func() { c.then(runID) })
	return lease, err
}

// TestCancelWhileARunIsTakenUp: a cancel that comes between a decision and its worker's first look ends the run at once,
// and is no error.
func TestCancelWhileARunIsTakenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const claimTime = time.Second
		var w *world
		var log strings.Builder
		var cancelling sync.WaitGroup
		w = newWorld(t, func(x *world) {
			x.log = &log
			x.store = func(s agent.RunStore) agent.RunStore {
				return &claiming{RunStore: s, then: func(runID string) { cancelling.Go(func() { w.cancel(runID) }); time.Sleep(claimTime) }}
			}
		})
		r, q := asked(t, w)
		synctest.Wait() // the worker that asked has left
		began := time.Now()
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		must(t, err)
		want(t, "status", w.end(r.ID).Status, agent.Cancelled)
		want(t, "took", time.Since(began), claimTime)
		want(t, "bought", w.tools.count("buy"), 0)
		cancelling.Wait()
		w.stop()
		want(t, "errors", log.String(), "")
	})
}
