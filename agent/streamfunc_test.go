package agent_test

import (
	"context"
	"testing"

	"agentmesh/agent"
)

type echoing struct{}

func (echoing) Name() string     { return "echo" }
func (echoing) ContextSize() int { return 7 }
func (echoing) Stream(_ context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
	l.Text(p.Messages[0].Text)
	return agent.Answer{Text: p.Messages[0].Text}, nil
}

func TestAWrappedModelIsCalledThroughItsWrappers(t *testing.T) {
	t.Parallel()
	m := agent.WrapModel(echoing{}, func(next agent.StreamFunc) agent.StreamFunc {
		return func(ctx context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
			a, err := next(ctx, p, l)
			a.Text += "!"
			return a, err
		}
	})
	heard := ""
	got, err := m.Stream(t.Context(), agent.Prompt{Messages: []agent.Message{{Text: "hello"}}}, agent.OnText(func(d string) { heard += d }))
	if got.Text != "hello!" || heard != "hello" || err != nil || m.Name() != "echo" || m.ContextSize() != 7 {
		t.Errorf("got %q, heard %q, %v, as %s with %d tokens", got.Text, heard, err, m.Name(), m.ContextSize())
	}
}
