// Package metrics counts what happens in a process and writes it in Prometheus' text format. It holds no
// names of this product: whoever counts says what. It must not know HTTP routes or where gauges are read.
package metrics

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType is the text format's, as a scraper expects it.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Sample is one value with its labels' values, in the order of their names.
type Sample struct {
	Labels []string
	Value  float64
}

// family is one metric with all its samples.
type family interface {
	write(ctx context.Context, w io.Writer) error
}

// Set is what a process counts. Families come out in the order in which they were added.
type Set struct {
	mu       sync.Mutex
	families []family
}

func (s *Set) add(f family) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.families = append(s.families, f)
}

// Write writes all families. A gauge that cannot be read is left out, and the error tells of it.
func (s *Set) Write(ctx context.Context, w io.Writer) error {
	s.mu.Lock()
	families := slices.Clone(s.families)
	s.mu.Unlock()
	var first error
	for _, f := range families {
		first = cmp.Or(first, f.write(ctx, w))
	}
	return first
}

// head is what begins a family.
type head struct {
	name, help, kind string
	labels           []string
}

func (h head) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", h.name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(h.help), h.name, h.kind)
	return err
}

func sample(w io.Writer, name string, labels, values []string, v float64) error {
	var b strings.Builder
	b.WriteString(name)
	for i, label := range labels {
		open := ","
		if i == 0 {
			open = "{"
		}
		b.WriteString(open + label + `="` + escape(values[i]) + `"`)
	}
	if len(labels) > 0 {
		b.WriteString("}")
	}
	_, err := fmt.Fprintf(w, "%s %s\n", b.String(), strconv.FormatFloat(v, 'g', -1, 64))
	return err
}

// escape makes any text a label's value.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "�"))
}

// Gauge is a family that is read when it is written.
type gauge struct {
	head
	read func(ctx context.Context) ([]Sample, error)
}

// Gauge adds a family whose samples are read at each scrape.
func (s *Set) Gauge(name, help string, labels []string, read func(ctx context.Context) ([]Sample, error)) {
	s.add(gauge{head{name, help, "gauge", labels}, read})
}

func (g gauge) write(ctx context.Context, w io.Writer) error {
	samples, err := g.read(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", g.name, err)
	}
	if err := g.head.write(w); err != nil {
		return err
	}
	for _, v := range samples {
		if err := sample(w, g.name, g.labels, v.Labels, v.Value); err != nil {
			return err
		}
	}
	return nil
}
