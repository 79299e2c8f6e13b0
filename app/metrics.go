package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// scrapeTime bounds how long the database may take to be counted.
const scrapeTime = 5 * time.Second

// counts is what GET /metrics shows: counters since the start of the process, and gauges read when asked.
type counts struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	models   *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	tools    *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
	lasted   *prometheus.HistogramVec
}

func newCounts() *counts {
	c := &counts{registry: prometheus.NewRegistry()}
	c.requests = c.counter("agentmesh_http_requests_total", "HTTP requests that a module has answered.", "module", "class")
	c.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "agentmesh_http_request_duration_seconds", Help: "How long a module took to answer; streams count until their end.",
		Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
	}, []string{"module"})
	c.models = c.counter("agentmesh_model_calls_total", "Rounds of a model.", "model", "outcome")
	c.tokens = c.counter("agentmesh_model_tokens_total", "Tokens as the model's endpoint reported them.", "model", "direction")
	c.tools = c.counter("agentmesh_tool_calls_total", "Calls of capabilities by the status of their receipts.", "capability", "status")
	c.inFlight = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "agentmesh_in_flight", Help: "What is being worked on: runs, calls of a model, calls of a tool.",
	}, []string{"work"})
	c.lasted = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "agentmesh_work_duration_seconds", Help: "How long a worker was busy with a run, and how long calls of a model and of a tool took.",
		Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
	}, []string{"work"})
	c.registry.MustRegister(c.inFlight, c.lasted, c.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return c
}

func (c *counts) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	c.registry.MustRegister(v)
	return v
}

// add counts. Names come from endpoints and settings, and numbers too: what is no text, or falls, must not end
// the program.
func add(c *prometheus.CounterVec, n int64, values ...string) {
	for i, v := range values {
		values[i] = strings.ToValidUTF8(v, "�")
	}
	c.WithLabelValues(values...).Add(float64(max(0, n)))
}

// stored is a gauge that is counted in the database at each scrape, by one label or none.
type stored struct {
	desc *prometheus.Desc
	read func(ctx context.Context) (map[string]int, error)
}

func (c *counts) gauge(name, help string, labels []string, read func(ctx context.Context) (map[string]int, error)) {
	c.registry.MustRegister(stored{prometheus.NewDesc(name, help, labels, nil), read})
}

// Describe tells which family it is.
func (g stored) Describe(to chan<- *prometheus.Desc) { to <- g.desc }

// Collect counts. A gauge that cannot be read is left out of the scrape, and the log tells of it.
func (g stored) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now, err := g.read(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(g.desc, err)
		return
	}
	for label, n := range now {
		labels := []string{label}
		if label == "" {
			labels = nil
		}
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(n), labels...)
	}
}

// readFrom adds what the run database tells.
func (c *counts) readFrom(db *rundb.DB) {
	status := []string{"status"}
	c.gauge("agentmesh_runs", "Stored runs.", status, func(ctx context.Context) (map[string]int, error) {
		now, err := db.RunsByStatus(ctx)
		return byName(now, agent.Pending, agent.Running, agent.AwaitingConfirmation, agent.Succeeded, agent.Failed, agent.Cancelled), err
	})
	c.gauge("agentmesh_orders", "Stored orders.", status, func(ctx context.Context) (map[string]int, error) {
		now, err := db.OrdersByStatus(ctx)
		return byName(now, order.Placing, order.Confirmed, order.Rejected, order.Cancelled), err
	})
	c.gauge("agentmesh_confirmations_open", "Questions that wait for a person.", nil, func(ctx context.Context) (map[string]int, error) {
		n, err := db.CountOpenConfirmations(ctx)
		return map[string]int{"": n}, err
	})
}

// byName gives a number for each status, also for those that nothing has.
func byName[S comparable](now map[S]int, all ...S) map[string]int {
	out := make(map[string]int, len(all))
	for _, s := range all {
		out[fmt.Sprint(s)] = now[s]
	}
	return out
}

// observe counts a request of a module when it is answered (flow.Observer).
func (c *counts) observe(r *http.Request, module string) (context.Context, func(status int)) {
	began := time.Now()
	return r.Context(), func(status int) {
		add(c.requests, 1, module, fmt.Sprintf("%dxx", status/100))
		c.took.WithLabelValues(module).Observe(time.Since(began).Seconds())
	}
}

// called counts receipts. A model may ask for a tool of any name; those that are none count as one.
func (c *counts) called(known func(name string) bool, records ...capability.Record) {
	for _, r := range records {
		name := r.Capability
		if !known(name) {
			name = "unknown"
		}
		add(c.tools, 1, name, string(r.Status))
	}
}

// asked counts rounds of a model.
func (c *counts) asked(calls ...agent.ModelCall) {
	for _, m := range calls {
		outcome := "ok"
		if m.Error != "" {
			outcome = "error"
		}
		add(c.models, 1, m.Model, outcome)
		add(c.tokens, m.Usage.Input, m.Model, "input")
		add(c.tokens, m.Usage.Output, m.Model, "output")
	}
}

// ServeHTTP writes all of it, in the format that the scraper asks for.
func (c *counts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	promhttp.HandlerFor(c.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: scrapeLog{flow.Log(r.Context())},
	}).ServeHTTP(w, r)
}

// scrapeLog is where a scrape that is not whole tells why.
type scrapeLog struct{ log *flow.Logger }

// Println writes what went wrong.
func (l scrapeLog) Println(v ...any) {
	l.log.Error().Str("err", fmt.Sprint(v...)).Msg("metrics not whole")
}
