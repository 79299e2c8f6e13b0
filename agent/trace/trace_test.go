package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/trace"
	"agentmesh/app/platform/span"
	"agentmesh/capability"
)

const id = "4bf92f3577b34da6a3ce929d0e0e4736"

// at is a moment of the run, in milliseconds after its start.
func at(ms int) time.Time {
	return time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

// order is a run that asks its person: 0 to 1000 ms.
func order() trace.Run {
	decided := at(600)
	return trace.Run{
		Journal: agent.Journal{
			Run: agent.Run{ID: "run-1", TraceID: id, ThreadID: "t1", Status: agent.Succeeded, CreatedAt: at(0), EndedAt: at(1000)},
			Invocations: []agent.Invocation{{
				ID: "inv-1", CallID: "call-1", Name: "place_order", Status: capability.Succeeded, CreatedAt: at(110), EndedAt: at(700),
				Receipt: capability.Receipt{Kind: capability.A2A},
			}},
			Confirmations: []agent.Confirmation{{ID: "conf-1", InvocationID: "inv-1", Tool: "place_order", Status: agent.ConfirmationConfirmed, CreatedAt: at(200), DecidedAt: &decided}},
		},
		ModelCalls: []agent.ModelCall{
			{ID: "llm-1", Round: 1, Model: "demo", StartedAt: at(10), Duration: 100 * time.Millisecond, Usage: agent.Usage{Input: 7}},
			{ID: "llm-2", Round: 2, Model: "demo", StartedAt: at(700), Duration: 250 * time.Millisecond},
		},
	}
}

// elsewhere is what the other modules recorded of it.
func elsewhere() []span.Span {
	remote := func(id, parent, module string, kind span.Kind, from, to int) span.Span {
		return span.Span{TraceID: "x", ID: id, ParentID: parent, RunID: "run-1", Module: module, Kind: kind, Name: module, Start: at(from), End: at(to)}
	}
	return []span.Span{
		remote("c", "b", "mcp", span.MCP, 630, 650),
		remote("a", span.IDOf("inv-1"), "gateway", span.Server, 610, 670),
		remote("b", "a", "food", span.Agent, 620, 660),
		remote("b", "a", "food", span.Agent, 620, 660), // handed on by two modules
		{ID: "e", RunID: "run-1", UserID: "mallory", Module: "food", Name: "made up", Start: at(0), End: at(9)},
		{ID: "d", RunID: "run-of-another", Module: "food", Name: "secret", Start: at(0), End: at(9)},
	}
}

func outline(t trace.Trace) string {
	var b strings.Builder
	for _, n := range t.Spans {
		fmt.Fprintf(&b, "%s%s %s %g\n", strings.Repeat(" ", n.Depth), n.Module, n.Name, n.DurationMS)
	}
	return b.String()
}

func TestOf_OneTree(t *testing.T) {
	t.Parallel()
	got := trace.Of(id, []trace.Run{order()}, elsewhere(), []string{"weather", "weather"}, at(5000))
	want := `orchestrator invoke_agent agentmesh 1000
 orchestrator chat demo 100
 orchestrator execute_tool place_order 590
  orchestrator confirm place_order 400
  gateway gateway 60
   food food 40
    mcp mcp 20
 orchestrator chat demo 250
`
	if outline(got) != want {
		t.Errorf("got\n%s\nwant\n%s", outline(got), want)
	}
	if got.DurationMS != 1000 || !got.StartedAt.Equal(at(0)) || len(got.Missing) != 1 || len(got.Runs) != 1 {
		t.Errorf("got %+v", got)
	}
	if a := got.Spans[1].Attributes; a["gen_ai.operation.name"] != "chat" || a["gen_ai.usage.input_tokens"] != "7" {
		t.Errorf("got attributes %v", a)
	}
}

func TestOf_WhoTookTheTime(t *testing.T) {
	t.Parallel()
	got := trace.Of(id, []trace.Run{order()}, elsewhere(), nil, at(5000)).Took
	want := trace.Took{ModelMS: 350, MCPMS: 20, AgentMS: 170, PersonMS: 400, OwnMS: 60}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if sum := got.ModelMS + got.MCPMS + got.AgentMS + got.PersonMS + got.OwnMS; sum != 1000 {
		t.Errorf("the parts add up to %g ms, want the run's 1000", sum)
	}
}

func TestOf_WhatLastsIsOpen(t *testing.T) {
	t.Parallel()
	r := order()
	r.Journal.Run.Status, r.Journal.Run.EndedAt = agent.AwaitingConfirmation, time.Time{}
	r.Journal.Invocations[0].Status, r.Journal.Invocations[0].EndedAt = capability.Asking, time.Time{}
	r.Journal.Confirmations[0].DecidedAt = nil
	r.ModelCalls = r.ModelCalls[:1]
	got := trace.Of(id, []trace.Run{r}, nil, nil, at(5000))
	for _, n := range got.Spans {
		if want := map[bool]trace.Status{true: trace.OK, false: trace.Open}[n.Kind == span.Model]; n.Status != want {
			t.Errorf("%s: got %s, want %s", n.Name, n.Status, want)
		}
	}
	if got.Took.PersonMS != 4800 || got.DurationMS != 5000 {
		t.Errorf("got %+v, want the person to have taken the time since the question", got.Took)
	}
}

// TestOf_AModelThatAnswers: its time is the model's, before it has ended too.
func TestOf_AModelThatAnswers(t *testing.T) {
	t.Parallel()
	r := order()
	r.Journal = agent.Journal{Run: agent.Run{ID: "run-1", TraceID: id, Status: agent.Running, Model: "demo", CreatedAt: at(0)}}
	r.ModelCalls = r.ModelCalls[:1]
	r.Events = []agent.Event{
		agent.NewEvent(agent.ModelCalled, agent.ModelData{LLMCallID: "llm-1", Round: 1}, at(10)),
		agent.NewEvent(agent.ModelCalled, agent.ModelData{LLMCallID: "llm-2", Round: 2}, at(200)),
	}
	got := trace.Of(id, []trace.Run{r}, nil, nil, at(1000))
	if last := got.Spans[len(got.Spans)-1]; last.Name != "chat demo" || last.Status != trace.Open || last.DurationMS != 800 || got.Took.ModelMS != 900 {
		t.Errorf("got %+v and %+v, want an open call of 800 ms", last, got.Took)
	}
	r.Events = r.Events[:1] // it has ended
	if got := trace.Of(id, []trace.Run{r}, nil, nil, at(1000)); len(got.Spans) != 2 || got.Took.ModelMS != 100 {
		t.Errorf("got %d spans, %+v", len(got.Spans), got.Took)
	}
}

func TestOf_Errors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status capability.Status
		want   trace.Status
	}{
		{capability.Failed, trace.Error},
		{capability.Indeterminate, trace.Error},
		{capability.Denied, trace.OK},
		{capability.Succeeded, trace.OK},
	} {
		r := order()
		r.Journal.Invocations[0].Status = c.status
		for _, n := range trace.Of(id, []trace.Run{r}, nil, nil, at(0)).Spans {
			if n.Kind == span.Tool && n.Status != c.want {
				t.Errorf("%s: got %s, want %s", c.status, n.Status, c.want)
			}
		}
	}
}

func TestOf_OddSpans(t *testing.T) {
	t.Parallel()
	odd := func(id, parent string, from, to int) span.Span {
		return span.Span{ID: id, ParentID: parent, RunID: "run-1", Module: "food", Name: id, Start: at(from), End: at(to)}
	}
	got := trace.Of(id, []trace.Run{order()}, []span.Span{
		odd("orphan", "lost", 300, 310), odd("self", "self", 320, 330), odd("backwards", "", 340, 335), odd("ring1", "ring2", 1, 2), odd("ring2", "ring1", 1, 2),
	}, nil, at(0))
	depth := map[string]int{}
	for _, n := range got.Spans {
		depth[n.Name] = n.Depth
		if n.DurationMS < 0 {
			t.Errorf("%s lasts %g ms", n.Name, n.DurationMS)
		}
	}
	for _, name := range []string{"orphan", "self", "backwards"} {
		if depth[name] != 1 {
			t.Errorf("%s is at depth %d, want it below its run", name, depth[name])
		}
	}
}

func TestOf_NothingIsAnEmptyTrace(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(trace.Of(id, nil, nil, nil, at(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"runs":[]`, `"missing":[]`, `"spans":[]`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("got %s, want %s", raw, want)
		}
	}
}
