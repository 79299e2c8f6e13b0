package app

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/capability"
)

// begin counts a piece of work as being in flight until the function it gives is called.
func (c *counts) begin(work string) (done func()) {
	began := time.Now()
	c.inFlight.WithLabelValues(work).Inc()
	return func() {
		c.inFlight.WithLabelValues(work).Dec()
		c.lasted.WithLabelValues(work).Observe(time.Since(began).Seconds())
	}
}

func (c *counts) aroundRun(next run.Work) run.Work {
	return func(ctx context.Context, runID string) error {
		defer c.begin("run")()
		return next(ctx, runID)
	}
}

func (c *counts) aroundModel(next agent.StreamFunc) agent.StreamFunc {
	return func(ctx context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
		defer c.begin("model")()
		return next(ctx, p, l)
	}
}

func (c *counts) aroundCall(next capability.Handler) capability.Handler {
	return func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
		defer c.begin("tool")()
		return next(ctx, call)
	}
}
