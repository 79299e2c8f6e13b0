package metrics_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"agentmesh/app/platform/metrics"
)

func written(t *testing.T, s *metrics.Set) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSet_Write(t *testing.T) {
	t.Parallel()
	var s metrics.Set
	calls := s.Counter("calls_total", "Calls.\nAll of them.", "tool", "status")
	calls.Add(1, "b", "OK")
	calls.Add(1, "a", "OK")
	calls.Add(2, "a", "OK")
	calls.Add(1, "a \"\\\n\xff", "")
	calls.Add(1, "too", "many", "labels")
	calls.Add(-1, "a", "OK")
	s.Counter("plain_total", "Plain.").Add(1e6)
	took := s.Histogram("took_seconds", "Took.", []float64{0.1, 1}, "module")
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		took.Observe(v, "x")
	}
	took.Observe(1)
	s.Histogram("bare_seconds", "Bare.", []float64{1}).Observe(2)
	s.Gauge("runs", "Runs.", []string{"status"}, func(context.Context) ([]metrics.Sample, error) {
		return []metrics.Sample{{Labels: []string{"RUNNING"}, Value: 3}}, nil
	})
	const want = `# HELP calls_total Calls.\nAll of them.
# TYPE calls_total counter
calls_total{tool="a \"\\\n�",status=""} 1
calls_total{tool="a",status="OK"} 3
calls_total{tool="b",status="OK"} 1
# HELP plain_total Plain.
# TYPE plain_total counter
plain_total 1e+06
# HELP took_seconds Took.
# TYPE took_seconds histogram
took_seconds_bucket{module="x",le="0.1"} 2
took_seconds_bucket{module="x",le="1"} 3
took_seconds_bucket{module="x",le="+Inf"} 4
took_seconds_sum{module="x"} 7.65
took_seconds_count{module="x"} 4
# HELP bare_seconds Bare.
# TYPE bare_seconds histogram
bare_seconds_bucket{le="1"} 0
bare_seconds_bucket{le="+Inf"} 1
bare_seconds_sum 2
bare_seconds_count 1
# HELP runs Runs.
# TYPE runs gauge
runs{status="RUNNING"} 3
`
	if got := written(t, &s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSet_UnreadableGaugeLeavesTheRest(t *testing.T) {
	t.Parallel()
	var s metrics.Set
	s.Gauge("broken", "Broken.", nil, func(context.Context) ([]metrics.Sample, error) { return nil, errors.New("no database") })
	s.Counter("fine_total", "Fine.").Add(1)
	var b strings.Builder
	err := s.Write(t.Context(), &b)
	if err == nil || strings.Contains(b.String(), "broken") || !strings.Contains(b.String(), "fine_total 1\n") {
		t.Errorf("got %v and %s", err, b.String())
	}
}

func TestSet_CountsFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var s metrics.Set
	calls := s.Counter("calls_total", "Calls.", "tool")
	took := s.Histogram("took_seconds", "Took.", []float64{1}, "tool")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			calls.Add(1, "a")
			took.Observe(0.5, "a")
			_ = s.Write(t.Context(), &strings.Builder{})
		})
	}
	all.Wait()
	if got := written(t, &s); !strings.Contains(got, `calls_total{tool="a"} 50`) || !strings.Contains(got, `took_seconds_count{tool="a"} 50`) {
		t.Errorf("got %s", got)
	}
}
