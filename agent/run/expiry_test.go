package run_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// jumping is a wall clock that can be put forward and back.
type jumping struct{ by atomic.Int64 }

func (c *jumping) Now() time.Time                      { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *jumping) jump(d time.Duration)                { c.by.Add(int64(d)) }
func (c *jumping) of(w *world)                         { w.now = c.Now }
func afterAWhile(d time.Duration)                      { time.Sleep(d); synctest.Wait() }
func (w *world) is(id string) agent.ConfirmationStatus { return w.journal(id).Confirmations[0].Status }

// TestClockPutBack: a card is open no longer than its time after this process first saw it, also across a restart.
func TestClockPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &jumping{}
		w := newWorld(t, clock.of)
		r, q := asked(t, w)
		clock.jump(-24 * time.Hour)
		afterAWhile(299 * time.Second)
		want(t, "in its time", w.is(r.ID), agent.ConfirmationOpen)
		afterAWhile(2 * time.Second)
		want(t, "after it", w.is(r.ID), agent.ConfirmationExpired)
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		want(t, "a late yes", fault.CodeOf(err), fault.Gone)
		want(t, "bought", w.tools.count("buy"), 0)
		w.stop()
	})
}

func TestClockPutBack_BeforeARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &jumping{}
		w := newWorld(t, clock.of)
		r, _ := asked(t, w)
		afterAWhile(100 * time.Second)
		w.stop()
		clock.jump(-24 * time.Hour)
		w.start()
		afterAWhile(299 * time.Second)
		want(t, "in its time", w.is(r.ID), agent.ConfirmationOpen)
		afterAWhile(2 * time.Second)
		want(t, "after it", w.is(r.ID), agent.ConfirmationExpired)
		w.stop()
	})
}

// TestClockPutForward: the question closes early, openly: a yes is refused, and nothing is done.
func TestClockPutForward(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &jumping{}
		w := newWorld(t, clock.of)
		r, q := asked(t, w)
		clock.jump(24 * time.Hour)
		c, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		want(t, "a yes", fault.CodeOf(err), fault.Gone)
		want(t, "question", c.Status, agent.ConfirmationExpired)
		want(t, "run", w.end(r.ID).Status, agent.Succeeded)
		want(t, "bought", w.tools.count("buy"), 0)

		second := w.send("t2", "buy one")
		w.end(second.ID) // the model has no more calls
		third, _ := asked(t, w)
		clock.jump(24 * time.Hour)
		afterAWhile(time.Minute) // nobody asks
		want(t, "found by the watcher", w.is(third.ID), agent.ConfirmationExpired)
		w.stop()
	})
}

// TestClockPutBack_Outcome: the week of a question about an outcome is a week too.
func TestClockPutBack_Outcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &jumping{}
		w := newWorld(t, clock.of)
		r, _ := interrupted(t, w)
		clock.jump(-30 * 24 * time.Hour)
		afterAWhile(7*24*time.Hour - time.Minute)
		want(t, "in its time", w.is(r.ID), agent.ConfirmationOpen)
		afterAWhile(2 * time.Minute)
		want(t, "after it", w.is(r.ID), agent.ConfirmationExpired)
		w.stop()
	})
}
