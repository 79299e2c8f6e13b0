package app_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
)

// sale is many people who want the same dish at the same moment, and how it went for them.
type sale struct {
	t        *testing.T
	m        *meshtest.Mesh
	name     string
	buyers   int
	portions int
	late     bool // the ones who were asked say yes only when all others have been refused

	mu      sync.Mutex
	refused []string // what they were told
}

func (s *sale) user(i int) string { return fmt.Sprintf("%s-%02d", s.name, i) }

// run lets everybody buy, and gives the orders that were confirmed.
func (s *sale) run() (confirmed int) {
	s.t.Helper()
	var everybody, refused sync.WaitGroup
	refused.Add(s.buyers - s.portions)
	start := make(chan struct{})
	for i := range s.buyers {
		everybody.Go(func() {
			<-start
			s.buy(i, &refused)
		})
	}
	close(start)
	everybody.Wait()
	for i := range s.buyers {
		for _, o := range orders(s.m, s.user(i)) {
			if o.Status != "CONFIRMED" || o.Total != "32.00" {
				s.t.Errorf("%s has the order %+v, want it confirmed or none", s.user(i), o)
			}
			confirmed++
		}
	}
	return confirmed
}

// buy orders one portion in one of the two languages, and says yes when asked.
func (s *sale) buy(i int, refused *sync.WaitGroup) {
	text, soldOut := "帮我订一份水煮牛肉。", "今天已售完"
	if i%2 == 1 {
		text, soldOut = "Order one Sichuan boiled beef", "Sichuan boiled beef is sold out today."
	}
	talk := s.m.Say(s.user(i), "t-"+s.name, text)
	first := talk.Until(func(e agui.Event) bool {
		return e.Name == agui.ConfirmationRequired || e.Type == agui.RunFinished || e.Type == agui.RunError
	})
	if first.Name == agui.ConfirmationRequired {
		if s.late {
			refused.Wait()
		}
		if status, body := talk.Decide("confirm", openQuestion(s.m, s.user(i))); status != 200 {
			s.t.Errorf("%s said yes: %d %s", s.user(i), status, body)
		}
		talk.Rest()
		return
	}
	defer refused.Done()
	talk.Close()
	said := talk.Text()
	s.mu.Lock()
	s.refused = append(s.refused, said)
	s.mu.Unlock()
	if first.Type != agui.RunFinished || !strings.Contains(said, soldOut) {
		s.t.Errorf("%s was refused with %s %q, want that it is sold out, in the language of the order", s.user(i), first.Type, said)
	}
}

// TestBuyers: whatever the number of people who want the last portions at once, over TCP, exactly those
// portions are sold, and the others are told at once, not when a hold runs out. order-oversell is one of the rounds.
func TestBuyers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
	m := meshtest.At(t, p.url)
	oversell := sale{t: t, m: m, name: "order-oversell", buyers: 20, portions: 5, late: true}
	sales := []*sale{&oversell}
	for i := range *buyersRounds {
		sales = append(sales, &sale{t: t, m: m, name: fmt.Sprintf("round-%02d", i+1), buyers: 50, portions: 10, late: i%2 == 0})
	}
	for _, s := range sales {
		mustRun(t, "catalog", "restock", "food-001", fmt.Sprint(s.portions), "--data", dir)
		began := time.Now()
		confirmed, left := s.run(), 0
		if left = stock(t, m, "food-001"); confirmed != s.portions || left != 0 {
			t.Errorf("%s: %d orders and %d portions left, want %d and 0", s.name, confirmed, left, s.portions)
		}
		t.Logf("%s: %d buyers, %d portions: %d orders, %d refused, %d left, %s", s.name, s.buyers, s.portions, confirmed, len(s.refused), left, time.Since(began).Round(time.Millisecond))
	}
	checkSound(t, p)
	p.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}
