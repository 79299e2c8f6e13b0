// Package failpoint puts faults at named places of the running program, so that a test can kill, delay or
// fail it exactly there. Nothing is armed unless a variable of the environment says so; then a place costs
// one comparison. It must know nothing of what happens at the places.
package failpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// Env is the variable that arms the program: points with what is done there, separated by semicolons, such
// as "order.commit.after=kill:3;catalog.commit.before=delay:500ms;outbox.deliver.before=error".
//
//	kill[:n]         the process ends at the nth hit, as by kill -9
//	delay:duration   every hit waits
//	error[:code]     every hit gives a fault, of the code unavailable if none is named
//	log              every hit is logged
//	skip             of a mutant: the rule is left out
const Env = "AGENTMESH_FAILPOINTS"

// armed is what Arm has set, or nil. It is the one package variable of the program that changes: a place
// deep in the code is reached by no other way that costs nothing.
var armed atomic.Pointer[set]

type set map[Point]*trap

// trap is what waits at a place.
type trap struct {
	action string
	nth    int64
	hits   atomic.Int64
	delay  time.Duration
	code   fault.Code
}

// Arm sets faults for the rest of the process's life; the empty text sets none. It is called once, before
// any place can be hit.
func Arm(text string) error {
	if text == "" {
		return nil
	}
	s, err := parse(text)
	if err != nil {
		return err
	}
	armed.Store(&s)
	return nil
}

func parse(text string) (set, error) {
	s := set{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";") {
		name, what, _ := strings.Cut(strings.TrimSpace(entry), "=")
		t, err := parseTrap(Point(name), what)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", Env, entry, err)
		}
		s[Point(name)] = t
	}
	return s, nil
}

func parseTrap(p Point, what string) (*trap, error) {
	action, value, _ := strings.Cut(what, ":")
	t := &trap{action: action, nth: 1, code: fault.Unavailable}
	mutant := slices.Contains(Mutants(), p)
	if !mutant && !slices.Contains(Points(), p) {
		return nil, errors.New("there is no such point")
	}
	if mutant != (action == "skip") {
		return nil, errors.New("a mutant is skipped, and nothing else is")
	}
	var err error
	switch action {
	case "skip", "log":
	case "kill":
		if value != "" {
			t.nth, err = strconv.ParseInt(value, 10, 64)
		}
		if t.nth < 1 {
			err = errors.New("hits are counted from 1")
		}
	case "delay":
		t.delay, err = time.ParseDuration(value)
	case "error":
		if value != "" {
			t.code = fault.Code(value)
		}
		if !fault.Known(t.code) {
			err = fmt.Errorf("there is no fault %q", value)
		}
	default:
		err = fmt.Errorf("there is no action %q: kill, delay, error or log", action)
	}
	return t, err
}

// Hit is the place p. When nothing is armed there it gives nil at once.
func Hit(ctx context.Context, p Point) error {
	s := armed.Load()
	if s == nil {
		return nil
	}
	return s.hit(ctx, p)
}

// On tells whether a rule is left out.
func On(mutant Point) bool {
	s := armed.Load()
	return s != nil && (*s)[mutant] != nil
}

func (s *set) hit(ctx context.Context, p Point) error {
	t := (*s)[p]
	if t == nil {
		return nil
	}
	switch t.action {
	case "kill":
		if t.hits.Add(1) == t.nth {
			kill()
		}
	case "delay":
		wait(ctx, t.delay)
	case "error":
		return fault.New(t.code, "a fault was put at %s", p)
	case "log":
		flow.Log(ctx).Info().Str("point", string(p)).Msg("failpoint")
	}
	return nil
}

// kill ends the process as kill -9 does, and lets nothing happen after it.
func kill() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
