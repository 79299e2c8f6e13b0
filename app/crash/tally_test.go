package crash

import (
	"slices"
	"sync"
	"time"
)

// tally is what the world outside knows: what the program has answered, and what it was put through.
type tally struct {
	mu       sync.Mutex
	accepted map[string]string // the runs that were answered with 200, and their users
	decided  map[string]string // questions by the status that was answered
	runs     map[string]string // runs by the status that a cancel was answered with
	orders   map[string]string // orders by the status that a cancel was answered with
	retries  map[string]int    // invocations of which a person said "try again", and how often
	watchers []*watcher
	odd      []string // answers that must not be
	kills    map[string]int
	frozen   int
	left     int // how often somebody lost patience
	starts   []time.Duration
	answers  map[int]int // by HTTP status
}

func newTally() *tally {
	return &tally{
		accepted: map[string]string{}, decided: map[string]string{}, runs: map[string]string{}, orders: map[string]string{},
		retries: map[string]int{}, kills: map[string]int{}, answers: map[int]int{},
	}
}

func (t *tally) note(what func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	what()
}

func (t *tally) killed(where string)     { t.note(func() { t.kills[where]++ }) }
func (t *tally) started(d time.Duration) { t.note(func() { t.starts = append(t.starts, d) }) }
func (t *tally) oddity(what string)      { t.note(func() { t.odd = append(t.odd, what) }) }

// percentile gives the share of starts that took no longer.
func percentile(d []time.Duration, share int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)-1, len(d)*share/100)]
}
