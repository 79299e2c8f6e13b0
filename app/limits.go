package app

import (
	"io"
	"net/http"
	"time"
)

// The times that a client on the network has (design, section 12). How large a body may be is each
// protocol's own limit, since each refuses it in its own words.
const (
	// bodyTime is how long the whole body of a request may take to arrive.
	bodyTime = 15 * time.Second
	// writeTime is how long a client may take to accept one piece of an answer. A watcher who stopped reading
	// a stream is cut off; it comes back where it was.
	writeTime = 30 * time.Second
)

// limitTimes cuts off clients that send a body, or read an answer, too slowly: they hold a connection and
// its memory, and a pool of them would hold the program.
func limitTimes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctrl := http.NewResponseController(w)
		if r.Body != nil && r.Body != http.NoBody {
			_ = ctrl.SetReadDeadline(time.Now().Add(bodyTime)) // fails only where there is no network
			r.Body = &timedBody{ReadCloser: r.Body, whole: func() { _ = ctrl.SetReadDeadline(time.Time{}) }}
		}
		next.ServeHTTP(&timedWriter{ResponseWriter: w, ctrl: ctrl}, r)
	})
}

// timedBody ends the deadline with the body: the server goes on reading to learn whether the client has
// gone, and an old deadline would end a stream.
type timedBody struct {
	io.ReadCloser
	whole func()
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.whole()
	}
	return n, err
}

// timedWriter gives each piece of an answer its time; Unwrap keeps flushing and other deadlines reachable.
type timedWriter struct {
	http.ResponseWriter
	ctrl *http.ResponseController
}

func (w *timedWriter) Write(p []byte) (int, error) {
	_ = w.ctrl.SetWriteDeadline(time.Now().Add(writeTime))
	return w.ResponseWriter.Write(p)
}

func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
