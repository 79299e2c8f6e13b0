package metrics

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Counter is a number that only grows, for each combination of its labels' values.
type Counter struct {
	head
	mu     sync.Mutex
	values map[string]float64
}

// Counter adds a counter.
func (s *Set) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{head: head{name, help, "counter", labels}, values: map[string]float64{}}
	s.add(c)
	return c
}

// separator stands between labels' values in a key; it is no character of valid text.
const separator = "\xff"

// Add counts; values are those of the labels, one each.
func (c *Counter) Add(n float64, values ...string) {
	if len(values) != len(c.labels) || n < 0 {
		return // a mistake in the program must not end it
	}
	key := keyOf(values)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] += n
}

func keyOf(values []string) string {
	clean := make([]string, len(values))
	for i, v := range values {
		clean[i] = strings.ToValidUTF8(v, "�")
	}
	return strings.Join(clean, separator)
}

func (c *Counter) write(_ context.Context, w io.Writer) error {
	c.mu.Lock()
	values := maps.Clone(c.values)
	c.mu.Unlock()
	if err := c.head.write(w); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := sample(w, c.name, c.labels, strings.Split(key, separator), values[key]); err != nil {
			return err
		}
	}
	return nil
}
