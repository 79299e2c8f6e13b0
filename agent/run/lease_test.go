package run_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// cut is a database that a process cannot reach for a while, as far as its leases go: a partition, or a
// process that is frozen.
type cut struct {
	agent.RunStore
	off atomic.Bool
}

func (c *cut) Renew(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	if c.off.Load() {
		return nil, nil, errors.New("the database cannot be reached")
	}
	return c.RunStore.Renew(ctx, leases, until)
}

// two are two processes on one database. The first can be cut off from it.
func two(t *testing.T) (a, b *world, partition *cut) {
	t.Helper()
	partition = &cut{}
	a = newWorld(t, func(w *world) {
		w.open = rundb.OpenShared
		w.store = func(s agent.RunStore) agent.RunStore { partition.RunStore = s; return partition }
	})
	b = newWorld(t, func(w *world) { w.open, w.path = rundb.OpenShared, a.path })
	return a, b, partition
}

// TestLease_AnotherProcessGoesOn: a run of a process that cannot renew its lease is taken over, once, and the
// first process stops by itself before that.
func TestLease_AnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, partition := two(t)
		a.model.script(turn{calls: []agent.ToolCall{call("a", "look", `{}`)}}, speakAndHang("half"))
		r := a.send("t1", "go")
		a.speaking(r.ID)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "rounds elsewhere while the lease is renewed", b.model.rounds(), 0)
		partition.off.Store(true)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		want(t, "rounds elsewhere before the lease has ended", b.model.rounds(), 0)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		got := b.journal(r.ID)
		want(t, "status", got.Run.Status, agent.Succeeded)
		want(t, "answer", got.Messages[len(got.Messages)-1].Text, "done")
		want(t, "looked", a.tools.count("look")+b.tools.count("look"), 1)
		want(t, "rounds", a.model.rounds()+b.model.rounds(), 3)
		a.stop()
		b.stop()
	})
}

// late hears only after a while that it has a lease.
type late struct{ *cut }

func (l late) Append(ctx context.Context, s agent.Step) error {
	err := l.cut.Append(ctx, s)
	if s.Lease != nil {
		time.Sleep(10 * time.Second)
	}
	return err
}

// TestLease_CountsFromTheAsking: a lease whose answer came late ends no later for that.
func TestLease_CountsFromTheAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		partition := &cut{}
		partition.off.Store(true)
		w := newWorld(t, func(w *world) {
			w.store = func(s agent.RunStore) agent.RunStore { partition.RunStore = s; return late{partition} }
		})
		asked, worked := time.Now(), make(chan time.Duration, 1)
		w.model.script(turn{do: func(ctx context.Context, _ func(string)) (agent.Answer, error) {
			<-ctx.Done()
			worked <- time.Since(asked)
			return agent.Answer{}, ctx.Err()
		}})
		w.send("t1", "go")
		if got := <-worked; got >= 15*time.Second {
			t.Errorf("worked until %s after the lease was asked for, want less than the 15 s that it lasts", got)
		}
		w.stop()
	})
}

// TestLease_FrozenProcessWakesUp: what it was doing comes to its end long after another process has ended the
// run; nothing of it is written.
func TestLease_FrozenProcessWakesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, partition := two(t)
		thaw := make(chan struct{})
		a.model.script(turn{do: func(context.Context, func(string)) (agent.Answer, error) {
			<-thaw // it hears of nothing
			return agent.Answer{Calls: []agent.ToolCall{call("a", "look", `{}`)}, Complete: true}, nil
		}})
		r := a.send("t1", "go")
		a.until(r.ID, agent.ModelCalled)
		partition.off.Store(true)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		before := b.journal(r.ID)
		want(t, "status", before.Run.Status, agent.Succeeded)
		close(thaw)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		after := b.journal(r.ID)
		want(t, "events", after.Run.Head, before.Run.Head)
		want(t, "messages", len(after.Messages), len(before.Messages))
		want(t, "looked", a.tools.count("look"), 0)
		a.stop()
		b.stop()
	})
}

// TestLease_WaitingRunIsAnybodys: whoever takes the decision goes on with the run, whoever asked.
func TestLease_WaitingRunIsAnybodys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := two(t)
		a.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
		r := a.send("t1", "buy one")
		q := a.question(r.ID)
		_, err := b.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		must(t, err)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "status", b.journal(r.ID).Run.Status, agent.Succeeded)
		want(t, "bought", a.tools.count("buy")+b.tools.count("buy"), 1)
		want(t, "prepared", a.tools.count("prepare"), 1)
		a.stop()
		b.stop()
	})
}

// TestLease_TwoYesesOneAfterTheOther: what runs after the first yes, while the second question is open, is not
// run again after the second.
func TestLease_TwoYesesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools.buying = make(chan struct{})
		w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`), call("b", "buy", `{"n":2}`)}})
		r := w.send("t1", "buy one, and then two")
		w.question(r.ID)
		synctest.Wait()
		open, err := w.db.OpenConfirmations(t.Context(), "ann")
		must(t, err)
		for _, q := range open {
			_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
			must(t, err)
			synctest.Wait()
		}
		close(w.tools.buying)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "questions", len(open), 2)
		want(t, "bought", w.tools.count("buy"), 2)
		for _, inv := range w.journal(r.ID).Invocations {
			want(t, "attempts", inv.Attempts, 1)
		}
		w.stop()
	})
}

// TestLease_CancelElsewhere: a cancel that another process takes reaches the work within a heartbeat.
func TestLease_CancelElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := two(t)
		a.tools.slow = make(chan struct{})
		a.model.script(turn{calls: []agent.ToolCall{call("a", "slow", `{}`)}})
		r := a.send("t1", "go")
		a.until(r.ID, agent.CallProposed)
		go b.cancel(r.ID)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		got := b.journal(r.ID)
		want(t, "status", got.Run.Status, agent.Cancelled)
		want(t, "call", got.Invocations[0].Status, capability.Cancelled)
		a.stop()
		b.stop()
	})
}

// TestOrphan_Pending: a run that was taken in by a process which died before it began it.
func TestOrphan_Pending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := two(t)
		r := a.create(agent.ByAPI, "t1", "go")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "at first", b.journal(r.ID).Run.Status, agent.Pending)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "status", b.journal(r.ID).Run.Status, agent.Succeeded)
		want(t, "rounds", a.model.rounds()+b.model.rounds(), 1)
		a.stop()
		b.stop()
	})
}

// TestTransactions: what a run costs the store; BenchmarkJournal writes the same steps.
func TestTransactions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns []turn
		most  int64
	}{
		"plain":    {nil, 3},
		"one tool": {[]turn{{calls: []agent.ToolCall{call("a", "look", `{}`)}}}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model.script(c.turns...)
			before := w.db.Commits()
			r := w.send("t1", "go")
			want(t, "status", w.end(r.ID).Status, agent.Succeeded)
			w.stop() // what came after its end counts too
			if got := w.commits - before; got > c.most {
				t.Errorf("got %d transactions, want at most %d", got, c.most)
			}
		})
	}
}
