package metrics

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Histogram counts values by size, for each combination of its labels' values.
type Histogram struct {
	head
	bounds []float64 // rising
	mu     sync.Mutex
	series map[string]*series
}

// series counts the values up to each bound, one more for those above all.
type series struct {
	counts []uint64
	sum    float64
}

// Histogram adds a histogram with buckets up to each of some rising bounds.
func (s *Set) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	h := &Histogram{head: head{name, help, "histogram", labels}, bounds: bounds, series: map[string]*series{}}
	s.add(h)
	return h
}

// Observe counts a value.
func (h *Histogram) Observe(v float64, values ...string) {
	if len(values) != len(h.labels) {
		return
	}
	key := keyOf(values)
	i, _ := slices.BinarySearch(h.bounds, v) // the first bound that is not below
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.series[key]
	if s == nil {
		s = &series{counts: make([]uint64, len(h.bounds)+1)}
		h.series[key] = s
	}
	s.counts[i]++
	s.sum += v
}

func (h *Histogram) write(_ context.Context, w io.Writer) error {
	h.mu.Lock()
	all := make(map[string]series, len(h.series))
	for key, s := range h.series {
		all[key] = series{slices.Clone(s.counts), s.sum}
	}
	h.mu.Unlock()
	if err := h.head.write(w); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := h.writeSeries(w, splitKey(key, len(h.labels)), all[key]); err != nil {
			return err
		}
	}
	return nil
}

func (h *Histogram) writeSeries(w io.Writer, values []string, s series) error {
	labels := append(slices.Clone(h.labels), "le")
	var seen uint64
	for i, n := range s.counts {
		seen += n
		le := "+Inf"
		if i < len(h.bounds) {
			le = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		if err := sample(w, h.name+"_bucket", labels, append(slices.Clone(values), le), float64(seen)); err != nil {
			return err
		}
	}
	if err := sample(w, h.name+"_sum", h.labels, values, s.sum); err != nil {
		return err
	}
	return sample(w, h.name+"_count", h.labels, values, float64(seen))
}

func splitKey(key string, labels int) []string {
	if labels == 0 {
		return nil
	}
	return strings.Split(key, separator)
}
