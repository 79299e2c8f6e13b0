package run

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
)

// journalOf makes the journal of a run: its state, and its rounds as the states of their calls.
func journalOf(state agent.Status, rounds ...[]capability.Status) agent.Journal {
	j := agent.Journal{Run: agent.Run{ID: "run-1", Status: state}, Messages: []agent.Message{{Role: agent.User, Text: "go"}}}
	for i, calls := range rounds {
		m := agent.Message{Role: agent.Assistant}
		for k, status := range calls {
			m.Calls = append(m.Calls, agent.ToolCall{ID: "c", Name: "look"})
			j.Invocations = append(j.Invocations, agent.Invocation{
				ID: string(rune('a'+i)) + string(rune('0'+k)), Round: i + 1, Position: k, Name: "look",
				Args: json.RawMessage{byte('0' + i), byte('0' + k)}, Status: status,
			})
		}
		j.Messages = append(j.Messages, m)
	}
	return j
}

func calls(calls ...capability.Status) []capability.Status { return calls }

// TestNextStep: the journal alone says what a run does next (design, section 4).
func TestNextStep(t *testing.T) {
	t.Parallel()
	abandoned := journalOf(agent.Running)
	abandoned.Messages = append(abandoned.Messages, agent.Message{Role: agent.Assistant, Text: "half", Abandoned: true})
	cancelled := journalOf(agent.AwaitingConfirmation, calls(capability.Asking))
	cancelled.Run.CancelReason = agent.ByUser
	pendingCancelled := journalOf(agent.Pending)
	pendingCancelled.Run.CancelReason = agent.ClientLeft
	tired := journalOf(agent.Running, calls(capability.Succeeded))
	tired.Run.Active = 10 * time.Minute
	tiredEnd := journalOf(agent.Running, calls(capability.Succeeded), calls())
	tiredEnd.Run.Active = 10 * time.Minute
	for name, c := range map[string]struct {
		j     agent.Journal
		do    action
		calls []string
		last  bool
		end   agent.Status
		why   agent.FinishReason
	}{
		"a run that has ended":                         {j: journalOf(agent.Succeeded, calls()), do: actDone},
		"a new run":                                    {j: journalOf(agent.Pending), do: actBegin},
		"a new run that was cancelled":                 {j: pendingCancelled, do: actFinish, end: agent.Cancelled, why: agent.ClientLeft},
		"no answer yet":                                {j: journalOf(agent.Running), do: actModel},
		"an answer that was cut off":                   {j: abandoned, do: actModel},
		"an answer without calls":                      {j: journalOf(agent.Running, calls()), do: actFinish, end: agent.Succeeded, why: agent.Completed},
		"proposed calls":                               {j: journalOf(agent.Running, calls(capability.Proposed, capability.Proposed)), do: actCalls, calls: []string{"a0", "a1"}},
		"a call that was interrupted":                  {j: journalOf(agent.Running, calls(capability.Succeeded, capability.Running)), do: actCalls, calls: []string{"a1"}},
		"a call that a person has allowed":             {j: journalOf(agent.Running, calls(capability.Allowed)), do: actCalls, calls: []string{"a0"}},
		"an open question":                             {j: journalOf(agent.AwaitingConfirmation, calls(capability.Succeeded, capability.Asking)), do: actWait},
		"an open question beside a call":               {j: journalOf(agent.AwaitingConfirmation, calls(capability.Asking, capability.Proposed)), do: actCalls, calls: []string{"a1"}},
		"all calls have ended":                         {j: journalOf(agent.Running, calls(capability.Succeeded, capability.Denied)), do: actModel},
		"a cancel, whatever is open":                   {j: cancelled, do: actFinish, end: agent.Cancelled, why: agent.ByUser},
		"the working time is over":                     {j: tired, do: actModel, last: true},
		"the answer of the last round names the bound": {j: tiredEnd, do: actFinish, end: agent.Succeeded, why: agent.OutOfTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := nextStep(c.j, DefaultBounds())
			var ids []string
			for _, inv := range got.calls {
				ids = append(ids, inv.ID)
			}
			if got.do != c.do || got.last != c.last || got.status != c.end || got.reason != c.why || !reflect.DeepEqual(ids, c.calls) {
				t.Errorf("got %+v, want %+v", got, c)
			}
		})
	}
}

// TestNextStep_IsPure: any journal gives the same step again, from a copy too, and is not touched by it.
func TestNextStep_IsPure(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	states := []agent.Status{agent.Pending, agent.Running, agent.AwaitingConfirmation, agent.Succeeded, agent.Failed, agent.Cancelled}
	statuses := []capability.Status{capability.Proposed, capability.Asking, capability.Allowed, capability.Running, capability.Succeeded, capability.Indeterminate}
	for range 2000 {
		var rounds [][]capability.Status
		for range dice.IntN(14) {
			var one []capability.Status
			for range dice.IntN(4) {
				one = append(one, statuses[dice.IntN(len(statuses))])
			}
			rounds = append(rounds, one)
		}
		j := journalOf(states[dice.IntN(len(states))], rounds...)
		before := copied(j)
		first := nextStep(j, DefaultBounds())
		if !reflect.DeepEqual(j, before) {
			t.Fatalf("the step changed its journal: %+v", j)
		}
		if again := nextStep(copied(j), DefaultBounds()); !reflect.DeepEqual(again, first) {
			t.Fatalf("got %+v, then %+v for %+v", first, again, j)
		}
	}
}

func copied(j agent.Journal) agent.Journal {
	c := j
	c.Messages = append([]agent.Message(nil), j.Messages...)
	c.Invocations = append([]agent.Invocation(nil), j.Invocations...)
	return c
}
