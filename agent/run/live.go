package run

import (
	"sync"
	"time"
)

// coalesce is how long pieces of text are collected before watchers are woken for them.
const coalesce = 40 * time.Millisecond

// live holds what is not in the journal: the text that a model is writing right now, and who watches.
// Watchers read the journal for everything else, so losing this loses nothing.
type live struct {
	mu   sync.Mutex
	runs map[string]*liveRun
}

type liveRun struct {
	changed   chan struct{} // closed at the next change
	messageID string
	said      []byte
	pending   bool // watchers will be woken for text
	watchers  int
	trouble   error // why nothing of the run can be written at present
}

func newLive() *live { return &live{runs: map[string]*liveRun{}} }

func (l *live) run(runID string) *liveRun {
	r := l.runs[runID]
	if r == nil {
		r = &liveRun{changed: make(chan struct{})}
		l.runs[runID] = r
	}
	return r
}

// notify wakes the watchers of a run of which something was written.
func (l *live) notify(runID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil {
		r.trouble = nil
		r.wake()
	}
}

// tell wakes the watchers of a run for text.
func (l *live) tell(runID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil {
		r.wake()
	}
}

// trouble tells the watchers of a run that nothing of it can be written, until something is.
func (l *live) trouble(runID string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.run(runID)
	r.trouble = err
	r.wake()
}

// troubled tells why nothing of a run can be written, or nil.
func (l *live) troubled(runID string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil {
		return r.trouble
	}
	return nil
}

func (r *liveRun) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
	r.pending = false
}

// say adds to the text of a message, and wakes the watchers a little later.
func (l *live) say(runID, messageID, delta string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.run(runID)
	if r.messageID != messageID {
		r.messageID, r.said = messageID, nil
	}
	r.said = append(r.said, delta...)
	if !r.pending {
		r.pending = true
		time.AfterFunc(coalesce, func() { l.tell(runID) })
	}
}

// text gives what has been said of a message so far.
func (l *live) text(runID, messageID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil && r.messageID == messageID {
		return string(r.said)
	}
	return ""
}

// look gives the message being written and a channel that is closed at the next change.
func (l *live) look(runID string) (messageID, said string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.run(runID)
	return r.messageID, string(r.said), r.changed
}

// watch counts a watcher in; the function it gives counts it out and tells how many are left.
func (l *live) watch(runID string) (leave func() int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run(runID).watchers++
	return func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		r := l.run(runID)
		r.watchers--
		return r.watchers
	}
}

func (l *live) watchers(runID string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil {
		return r.watchers
	}
	return 0
}

// forget drops what is held for a run that has ended and that nobody watches.
func (l *live) forget(runID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[runID]; r != nil && r.watchers == 0 {
		delete(l.runs, runID)
	}
}
