package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// asked starts a run that asks about buying one.
func asked(t *testing.T, w *world) (agent.Run, agent.Confirmation) {
	t.Helper()
	w.model.script(turn{calls: []agent.ToolCall{call("a", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy one")
	return r, w.question(r.ID)
}

// edit says yes to other arguments.
func (w *world) edit(runID, id, args string) (agent.Confirmation, error) {
	return w.runs.Decide(context.Background(), "ann", runID, id, agent.Decision{
		Status: agent.ConfirmationConfirmed, By: "ann", Via: "test", Edited: &agent.Edit{Args: json.RawMessage(args)},
	})
}

func summarised(c capability.Call) (capability.Review, error) {
	return capability.Review{Prepared: capability.Prepared{Summary: json.RawMessage(`{"of":` + string(c.Args) + `}`)}}, nil
}

func TestEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.review = summarised
	r, q := asked(t, w)
	c, err := w.edit(r.ID, q.ID, `{"n":3}`)
	must(t, err)
	want(t, "what was asked", string(c.Args), `{"n":1}`)
	want(t, "what the person made of it", string(c.Edited.Args), `{"n":3}`)
	want(t, "its digest", c.Edited.ArgsDigest, capability.Digest(json.RawMessage(`{"n":3}`)))
	want(t, "what follows", string(c.Edited.Summary), `{"of":{"n":3}}`)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "what ran", string(inv.Args), `{"n":3}`)
	want(t, "what was proposed", string(inv.Proposed), `{"n":1}`)
	want(t, "result", string(inv.Result), `{"args":{"n":3},"did":"buy"}`)
	for _, m := range w.model.lastPrompt().Messages {
		if len(m.Calls) > 0 {
			want(t, "what the model reads", string(m.Calls[0].Args), `{"n":3}`)
		}
	}
	records, _, err := w.db.Records(context.Background(), "ann", capability.Selection{RunID: r.ID}, agent.Page{Limit: 10})
	must(t, err)
	want(t, "audited", records[0].ArgsDigest+records[0].ProposedDigest, capability.Digest(inv.Args)+capability.Digest(inv.Proposed))

	_, err = w.edit(r.ID, q.ID, ` { "n" : 3 } `)
	must(t, err)
	_, err = w.edit(r.ID, q.ID, `{"n":4}`)
	want(t, "another edit", fault.CodeOf(err), fault.Conflict)
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	want(t, "a plain yes", fault.CodeOf(err), fault.Conflict)
	want(t, "bought", w.tools.count("buy"), 1)
	want(t, "dropped", w.tools.count(`drop {"n":3}`), 0)
}

// TestEdit_ToWhatWasAsked: an edit that changes nothing is a plain yes.
func TestEdit_ToWhatWasAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := asked(t, w)
	c, err := w.edit(r.ID, q.ID, `{ "n": 1 }`)
	must(t, err)
	if c.Edited != nil {
		t.Errorf("got the edit %s", c.Edited.Args)
	}
	w.end(r.ID)
	want(t, "proposed apart", string(w.journal(r.ID).Invocations[0].Proposed), "")
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	_, err = w.edit(r.ID, q.ID, `{"n":2}`)
	want(t, "an edit afterwards", fault.CodeOf(err), fault.Conflict)
}

// TestEdit_Refused: the question stays as it was, whatever was wrong.
func TestEdit_Refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := asked(t, w)
	for name, c := range map[string]struct {
		args   string
		review error
		code   fault.Code
	}{
		"schema":       {`{"n":0}`, nil, fault.Invalid},
		"no_object":    {`3`, nil, fault.Invalid},
		"sold_out":     {`{"n":2}`, fault.New(fault.Conflict, "sold out"), fault.Conflict},
		"unknown_dish": {`{"n":2}`, fault.New(fault.NotFound, "no such dish"), fault.Invalid},
		"away":         {`{"n":2}`, fault.New(fault.Unavailable, "away"), fault.Unavailable},
		"bug":          {`{"n":2}`, errors.New("nil map"), fault.Internal},
	} {
		w.tools.review = func(capability.Call) (capability.Review, error) { return capability.Review{}, c.review }
		now, err := w.edit(r.ID, q.ID, c.args)
		want(t, name, fault.CodeOf(err), c.code)
		want(t, name+": the question", now.Status, agent.ConfirmationOpen)
	}
	w.tools.review = nil
	_, err := w.runs.Decide(context.Background(), "ann", r.ID, q.ID, agent.Decision{
		Status: agent.ConfirmationConfirmed, ArgsDigest: "sha256:other", Edited: &agent.Edit{Args: json.RawMessage(`{"n":2}`)},
	})
	want(t, "another digest", fault.CodeOf(err), fault.Conflict)
	want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	w.end(r.ID)
	want(t, "what ran", string(w.journal(r.ID).Invocations[0].Args), `{"n":1}`)
}

