package run_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

// TestFollowLosesNothingAndRepeatsNothing: watchers who come back again and again see each event and each character
// once, also when something else happens while a message is being written: here a task ends.
func TestFollowLosesNothingAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, patient)
		const text = "水煮牛肉 is 32.00 and rice is 2.00"
		w.model.script(waits("a", 15), turn{do: func(_ context.Context, onText func(string)) (agent.Answer, error) {
			for _, r := range text {
				onText(string(r))
				time.Sleep(time.Second)
			}
			return agent.Answer{Text: text, Complete: true}, nil
		}})
		r := w.send("t1", "go")
		var wg sync.WaitGroup
		for every := 1; every <= 5; every++ {
			wg.Go(func() { followAgain(t, w, r.ID, every, text) })
		}
		wg.Wait()
		sleepFor(time.Minute)
		w.toldOnce("t1")
		w.stop()
	})
}

// followAgain watches a run, and leaves and comes back after so many updates.
func followAgain(t *testing.T, w *world, runID string, every int, text string) {
	got, events := "", map[int64]int{}
	at, ended := run.Cursor{}, false
	for !ended {
		n := 0
		for u, err := range w.runs.Follow(context.Background(), runID, at) {
			if err != nil {
				t.Error(err)
				return
			}
			got += u.Delta
			if u.Event != nil {
				events[u.Event.Seq]++
				ended = u.Event.Type == agent.RunEnded
			}
			parsed, err := run.ParseCursor(u.At.String())
			if err != nil || parsed.Seq < at.Seq {
				t.Errorf("after %s came %s, %v", at, u.At, err)
				return
			}
			at = parsed
			if n++; n == every {
				break
			}
		}
	}
	if got != text {
		t.Errorf("coming back every %d: got %q, want %q", every, got, text)
	}
	for seq, n := range events {
		if n != 1 {
			t.Errorf("coming back every %d: event %d was seen %d times", every, seq, n)
		}
	}
}

func TestFollowAnEndedRunFromItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.end(w.send("t1", "go").ID)
	n := 0
	for range w.runs.Follow(context.Background(), r.ID, run.Cursor{Seq: r.Head}) {
		n++
	}
	want(t, "updates after the last event", n, 0)
	for _, err := range w.runs.Follow(context.Background(), r.ID, run.Cursor{Seq: r.Head + 1}) {
		want(t, "a place that does not exist", fault.CodeOf(err), fault.Invalid)
	}
}

func TestParseCursorRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"x", "-1", "1.", "1.x", "1.2.3", "1 2", ".5", "1.-2"} {
		if c, err := run.ParseCursor(bad); err == nil {
			t.Errorf("%q was read as %v", bad, c)
		}
	}
}
