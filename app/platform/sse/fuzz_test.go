package sse_test

import (
	"bytes"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"agentmesh/app/platform/sse"
)

// FuzzRead checks that the events of a stream do not depend on how it is cut, and that what a Writer
// wrote of them reads as the same events.
func FuzzRead(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\nid: 1\nevent: x\ndata: b\ndata: c\n\n: ping\n\n"))
	f.Add([]byte("\xef\xbb\xbfdata: 水\r\rdata:🍅"))
	f.Add([]byte("data\n\n\r\n\rid:7\ndata:: x\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, err := readAll(bytes.NewReader(stream))
		if err != nil {
			t.Fatalf("whole: %v", err)
		}
		cut, err := readAll(iotest.OneByteReader(bytes.NewReader(stream)))
		if err != nil || !reflect.DeepEqual(whole, cut) {
			t.Fatalf("got %q, %v when cut, %q when whole", cut, err, whole)
		}
		w := httptest.NewRecorder()
		s, err := sse.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		var sent []sse.Event
		for _, e := range whole {
			if strings.ContainsAny(e.ID+e.Name, "\r\n\x00") {
				continue
			}
			if err := s.Send(e); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, e)
		}
		if again, err := readAll(w.Body); err != nil || !reflect.DeepEqual(again, sent) {
			t.Errorf("got %q, %v after writing, want %q", again, err, sent)
		}
	})
}
