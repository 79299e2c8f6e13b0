package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/limit"
)

func TestGate(t *testing.T) {
	t.Parallel()
	g := limit.NewGate("open streams", 2, 3)
	enter := func(user string, want fault.Code) func() {
		t.Helper()
		leave, err := g.Enter(user)
		if fault.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %q", user, err, want)
		}
		return leave
	}
	first := enter("ann", "")
	enter("ann", "")
	enter("ann", fault.RateLimited) // her own limit
	last := enter("bob", "")
	enter("carol", fault.RateLimited) // the limit of all
	first()
	first() // a second time does nothing
	enter("carol", "")
	enter("dora", fault.RateLimited)
	last()
	enter("ann", "")
	enter("ann", fault.RateLimited)
}

func TestGate_AtOnce(t *testing.T) {
	t.Parallel()
	const most = 5
	g := limit.NewGate("calls", most, most)
	var inside, refused atomic.Int32
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			leave, err := g.Enter("ann")
			if err != nil {
				refused.Add(1)
				return
			}
			if n := inside.Add(1); n > most {
				t.Errorf("%d are inside, want at most %d", n, most)
			}
			inside.Add(-1)
			leave()
		})
	}
	all.Wait()
	for range most {
		if _, err := g.Enter("ann"); err != nil {
			t.Fatalf("after all have left: %v", err)
		}
	}
}
