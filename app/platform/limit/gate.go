// Package limit bounds how much happens at once. It must not know what.
package limit

import (
	"sync"

	"agentmesh/app/platform/fault"
)

// Gate lets a number of things happen at once: so many for each user, so many for all together. The limits
// do not depend on each other: one user's crowd never takes the place of everybody.
type Gate struct {
	what    string
	perUser int
	total   int

	mu     sync.Mutex
	inside map[string]int
	all    int
}

// NewGate makes a gate. What is named in refusals, in the plural, such as "open streams".
func NewGate(what string, perUser, total int) *Gate {
	return &Gate{what: what, perUser: perUser, total: total, inside: map[string]int{}}
}

// Enter lets a user in, or refuses as rate_limited. Whoever was let in calls leave once.
func (g *Gate) Enter(user string) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.inside[user] >= g.perUser:
		return nil, fault.New(fault.RateLimited, "there are %d %s of yours already; end one first", g.perUser, g.what)
	case g.all >= g.total:
		return nil, fault.New(fault.RateLimited, "there are %d %s already; try again later", g.total, g.what)
	}
	g.inside[user]++
	g.all++
	return sync.OnceFunc(func() { g.leave(user) }), nil
}

func (g *Gate) leave(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.inside[user]--; g.inside[user] == 0 {
		delete(g.inside, user)
	}
}
