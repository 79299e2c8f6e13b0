// Package trace joins the spans of one chain into one tree and says who took the time (D-90, D-91). The
// orchestrator's own spans are read from the journals of its runs, those of the other modules are theirs.
// It must not know where spans are kept or how modules are reached.
package trace

import (
	"cmp"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/span"
)

// Trace is one chain.
type Trace struct {
	TraceID    string    `json:"traceId"`
	Runs       []string  `json:"runs"` // the runs of the chain, oldest first
	StartedAt  time.Time `json:"startedAt"`
	DurationMS float64   `json:"durationMs"`
	Took       Took      `json:"took"`
	Missing    []string  `json:"missing"` // modules whose spans could not be had
	Spans      []Node    `json:"spans"`   // depth first, in the order of their starts
}

// Status says how a span ended.
type Status string

// The states of a span.
const (
	OK    Status = "ok"
	Error Status = "error"
	Open  Status = "open" // it lasts
)

// Node is a span in its place in the tree.
type Node struct {
	ID         string            `json:"spanId"`
	ParentID   string            `json:"parentId"` // empty for a root
	Depth      int               `json:"depth"`    // 0 for a root
	RunID      string            `json:"runId"`
	Module     string            `json:"module"`
	Kind       span.Kind         `json:"kind"`
	Name       string            `json:"name"`
	StartedAt  time.Time         `json:"startedAt"`
	DurationMS float64           `json:"durationMs"` // until now while it is open
	Status     Status            `json:"status"`
	Error      string            `json:"error,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

// Run is what the orchestrator knows of one run of a chain.
type Run struct {
	Journal    agent.Journal
	ModelCalls []agent.ModelCall // those that have ended
	Events     []agent.Event     // of a run that is open: they tell of the model call that has not ended
}

// Of joins the runs of one chain, which are one user's, with what other modules recorded. Spans of other
// runs are left out: whoever may read a run may not read every run that a client gave the same trace. So are
// those that somebody else had made in the name of this run.
func Of(traceID string, runs []Run, elsewhere []span.Span, missing []string, now time.Time) Trace {
	t := Trace{TraceID: traceID, Runs: []string{}, Missing: []string{}}
	t.Missing = slices.Compact(append(t.Missing, slices.Sorted(slices.Values(missing))...))
	var all []span.Span
	for _, r := range runs {
		t.Runs = append(t.Runs, r.Journal.Run.ID)
		all = append(all, ofJournal(r)...)
	}
	for _, s := range elsewhere {
		if i := slices.Index(t.Runs, s.RunID); i >= 0 && s.UserID == runs[i].Journal.Run.UserID {
			all = append(all, s)
		}
	}
	steps := stepsOf(once(all), now)
	t.Spans = order(steps)
	t.StartedAt, t.DurationMS = extent(steps)
	t.Took = took(steps)
	return t
}

// once drops what several modules handed on.
func once(spans []span.Span) []span.Span {
	seen := map[string]bool{}
	return slices.DeleteFunc(spans, func(s span.Span) bool {
		again := seen[s.ID]
		seen[s.ID] = true
		return again
	})
}

// step is a span with an end: one that lasts ends, for now, at the moment of looking.
type step struct {
	span.Span
	open bool
}

func stepsOf(spans []span.Span, now time.Time) []step {
	out := make([]step, 0, len(spans))
	for _, s := range spans {
		open := s.End.IsZero()
		if open {
			s.End = now
		}
		if s.End.Before(s.Start) { // two processes, two clocks
			s.End = s.Start
		}
		out = append(out, step{s, open})
	}
	return out
}

// order puts spans depth first. A span whose parent is missing hangs on its run.
func order(spans []step) []Node {
	known := map[string]bool{}
	for _, s := range spans {
		known[s.ID] = true
	}
	children := map[string][]step{}
	for _, s := range spans {
		parent := s.ParentID
		if !known[parent] || parent == s.ID {
			parent = ""
			if root := span.IDOf(s.RunID); s.ID != root && known[root] {
				parent = root
			}
		}
		s.ParentID = parent
		children[parent] = append(children[parent], s)
	}
	out := make([]Node, 0, len(spans))
	var visit func(parent string, depth int)
	visit = func(parent string, depth int) {
		of := children[parent]
		delete(children, parent) // a ring of parents, which only a liar makes, ends here
		slices.SortStableFunc(of, func(a, b step) int {
			return cmp.Or(a.Start.Compare(b.Start), b.End.Compare(a.End), cmp.Compare(a.ID, b.ID))
		})
		for _, s := range of {
			out = append(out, nodeOf(s, depth))
			visit(s.ID, depth+1)
		}
	}
	visit("", 0)
	return out
}

func nodeOf(s step, depth int) Node {
	n := Node{
		ID: s.ID, ParentID: s.ParentID, Depth: depth, RunID: s.RunID, Module: s.Module, Kind: s.Kind, Name: s.Name,
		StartedAt: s.Start, DurationMS: millis(s.End.Sub(s.Start)), Status: OK, Error: s.Error, Attributes: s.Attributes,
	}
	switch {
	case s.open:
		n.Status = Open
	case s.Error != "":
		n.Status = Error
	}
	return n
}

func extent(spans []step) (start time.Time, ms float64) {
	var end time.Time
	for i, s := range spans {
		if i == 0 || s.Start.Before(start) {
			start = s.Start
		}
		if s.End.After(end) {
			end = s.End
		}
	}
	return start, millis(end.Sub(start))
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
