package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/metrics"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// scrapeTime bounds how long the database may take to be counted.
const scrapeTime = 5 * time.Second

// counts is what GET /metrics shows: counters since the start of the process, and gauges read when asked.
type counts struct {
	set      metrics.Set
	requests *metrics.Counter
	took     *metrics.Histogram
	models   *metrics.Counter
	tokens   *metrics.Counter
	tools    *metrics.Counter
}

func newCounts() *counts {
	c := &counts{}
	c.requests = c.set.Counter("agentmesh_http_requests_total", "HTTP requests that a module has answered.", "module", "class")
	c.took = c.set.Histogram("agentmesh_http_request_duration_seconds", "How long a module took to answer; streams count until their end.",
		[]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}, "module")
	c.models = c.set.Counter("agentmesh_model_calls_total", "Rounds of a model.", "model", "outcome")
	c.tokens = c.set.Counter("agentmesh_model_tokens_total", "Tokens as the model's endpoint reported them.", "model", "direction")
	c.tools = c.set.Counter("agentmesh_tool_calls_total", "Calls of capabilities by the status of their receipts.", "capability", "status")
	began := float64(time.Now().UnixMilli()) / 1000
	c.number("process_start_time_seconds", "When the process started, in seconds since 1970.", func() float64 { return began })
	c.number("go_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	return c
}

func (c *counts) number(name, help string, read func() float64) {
	c.set.Gauge(name, help, nil, func(context.Context) ([]metrics.Sample, error) { return []metrics.Sample{{Value: read()}}, nil })
}

// readFrom adds what the run database tells.
func (c *counts) readFrom(db *rundb.DB) {
	status := []string{"status"}
	c.set.Gauge("agentmesh_runs", "Stored runs.", status, func(ctx context.Context) ([]metrics.Sample, error) {
		now, err := db.RunsByStatus(ctx)
		return samples(now, agent.Pending, agent.Running, agent.AwaitingConfirmation, agent.Succeeded, agent.Failed, agent.Cancelled), err
	})
	c.set.Gauge("agentmesh_orders", "Stored orders.", status, func(ctx context.Context) ([]metrics.Sample, error) {
		now, err := db.OrdersByStatus(ctx)
		return samples(now, order.Placing, order.Confirmed, order.Rejected, order.Cancelled), err
	})
	c.set.Gauge("agentmesh_confirmations_open", "Questions that wait for a person.", nil, func(ctx context.Context) ([]metrics.Sample, error) {
		n, err := db.CountOpenConfirmations(ctx)
		return []metrics.Sample{{Value: float64(n)}}, err
	})
}

// samples gives one sample for each status, also for those that nothing has.
func samples[S comparable](now map[S]int, all ...S) []metrics.Sample {
	out := make([]metrics.Sample, 0, len(all))
	for _, s := range all {
		out = append(out, metrics.Sample{Labels: []string{fmt.Sprint(s)}, Value: float64(now[s])})
	}
	return out
}

// observe counts a request of a module when it is answered (flow.Observer).
func (c *counts) observe(r *http.Request, module string) (context.Context, func(status int)) {
	began := time.Now()
	return r.Context(), func(status int) {
		c.requests.Add(1, module, fmt.Sprintf("%dxx", status/100))
		c.took.Observe(time.Since(began).Seconds(), module)
	}
}

// called counts receipts. A model may ask for a tool of any name; those that are none count as one.
func (c *counts) called(known func(name string) bool, records ...capability.Record) {
	for _, r := range records {
		name := r.Capability
		if !known(name) {
			name = "unknown"
		}
		c.tools.Add(1, name, string(r.Status))
	}
}

// asked counts rounds of a model.
func (c *counts) asked(calls ...agent.ModelCall) {
	for _, m := range calls {
		outcome := "ok"
		if m.Error != "" {
			outcome = "error"
		}
		c.models.Add(1, m.Model, outcome)
		c.tokens.Add(float64(m.Usage.Input), m.Model, "input")
		c.tokens.Add(float64(m.Usage.Output), m.Model, "output")
	}
}

// ServeHTTP writes all of it.
func (c *counts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), scrapeTime)
	defer cancel()
	var body bytes.Buffer
	if err := c.set.Write(ctx, &body); err != nil {
		flow.Log(ctx).Error().Err(err).Msg("metrics not whole")
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body.Bytes())
}

// countedStore counts what the engine has written: the receipts and model rounds of a step.
type countedStore struct {
	agent.RunStore
	counts *counts
	known  func(name string) bool
}

// Append writes a step and counts it.
func (s countedStore) Append(ctx context.Context, step agent.Step) error {
	err := s.RunStore.Append(ctx, step)
	if err == nil {
		s.count(step)
	}
	return err
}

// Decide closes a question and counts its step, if this call closed it.
func (s countedStore) Decide(ctx context.Context, id string, d agent.Decision, step agent.Step) (agent.Confirmation, bool, error) {
	c, won, err := s.RunStore.Decide(ctx, id, d, step)
	if won && err == nil {
		s.count(step)
	}
	return c, won, err
}

func (s countedStore) count(step agent.Step) {
	s.counts.called(s.known, step.Records...)
	s.counts.asked(step.ModelCalls...)
}

// countedLedger counts the receipts of calls outside a run's journal.
type countedLedger struct {
	capability.Ledger
	counts *counts
	known  func(name string) bool
}

// Audit writes a record and counts it.
func (l countedLedger) Audit(ctx context.Context, r capability.Record) error {
	l.counts.called(l.known, r)
	return l.Ledger.Audit(ctx, r)
}
