package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/failpoint"
)

// The variables of `make crash`.
const (
	killsEnv  = "KILLS"
	seedEnv   = "SEED"
	mutantEnv = "MUTANT"
)

func number(name string, usual int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return usual
}

// TestCrash kills the program in one process and split, and judges. The short form is part of every test
// run; KILLS makes it long. It has the machine for itself: what is killed late is killed in fewer places.
func TestCrash(t *testing.T) {
	kills := int(number(killsEnv, 16))
	seed := number(seedEnv, 1)
	for _, split := range []bool{false, true} {
		t.Run(map[bool]string{false: "one_process", true: "split"}[split], func(t *testing.T) {
			visitors := 25
			if kills > 50 {
				visitors = 50
			}
			mutant := failpoint.Point(os.Getenv(mutantEnv))
			w := newWorld(t, plan{split: split, visitors: visitors, ttl: 3 * time.Second, seed: seed, mutant: mutant})
			w.siege(kills / 2)
			j := w.finish()
			t.Log(j.report())
			if mutant != "" && len(j.broken) == 0 {
				t.Errorf("%s was not caught", mutant)
			}
			if mutant == "" {
				j.complain()
			}
		})
	}
}

// siege lets visitors in and kills until it has killed often enough; then the visitors leave.
func (w *world) siege(kills int) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	var wg sync.WaitGroup
	for n := range w.plan.visitors {
		wg.Go(func() { w.visitor(n).visit(ctx) })
	}
	dice := rand.New(rand.NewPCG(uint64(w.plan.seed), 0))
	points := failpoint.Points()
	offset := dice.IntN(len(points))
	for n := range max(1, kills/2) {
		w.fall(dice, points[(offset+n)%len(points)])
	}
	stop()
	wg.Wait()
}

// fall makes a process fall twice, at a random time and then at a failpoint, and starts it again.
func (w *world) fall(dice *rand.Rand, p failpoint.Point) {
	victim := w.main
	if w.catalog != nil && (p == failpoint.CatalogBefore || p == failpoint.CatalogAfter || dice.IntN(3) == 0 && inStore(p)) {
		victim = w.catalog
	}
	pause(w.t.Context().Done(), time.Duration(100+dice.IntN(1400))*time.Millisecond)
	if w.catalog != nil && victim == w.main {
		w.trouble(dice)
	}
	victim.kill()
	w.tally.killed("random")
	where := string(p)
	nth := 1 + dice.IntN(3)
	if inStore(p) {
		nth = 1 + dice.IntN(200)
	}
	if fell := w.start(victim, fmt.Sprintf("%s=kill:%d", p, nth)); !fell {
		w.glance()
		if !victim.dies(reach) {
			victim.kill()
			where = "not reached: " + where
		}
		w.start(victim, "")
	}
	w.tally.killed(where)
	w.glance()
}

// trouble kills the catalog, or lets it answer late.
func (w *world) trouble(dice *rand.Rand) {
	if dice.IntN(2) == 0 {
		w.catalog.kill()
		w.tally.killed("random, catalog")
		w.start(w.catalog, "")
		w.glance()
		return
	}
	w.catalog.freeze(time.Duration(100+dice.IntN(2500)) * time.Millisecond)
	w.tally.note(func() { w.tally.frozen++ })
}

// reach is how long a failpoint may take to be reached before the process is killed all the same.
const reach = 4 * time.Second

// inStore tells of the points that every write passes.
func inStore(p failpoint.Point) bool {
	return p == failpoint.StoreBefore || p == failpoint.StoreAfter
}

// glance looks at what must hold at any moment.
func (w *world) glance() {
	w.t.Helper()
	broken, err := w.quick(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range broken {
		w.tally.oddity(b)
	}
}

// finish waits until nothing is at work any more, stops the program, and judges.
func (w *world) finish() *judge {
	w.t.Helper()
	w.settle()
	for _, p := range w.processes() {
		p.stop()
	}
	j, err := w.verdict(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// complain fails the test with what is broken.
func (j *judge) complain() {
	j.w.t.Helper()
	for i, b := range j.broken {
		if i == 20 {
			j.w.t.Errorf("… and %d more", len(j.broken)-i)
			break
		}
		j.w.t.Error(b)
	}
}

// settle gives the program time to bring everything to its end, also what it tries again a minute later.
func (w *world) settle() {
	w.t.Helper()
	for end := time.Now().Add(3 * patience); time.Now().Before(end); {
		j, err := w.open(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		var busy int
		err = j.runs.Read().QueryRowContext(w.t.Context(), `SELECT (SELECT count(*) FROM runs r WHERE r.state < 10 AND NOT EXISTS
				(SELECT 1 FROM confirmations c WHERE c.run_n = r.n AND c.status = 'OPEN'))
			+ (SELECT count(*) `+late+`)
			+ (SELECT count(*) FROM tasks t WHERE t.delivered_run = '' AND NOT EXISTS (SELECT 1 FROM runs o
				WHERE o.user_id = t.user_id AND o.thread_id = t.thread_id AND o.state < 10))
			+ (SELECT count(*) FROM orders o JOIN invocations i ON i.id = o.invocation_id WHERE o.status = 'PLACING' AND i.final)`).Scan(&busy)
		j.close()
		if err != nil {
			w.t.Fatal(err)
		}
		if busy == 0 {
			return
		}
		pause(w.t.Context().Done(), 50*time.Millisecond)
	}
}
