package crash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
)

func callOf(e agent.Event) string {
	var d agent.CallData
	_ = json.Unmarshal(e.Data, &d)
	return d.InvocationID
}

func endOf(e agent.Event) string {
	var d agent.EndData
	_ = json.Unmarshal(e.Data, &d)
	return d.Status
}

// keptDir is a folder that stays when the test fails.
func keptDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agentmesh-crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the databases are kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

// report says what the program was put through and what came of it.
func (j *judge) report() string {
	t := j.w.tally
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s "+format+"\n", append([]any{name}, args...)...)
	}
	fmt.Fprintf(&b, "crash: seed %d, split %t\n", j.w.plan.seed, j.w.plan.split)
	line("kills", "%s; frozen %d", counts(t.kills), t.frozen)
	for _, c := range j.stored() {
		line(c.of, "%s", counts(c.by))
	}
	rings, reconnects := 0, 0
	for _, n := range j.w.kitchen.effects() {
		rings += n
	}
	for _, wa := range t.watchers {
		reconnects += wa.reconnects
	}
	line("effects", "%d rings of %d calls, %d tries again", rings, len(j.w.kitchen.effects()), sum(t.retries))
	line("model", "%d turns", j.w.model.turns)
	line("watchers", "%d, with %d reconnects", len(t.watchers), reconnects)
	line("answers", "%s; %d lost patience", counts(t.answers), t.left)
	line("restarts", "%d, p50 %s, p95 %s until they serve", len(t.starts), percentile(t.starts, 50).Round(time.Millisecond), percentile(t.starts, 95).Round(time.Millisecond))
	verdict := "every invariant holds"
	if len(j.broken) > 0 {
		verdict = "broken " + counts(j.byRule())
	}
	line("verdict", "%s", verdict)
	return b.String()
}

// count is how many there are of something, by how they stand.
type count struct {
	of string
	by map[string]int
}

// stored counts what the databases hold.
func (j *judge) stored() []count {
	runs, orders, questions, calls := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, journal := range j.journals {
		runs[journal.Run.Status.String()]++
		for _, c := range journal.Confirmations {
			questions[string(c.Status)]++
		}
		for _, inv := range journal.Invocations {
			calls[string(inv.Status)]++
		}
	}
	for _, o := range j.orders {
		state := string(o.Status)
		if o.Reason != "" {
			state += " (" + o.Reason + ")"
		}
		orders[state]++
	}
	return []count{{"runs", runs}, {"questions", questions}, {"orders", orders}, {"calls", calls}}
}

func (j *judge) byRule() map[string]int {
	out := map[string]int{}
	for _, b := range j.broken {
		rule, _, _ := strings.Cut(b, ":")
		out[rule]++
	}
	return out
}

func counts[K cmp.Ordered](m map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%v %d", name, m[name]))
	}
	return fmt.Sprintf("%d: %s", sum(m), strings.Join(parts, ", "))
}

func sum[K cmp.Ordered](m map[K]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
