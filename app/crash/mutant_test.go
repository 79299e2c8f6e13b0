package crash

import (
	"strings"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/failpoint"
)

// scene is one kill at the place that matters to a rule.
type scene struct {
	fault string
	act   act
	want  string         // the invariant that breaks without the rule
	when  func(w *world) // when to kill, if the fault does not
}

// sceneOf gives the scene in which a rule is missed.
func sceneOf(t *testing.T, mutant failpoint.Point) scene {
	t.Helper()
	one := func(*visitor, string) string { return portions(plenty, 1) }
	switch mutant {
	case failpoint.NoKey: // the second attempt of the hold must find the first
		return scene{fault: string(failpoint.AfterReserve) + "=kill", act: act{name: "reject", say: one, answer: "reject"}, want: "I02"}
	case failpoint.Forgetful: // the bell has rung, and that it would was not written down
		return scene{fault: string(failpoint.BeforeResult) + "=kill", act: act{name: "ring", say: func(_ *visitor, tag string) string { return ring(tag) }}, want: "I10"}
	case failpoint.BestEffort: // the catalog does not take the stock
		return scene{fault: string(failpoint.CatalogBefore) + "=error", act: act{name: "order", say: one, answer: "confirm"}, want: "I02"}
	case failpoint.Early: // the run is accepted, and its commit takes a while
		return scene{fault: string(failpoint.StoreBefore) + "=delay:300ms", act: act{name: "talk", say: func(*visitor, string) string { return "" }}, want: "I05", when: (*world).awaitAccepted}
	}
	t.Fatalf("%s has no scene", mutant)
	return scene{}
}

// play plays a scene.
func (s scene) play(t *testing.T, mutant failpoint.Point) *judge {
	t.Helper()
	w := newWorld(t, plan{ttl: 3 * time.Second, mutant: mutant})
	w.main.kill() // the fault is not for what a first start does
	w.start(w.main, s.fault)
	v := w.visitor(1)
	var wg sync.WaitGroup
	wg.Go(func() { v.do(s.act) })
	if s.when != nil {
		s.when(w)
		w.main.kill()
		w.start(w.main, "")
	}
	kills := strings.HasSuffix(s.fault, "=kill")
	if kills {
		if !w.main.dies(patience) {
			t.Fatalf("%s was not reached", s.fault)
		}
		w.start(w.main, "")
	}
	wg.Wait()
	if !kills && s.when == nil { // the fault is over: what it kept from its end comes to it
		w.main.kill()
		w.start(w.main, "")
	}
	return w.finish()
}

// TestMutants shows that the judge has teeth: with a rule left out it names the invariant that breaks, and
// in the same scene with the rule it names none.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, mutant := range failpoint.Mutants() {
		t.Run(string(mutant), func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, mutant)
			if j := s.play(t, mutant); j.byRule()[s.want] == 0 {
				t.Errorf("broken is %q, want %s", j.broken, s.want)
			}
			s.play(t, "").complain()
		})
	}
}

// TestBestEffort_FailsRuns: the plain demo's rules also fail what a restart interrupts.
func TestBestEffort_FailsRuns(t *testing.T) {
	t.Parallel()
	s := scene{fault: string(failpoint.AfterAsk) + "=kill", act: act{name: "order", say: func(*visitor, string) string { return portions(plenty, 1) }}}
	if j := s.play(t, failpoint.BestEffort); j.byRule()["I04"] == 0 {
		t.Errorf("broken is %q, want I04", j.broken)
	}
}

// TestEveryPointIsHit: an order's journey, with a cancel and a restart, passes every place that is named.
func TestEveryPointIsHit(t *testing.T) {
	t.Parallel()
	var all []string
	for _, p := range failpoint.Points() {
		all = append(all, string(p)+"=log")
	}
	logged := strings.Join(all, ";")
	w := newWorld(t, plan{ttl: 3 * time.Second, fault: logged})
	v := w.visitor(1)
	one := func(*visitor, string) string { return portions(plenty, 1) }
	v.do(act{name: "order and take back", say: one, answer: "confirm", undo: true})
	v.do(act{name: "cancel", say: one, cancel: true})
	v.do(act{name: "simmer", say: func(*visitor, string) string { return simmer }})
	var wg sync.WaitGroup
	wg.Go(func() { v.do(act{name: "let expire", say: one}) })
	w.awaitQuestion()
	w.main.kill()
	w.start(w.main, logged)
	wg.Wait()
	w.finish().complain()
	for _, p := range failpoint.Points() {
		if !strings.Contains(w.main.log.String(), `"point":"`+string(p)+`"`) {
			t.Errorf("%s was not hit", p)
		}
	}
}

// awaitQuestion waits until a question is open.
func (w *world) awaitQuestion() {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		var open struct{ Items []struct{} }
		w.insist("u1", "GET", "/api/v1/confirmations?status=open", "", &open)
		if len(open.Items) > 0 {
			return
		}
	}
	w.t.Fatal("no question is open")
}

// awaitAccepted waits until a run was answered with 200.
func (w *world) awaitAccepted() {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		n := 0
		if w.tally.note(func() { n = len(w.tally.accepted) }); n > 0 {
			return
		}
		pause(w.t.Context().Done(), time.Millisecond)
	}
	w.t.Fatal("no run was accepted")
}
