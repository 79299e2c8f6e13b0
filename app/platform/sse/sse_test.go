package sse_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"agentmesh/app/platform/sse"
)

func readAll(body io.Reader) ([]sse.Event, error) {
	var out []sse.Event
	for e, err := range sse.Read(body) {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

func TestRead(t *testing.T) {
	t.Parallel()
	two := []sse.Event{{Data: "a"}, {Data: "b"}}
	tests := []struct {
		name, stream string
		want         []sse.Event
	}{
		{"empty", "", nil},
		{"lf", "data: a\n\ndata: b\n\n", two},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", two},
		{"cr", "data: a\r\rdata: b\r\r", two},
		{"mixed_line_ends", "data: a\r\n\ndata: b\n\r\n", two},
		{"byte_order_mark", "\xef\xbb\xbfdata: a\n\ndata: b\n\n", two},
		{"byte_order_mark_only_at_the_start", "data: a\n\n\xef\xbb\xbfdata: x\n\ndata: b\n\n", two},
		{"last_event_without_blank_line", "data: a\n\ndata: b\n", two},
		{"last_line_without_end", "data: a\n\ndata: b", two},
		{"last_line_ends_with_cr", "data: a\n\ndata: b\r", two},
		{"no_space", "data:a\n\ndata:b\n\n", two},
		{"only_one_space_is_taken_away", "data:  a\n\n", []sse.Event{{Data: " a"}}},
		{"comments", ": hello\n\n:\n\ndata: a\n: between\n\n: x\ndata: b\n\n", two},
		{"many_blank_lines", "\n\n\ndata: a\n\n\n\ndata: b\n\n\n", two},
		{"several_data_lines", "data: a\ndata\ndata: b\n\n", []sse.Event{{Data: "a\n\nb"}}},
		{"id_name_and_unknown_fields", "id: 7.3\nevent: ping\nretry: 10\nnonsense\ndata: {\"a\": 1}\n\n", []sse.Event{{ID: "7.3", Name: "ping", Data: `{"a": 1}`}}},
		{"id_alone_is_no_event", "id: 7\n\ndata: a\n\ndata: b\n\n", two},
		{"empty_data_is_an_event", "data:\n\n", []sse.Event{{}}},
		{"utf8", "data: 水煮牛肉🍅\n\n", []sse.Event{{Data: "水煮牛肉🍅"}}},
		{"colons_in_data", "data: data: a: b\n\n", []sse.Event{{Data: "data: a: b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for how, body := range map[string]io.Reader{
				"whole": strings.NewReader(tt.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.stream)),
				"end with the last byte": iotest.DataErrReader(strings.NewReader(tt.stream)),
			} {
				if got, err := readAll(body); err != nil || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("%s: got %q, %v, want %q", how, got, err, tt.want)
				}
			}
		})
	}
}

// TestRead_DoesNotHoldAnEventBack reads from a stream that says nothing more after a bare CR.
func TestRead_DoesNotHoldAnEventBack(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = io.WriteString(w, "data: a\r\n\r") }()
	for e, err := range sse.Read(r) {
		if err != nil || e.Data != "a" {
			t.Errorf("got %+v, %v", e, err)
		}
		break
	}
}

func TestRead_BrokenStream(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(cut)))
	if !errors.Is(err, cut) || !reflect.DeepEqual(got, []sse.Event{{Data: "a"}}) {
		t.Errorf("got %q, %v, want the whole event and the error", got, err)
	}
}

func TestRead_TooLarge(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"one_line":   "data: " + strings.Repeat("x", sse.MaxEvent) + "\n\n",
		"many_lines": strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5) + "\n",
	} {
		if _, err := readAll(strings.NewReader(stream)); !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s: got %v, want %v", name, err, sse.ErrTooLarge)
		}
	}
	whole := strings.Repeat("x", 1<<20)
	if got, err := readAll(strings.NewReader(strings.Repeat("data: "+whole+"\n\n", 5))); err != nil || len(got) != 5 || got[4].Data != whole {
		t.Errorf("got %d events, %v, want five large ones", len(got), err)
	}
	if got, err := readAll(strings.NewReader(strings.Repeat(": "+whole+"\n", 5) + "data: a\n\n")); err != nil || len(got) != 1 {
		t.Errorf("got %d events, %v, want comments not to count", len(got), err)
	}
}

func TestWriter_Headers(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if _, err := sse.NewWriter(w); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
	for name, value := range want {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	if !w.Flushed || w.Code != http.StatusOK {
		t.Errorf("got flushed %v, status %d, want the headers sent", w.Flushed, w.Code)
	}
}

func TestWriter_Send(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	s, err := sse.NewWriter(w)
	if err != nil {
		t.Fatal(err)
	}
	sent := []sse.Event{
		{ID: "1", Data: `{"a":"水煮牛肉"}`},
		{Name: "ping"},
		{Data: "a\n\ndata: b\n: no comment"},
		{Data: " leading space"},
	}
	for _, e := range sent {
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Comment("still\r\nhere"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.Body.String(), "\r") {
		t.Errorf("got a CR in %q: the client splits at LF only", w.Body)
	}
	got, err := readAll(w.Body)
	if err != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("got %q, %v, want %q", got, err, sent)
	}
	for _, bad := range []sse.Event{{ID: "1\n2"}, {Name: "a\rb"}, {ID: "\x00"}} {
		if err := s.Send(bad); err == nil {
			t.Errorf("%+v was sent", bad)
		}
	}
}

// goneWriter is a client that has left.
type goneWriter struct{ *httptest.ResponseRecorder }

func (goneWriter) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestWriter_ClientGone(t *testing.T) {
	t.Parallel()
	s, err := sse.NewWriter(goneWriter{httptest.NewRecorder()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(sse.Event{Data: "a"}); err == nil {
		t.Error("got no error")
	}
}