// TestPlainYes_ReviewFails: that the world cannot be looked at is no reason to lose a yes.
func TestPlainYes_ReviewFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.review = func(capability.Call) (capability.Review, error) {
		return capability.Review{}, fault.New(fault.Unavailable, "away")
	}
	r, q := asked(t, w)
	_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "bought", w.tools.count("buy"), 1)
}

// TestPlainYes_InTime: a look that takes long does not make a yes late.
func TestPlainYes_InTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools.review, w.tools.reviewTime = summarised, 4*time.Second
		r, q := asked(t, w)
		time.Sleep(time.Until(q.Deadline) - 2*time.Second)
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		must(t, err)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "bought", w.tools.count("buy"), 1)
		w.stop()
	})
}

// TestEdit_AskedTooOften: a card is not kept open for ever by making other things of it.
func TestEdit_AskedTooOften(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.review = func(c capability.Call) (capability.Review, error) {
		r, err := summarised(c)
		r.Ask = true
		return r, err
	}
	r, q := asked(t, w)
	for n := 2; ; n++ {
		_, err := w.edit(r.ID, q.ID, fmt.Sprintf(`{"n":%d}`, n))
		var replaced *run.ReplacedError
		if !errors.As(err, &replaced) {
			want(t, "code", fault.CodeOf(err), fault.Conflict)
			break
		}
		q = replaced.Confirmation
		if n > 100 {
			t.Fatal("it was asked about a hundred times")
		}
	}
	_, err := w.decide(r.ID, q.ID, agent.ConfirmationRejected)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
}

// TestAskAgain: a yes to what is no longer so opens another question in the place of the first.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{"plain": `{"n":1}`, "edited": `{"n":2}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tools.review = func(c capability.Call) (capability.Review, error) {
				r, err := summarised(c)
				r.Ask = w.tools.count("review "+args) == 1
				return r, err
			}
			r, q := asked(t, w)
			_, err := w.edit(r.ID, q.ID, args)
			var replaced *run.ReplacedError
			if !errors.As(err, &replaced) {
				t.Fatalf("got %v, want that another question took its place", err)
			}
			next := replaced.Confirmation
			want(t, "asked about", string(next.Args), args)
			want(t, "with", string(next.Summary), `{"of":`+args+`}`)
			want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
			want(t, "bought before the second yes", w.tools.count("buy"), 0)
			old, err := w.db.Confirmation(context.Background(), "ann", q.ID)
			must(t, err)
			want(t, "the old one", old.Status, agent.ConfirmationCancelled)
			want(t, "names the new one", old.ReplacedBy, next.ID)

			for _, status := range []agent.ConfirmationStatus{agent.ConfirmationConfirmed, agent.ConfirmationRejected} {
				_, err = w.decide(r.ID, q.ID, status)
				if replaced = nil; !errors.As(err, &replaced) || replaced.Confirmation.ID != next.ID {
					t.Errorf("%s to the old one: got %v, want the new one named", status, err)
				}
			}
			if _, err = w.decide(r.ID, "", agent.ConfirmationConfirmed); !errors.As(err, &replaced) {
				t.Errorf("a yes that names none: got %v", err)
			}
			_, err = w.decide(r.ID, next.ID, agent.ConfirmationConfirmed)
			must(t, err)
			want(t, "status", w.end(r.ID).Status, agent.Succeeded)
			want(t, "bought", w.tools.count("buy"), 1)
			want(t, "what ran", string(w.journal(r.ID).Invocations[0].Args), args)
			if proposed := string(w.journal(r.ID).Invocations[0].Proposed); (proposed == `{"n":1}`) != (name == "edited") {
				t.Errorf("proposed: %q", proposed)
			}
		})
	}
}

