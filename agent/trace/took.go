package trace

import (
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
	within := slices.DeleteFunc(slices.Clone(spans), func(s step) bool { return s.Kind != span.Run })
	moments := edges(spans)
	for i := 0; i+1 < len(moments); i++ {
		from, to := moments[i], moments[i+1]
		if !slices.ContainsFunc(within, func(r step) bool { return covers(r, from, to) }) {
			continue
		}
		*out.part(lowest(spans, from, to)) += millis(to.Sub(from))
	}
	return out
}

// edges gives every moment at which something begins or ends, in order.
func edges(spans []step) []time.Time {
	var out []time.Time
	for _, s := range spans {
		out = append(out, s.Start, s.End)
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

func covers(s step, from, to time.Time) bool {
	return !s.Start.After(from) && !s.End.Before(to)
}

// lowest gives the kind that the time between two neighbouring edges goes to.
func lowest(spans []step, from, to time.Time) span.Kind {
	var busy []step
	parents := map[string]bool{}
	for _, s := range spans {
		if covers(s, from, to) {
			busy = append(busy, s)
			parents[s.ParentID] = true
		}
	}
	var leaves []span.Kind
	for _, s := range busy {
		if !parents[s.ID] {
			leaves = append(leaves, worker(s))
		}
	}
	for _, k := range []span.Kind{span.Model, span.MCP, span.Agent, span.Person} {
		if slices.Contains(leaves, k) {
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
