package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// MaxEvent is the largest event that Read takes, in bytes.
const MaxEvent = 4 << 20

// ErrTooLarge says that an event was larger than MaxEvent.
var ErrTooLarge = errors.New("event too large")

// Read yields the events of a stream until it ends. It takes LF, CRLF and bare CR, skips a byte-order
// mark and comments, and also delivers a last event that no blank line follows, since several
// providers leave it out (stricter readers lose it). A read error is yielded last.
func Read(body io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		scan := bufio.NewScanner(body)
		scan.Buffer(make([]byte, 0, 64<<10), MaxEvent)
		scan.Split(splitLines())
		var f frame
		for scan.Scan() {
			line := scan.Text()
			if line != "" {
				if err := f.add(line); err != nil {
					yield(Event{}, err)
					return
				}
				continue
			}
			if e, ok := f.take(); ok && !yield(e, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = ErrTooLarge
			}
			yield(Event{}, fmt.Errorf("read event stream: %w", err))
			return
		}
		if e, ok := f.take(); ok {
			yield(e, nil)
		}
	}
}

// frame collects the lines of one event.
type frame struct {
	event Event
	data  []string
	size  int
	any   bool
}

func (f *frame) add(line string) error {
	if strings.HasPrefix(line, ":") { // a comment; endless heartbeats must not fill an event
		return nil
	}
	if f.size += len(line); f.size > MaxEvent {
		return fmt.Errorf("read event stream: %w", ErrTooLarge)
	}
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "data":
		f.data, f.any = append(f.data, value), true
	case "event":
		f.event.Name, f.any = value, true
	case "id":
		f.event.ID = value
	}
	return nil
}

// take gives the collected event, if there is one, and begins the next.
func (f *frame) take() (Event, bool) {
	e, ok := f.event, f.any
	e.Data = strings.Join(f.data, "\n")
	*f = frame{}
	return e, ok
}

// splitLines cuts at LF, CRLF and bare CR, and drops a byte-order mark before the first line. A CR at
// the end of the buffer ends its line at once, and an LF that follows it is dropped: waiting for the
// next byte would hold an event back.
func splitLines() bufio.SplitFunc {
	first, afterCR := true, false
	return func(data []byte, atEOF bool) (int, []byte, error) {
		skip := 0
		if afterCR && len(data) > 0 {
			if data[0] == '\n' {
				skip = 1
			}
			afterCR = false
		}
		rest := data[skip:]
		i := bytes.IndexAny(rest, "\r\n")
		switch {
		case i < 0 && (!atEOF || len(rest) == 0):
			return skip, nil, nil
		case i < 0:
			i = len(rest)
		}
		line, used := rest[:i], skip+i
		if i < len(rest) {
			used++
			afterCR = rest[i] == '\r'
		}
		if first {
			line, first = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
		}
		return used, line, nil
	}
}
