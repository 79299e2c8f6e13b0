package agent_test

import (
	"encoding/json"
	"slices"
	"testing"

	"agentmesh/agent"
)

func TestStatus_CanBecome(t *testing.T) {
	t.Parallel()
	all := []agent.Status{agent.Pending, agent.Running, agent.AwaitingConfirmation, agent.Succeeded, agent.Failed, agent.Cancelled}
	allowed := map[agent.Status][]agent.Status{
		agent.Pending:              {agent.Running, agent.Failed, agent.Cancelled},
		agent.Running:              {agent.AwaitingConfirmation, agent.Succeeded, agent.Failed, agent.Cancelled},
		agent.AwaitingConfirmation: {agent.Running, agent.Failed, agent.Cancelled},
	}
	for _, from := range all {
		for _, to := range append(all, agent.Keep) {
			if got, want := from.CanBecome(to), slices.Contains(allowed[from], to); got != want {
				t.Errorf("%s to %s: got %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestStatus_Names(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status agent.Status
		name   string
		number int
		final  bool
	}{
		{agent.Pending, "PENDING", 0, false},
		{agent.Running, "RUNNING", 1, false},
		{agent.AwaitingConfirmation, "AWAITING_CONFIRMATION", 2, false},
		{agent.Succeeded, "SUCCEEDED", 10, true},
		{agent.Failed, "FAILED", 11, true},
		{agent.Cancelled, "CANCELLED", 12, true},
		{agent.Status(7), "Status(7)", 7, false},
	}
	for _, tt := range tests {
		text, err := json.Marshal(tt.status)
		if err != nil || string(text) != `"`+tt.name+`"` || int(tt.status) != tt.number || tt.status.Final() != tt.final {
			t.Errorf("got %s, %v, %d, final %v, want %+v", text, err, int(tt.status), tt.status.Final(), tt)
		}
	}
}

func TestUsage_Add(t *testing.T) {
	t.Parallel()
	if got := (agent.Usage{Input: 1, Output: 2}).Add(agent.Usage{Input: 10, Output: 20}); got != (agent.Usage{Input: 11, Output: 22}) {
		t.Errorf("got %+v", got)
	}
}
