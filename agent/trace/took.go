package trace

import (
	"math"
	"slices"
	"time"

	"agentmesh/app/platform/span"
	"agentmesh/capability"
)

// Took divides the time of a chain's runs, in milliseconds, among those who could have been quicker. The
// parts add up to the time that the runs lasted.
type Took struct {
	ModelMS  float64 `json:"modelMs"`
	MCPMS    float64 `json:"mcpMs"`
	AgentMS  float64 `json:"agentMs"`
	PersonMS float64 `json:"personMs"`
	OwnMS    float64 `json:"ownMs"` // the orchestrator itself
}

// took gives each moment of the runs to whoever was at work at the lowest level just then; of several to
// the first of model, MCP, agent. To a person only the time goes in which nothing else happened.
func took(spans []step) Took {
	var out Took
	now := moment{spans: map[string]step{}, children: map[string]int{}, leaves: map[span.Kind]int{}}
	var last time.Time
	for _, e := range edges(spans) {
		if now.runs > 0 {
			*out.part(now.lowest()) += millis(e.at.Sub(last))
		}
		last = e.at
		if e.begins {
			now.begin(e.step)
		} else {
			now.end(e.step)
		}
	}
	return out.rounded()
}

// rounded leaves no more digits than a microsecond has.
func (t Took) rounded() Took {
	for _, part := range []*float64{&t.ModelMS, &t.MCPMS, &t.AgentMS, &t.PersonMS, &t.OwnMS} {
		*part = math.Round(*part*1000) / 1000
	}
	return t
}

// edge is the beginning or the end of a span.
type edge struct {
	at     time.Time
	begins bool
	step   step
}

// edges gives them in order of time; at the same time what ends goes before what begins.
func edges(spans []step) []edge {
	out := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		if s.End.After(s.Start) {
			out = append(out, edge{s.Start, true, s}, edge{s.End, false, s})
		}
	}
	slices.SortStableFunc(out, func(a, b edge) int {
		if c := a.at.Compare(b.at); c != 0 || a.begins == b.begins {
			return c
		}
		if a.begins {
			return 1
		}
		return -1
	})
	return out
}

// moment is what goes on between two edges.
type moment struct {
	runs     int
	spans    map[string]step   // what lasts, by id
	children map[string]int    // of what lasts, by parent
	leaves   map[span.Kind]int // what lasts with nothing below it, by who is at work
}

func (m *moment) begin(s step) {
	if s.Kind == span.Run {
		m.runs++
	}
	m.spans[s.ID] = s
	if m.children[s.ID] == 0 {
		m.leaves[worker(s)]++
	}
	m.children[s.ParentID]++
	if parent, lasts := m.spans[s.ParentID]; lasts && m.children[s.ParentID] == 1 {
		m.leaves[worker(parent)]--
	}
}

func (m *moment) end(s step) {
	if s.Kind == span.Run {
		m.runs--
	}
	delete(m.spans, s.ID)
	if m.children[s.ID] == 0 {
		m.leaves[worker(s)]--
	}
	m.children[s.ParentID]--
	if parent, lasts := m.spans[s.ParentID]; lasts && m.children[s.ParentID] == 0 {
		m.leaves[worker(parent)]++
	}
}

// lowest gives who is at work.
func (m *moment) lowest() span.Kind {
	for _, k := range []span.Kind{span.Model, span.MCP, span.Agent, span.Person} {
		if m.leaves[k] > 0 {
			return k
		}
	}
	return span.Run
}

// worker says who is at work while a span lasts and nothing below it does.
func worker(s step) span.Kind {
	switch {
	case s.Kind == span.Server:
		return span.Agent // the gateway
	case s.Kind != span.Tool:
		return s.Kind
	case s.Attributes["agentmesh.capability.kind"] == string(capability.MCP):
		return span.MCP
	case s.Attributes["agentmesh.capability.kind"] == string(capability.A2A):
		return span.Agent
	}
	return span.Run
}

func (t *Took) part(k span.Kind) *float64 {
	switch k {
	case span.Model:
		return &t.ModelMS
	case span.MCP:
		return &t.MCPMS
	case span.Agent:
		return &t.AgentMS
	case span.Person:
		return &t.PersonMS
	}
	return &t.OwnMS
}
