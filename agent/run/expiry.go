package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
)

// seen remembers when this process first saw each open question, by the monotonic clock, which nobody can put back.
type seen struct {
	mu    sync.Mutex
	first map[string]time.Time
}

// since gives how long this process has known a question.
func (x *seen) since(id string) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.first == nil {
		x.first = map[string]time.Time{}
	}
	if _, known := x.first[id]; !known {
		x.first[id] = time.Now()
	}
	return time.Since(x.first[id])
}

// keep forgets all questions but these.
func (x *seen) keep(open []agent.Confirmation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id := range x.first {
		if !slices.ContainsFunc(open, func(c agent.Confirmation) bool { return c.ID == id }) {
			delete(x.first, id)
		}
	}
}

// timeLeft gives how long a question stays open: until its deadline, and at most its whole time after this
// process first saw it. So a clock that is put back by a day leaves no card open for a day; one that is put
// forward closes it early, openly (notes on durability, 3.5).
func (s *Service) timeLeft(c agent.Confirmation) time.Duration {
	return min(c.Deadline.Sub(s.deps.Now()), c.Deadline.Sub(c.CreatedAt)-s.seen.since(c.ID))
}

func expired() agent.Decision {
	return agent.Decision{Status: agent.ConfirmationExpired, Reason: "expired", By: "system", Via: "clock"}
}

// watchAgain lets the watcher look at the deadlines anew.
func (s *Service) watchAgain() {
	select {
	case s.expiry <- struct{}{}:
	default:
	}
}

// watchDeadlines expires open questions when their time is over. The deadlines are rows: a restart
// changes nothing about them.
func (s *Service) watchDeadlines(ctx context.Context) {
	for {
		timer := time.NewTimer(s.expireDue(ctx))
		select {
		case <-timer.C:
		case <-s.expiry:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// expireDue expires what is due, and gives the time until the next look.
func (s *Service) expireDue(ctx context.Context) time.Duration {
	const longest = time.Minute
	open, err := s.deps.Store.OpenConfirmations(ctx, "")
	if err != nil {
		return time.Second
	}
	s.seen.keep(open)
	wait := longest
	for _, c := range open {
		left := s.timeLeft(c)
		if left > 0 {
			wait = min(wait, left)
			continue
		}
		if _, err := s.decide(ctx, c, expired()); err != nil {
			flow.Log(ctx).Error().Err(err).Str("confirmationId", c.ID).Msg("question not expired")
			wait = min(wait, time.Second)
		}
	}
	return wait
}