// TestAskAgain_ForANewWarning: a yes does not count for what the person was not warned of; a warning that was
// on the card, or is there no longer, is no reason to ask.
func TestAskAgain_ForANewWarning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown, now string
		again      bool
	}{
		"new":       {``, `[{"code":"spicy"}]`, true},
		"another":   {`[{"code":"spicy"}]`, `[{"code":"spicy"},{"code":"allergen","of":"fish"}]`, true},
		"the same":  {`[{"code":"spicy", "dish":"a"}]`, `[{"dish":"a","code":"spicy"}]`, false},
		"none left": {`[{"code":"spicy"}]`, `[]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tools.warnings = c.shown
			w.tools.review = func(call capability.Call) (capability.Review, error) {
				r, err := summarised(call)
				r.Warnings = json.RawMessage(c.now)
				return r, err
			}
			r, q := asked(t, w)
			_, err := w.edit(r.ID, q.ID, `{"n":2}`)
			var replaced *run.ReplacedError
			want(t, "asked again", errors.As(err, &replaced), c.again)
			if c.again {
				want(t, "with", string(replaced.Confirmation.Warnings), c.now)
			}
		})
	}
}

// TestAskAgain_WhileTheRunIsCancelled: whichever comes first, no question outlives its run.
func TestAskAgain_WhileTheRunIsCancelled(t *testing.T) {
	t.Parallel()
	for range 60 {
		w := newWorld(t)
		w.tools.review = func(c capability.Call) (capability.Review, error) {
			r, err := summarised(c)
			r.Ask = true
			return r, err
		}
		r, q := asked(t, w)
		var both sync.WaitGroup
		both.Go(func() { _, _ = w.edit(r.ID, q.ID, `{"n":2}`) })
		both.Go(func() { _, _ = w.runs.Cancel(context.Background(), "ann", r.ID) })
		both.Wait()
		want(t, "status", w.end(r.ID).Status, agent.Cancelled)
		for _, c := range w.journal(r.ID).Confirmations {
			if c.Status == agent.ConfirmationOpen {
				t.Fatalf("the question %s is open and its run has ended", c.ID)
			}
		}
		w.stop()
	}
}

// TestAskAgain_HasItsOwnTime: the new question's time begins anew, and then ends.
func TestAskAgain_HasItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools.review = func(capability.Call) (capability.Review, error) { return capability.Review{Ask: true}, nil }
		r, q := asked(t, w)
		time.Sleep(299 * time.Second)
		_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
		var replaced *run.ReplacedError
		if !errors.As(err, &replaced) {
			t.Fatal(err)
		}
		time.Sleep(299 * time.Second)
		synctest.Wait()
		want(t, "run", w.journal(r.ID).Run.Status, agent.AwaitingConfirmation)
		time.Sleep(2 * time.Second)
		want(t, "status", w.end(r.ID).Status, agent.Succeeded)
		want(t, "bought", w.tools.count("buy"), 0)
		want(t, "dismissed", w.tools.count("dismiss expired"), 1)
		_, err = w.decide(r.ID, replaced.Confirmation.ID, agent.ConfirmationConfirmed)
		want(t, "late", fault.CodeOf(err), fault.Gone)
		w.stop()
	})
}

// TestEdit_AtOnce: one of many answers counts; what the others held is given back.
func TestEdit_AtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tools.review = summarised
	r, q := asked(t, w)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := map[string]int{}
	for _, args := range []string{`{"n":1}`, `{"n":2}`, `{"n":3}`, `{"n":4}`, "no"} {
		wg.Go(func() {
			var err error
			if args == "no" {
				_, err = w.decide(r.ID, q.ID, agent.ConfirmationRejected)
			} else {
				_, err = w.edit(r.ID, q.ID, args)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won[args]++
			} else {
				want(t, args, fault.CodeOf(err), fault.Conflict)
			}
		})
	}
	wg.Wait()
	w.end(r.ID)
	inv := w.journal(r.ID).Invocations[0]
	if len(won) != 1 || (won["no"] == 1) != (inv.Status == capability.Denied) || (won["no"] == 0 && won[string(inv.Args)] != 1) {
		t.Errorf("%v were told that they stand, and the call is %s with %s", won, inv.Status, inv.Args)
	}
	for _, l := range w.tools.log {
		if args, ok := strings.CutPrefix(l, "review "); ok && (won[args] == 1) == (w.tools.count("drop "+args) == 1) {
			t.Errorf("%s: stood %v, given back %d times", args, won[args] == 1, w.tools.count("drop "+args))
		}
	}
}

// TestEdit_TooLate: an edit whose review takes longer than the question is open changes nothing.
func TestEdit_TooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools.review = func(c capability.Call) (capability.Review, error) {
			time.Sleep(10 * time.Second)
			return summarised(c)
		}
		r, q := asked(t, w)
		time.Sleep(295 * time.Second)
		_, err := w.edit(r.ID, q.ID, `{"n":2}`)
		want(t, "late", fault.CodeOf(err), fault.Gone)
		w.end(r.ID)
		want(t, "bought", w.tools.count("buy"), 0)
		want(t, "given back", w.tools.count(`drop {"n":2}`), 1)
		w.stop()
	})
}

// TestEdit_NoTimeToLook: when the question's time ends before an edit could be looked at, that is no cancelling of
// the person's: they hear that it took too long.
func TestEdit_NoTimeToLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools.review = func(capability.Call) (capability.Review, error) {
			time.Sleep(1600 * time.Millisecond)
			return capability.Review{}, fault.New(fault.Cancelled, "the call was cancelled")
		}
		r, q := asked(t, w)
		time.Sleep(time.Until(q.Deadline) - 2*time.Second)
		_, err := w.edit(r.ID, q.ID, `{"n":2}`)
		want(t, "out of time", fault.CodeOf(err), fault.Timeout)
		w.end(r.ID)
		w.stop()
	})
}

// TestEdit_Restart: a crash after the decision runs what the person made of it.
func TestEdit_Restart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, q := asked(t, w)
	w.stop()
	w.start()
	_, err := w.edit(r.ID, q.ID, `{"n":5}`)
	must(t, err)
	w.stop()
	w.start()
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "what ran", string(w.journal(r.ID).Invocations[0].Args), `{"n":5}`)
}
