// Package sse writes and reads server-sent events (WHATWG HTML, section 9.2). It knows framing and
// flushing, and nothing of what the events say.
package sse

import (
	"fmt"
	"net/http"
	"strings"
)

// Event is one server-sent event. An empty ID or Name is left out.
type Event struct {
	ID   string
	Name string
	Data string
}

// Writer sends events on one HTTP answer and flushes each.
type Writer struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

// NewWriter sends the headers of an event stream (no buffering, no caching, no transformation) at
// once, so that a client sees the stream open before the first event.
func NewWriter(w http.ResponseWriter) (*Writer, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &Writer{w: w, ctrl: http.NewResponseController(w)}
	if err := out.ctrl.Flush(); err != nil {
		return nil, fmt.Errorf("open event stream: %w", err)
	}
	return out, nil
}

// Send writes one event and flushes it. Data with line breaks becomes several data lines; ids and
// names with line breaks are refused.
func (s *Writer) Send(e Event) error {
	if strings.ContainsAny(e.ID+e.Name, "\r\n\x00") {
		return fmt.Errorf("send event: id %q or name %q has a line break", e.ID, e.Name)
	}
	var b strings.Builder
	if e.ID != "" {
		b.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		b.WriteString("event: " + e.Name + "\n")
	}
	data := strings.ReplaceAll(strings.ReplaceAll(e.Data, "\r\n", "\n"), "\r", "\n")
	for _, line := range strings.Split(data, "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteString("\n")
	return s.write(b.String())
}

// Comment writes a comment line, which keeps proxies from closing a silent stream.
func (s *Writer) Comment(text string) error {
	return s.write(": " + strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\n\n")
}

func (s *Writer) write(text string) error {
	if _, err := s.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := s.ctrl.Flush(); err != nil {
		return fmt.Errorf("flush event: %w", err)
	}
	return nil
}
