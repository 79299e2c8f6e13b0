package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// patience is how long a client tries to get an answer. A restart takes a second at the most.
const patience = 30 * time.Second

// errNoAnswer says that a request may have arrived or not: the connection broke.
var errNoAnswer = errors.New("no answer")

// send makes one request as a user.
func (w *world) send(ctx context.Context, user, method, path, body string, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.url()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-User-ID", user)
	for name, values := range header {
		r.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, errors.Join(errNoAnswer, err)
	}
	w.tally.note(func() { w.tally.answers[resp.StatusCode]++ })
	if resp.StatusCode == 499 || (resp.StatusCode >= http.StatusInternalServerError && !later(resp.StatusCode)) {
		raw, _ := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(raw))
		w.tally.oddity(fmt.Sprintf("answer: %s %s was answered with %d: %s", method, path, resp.StatusCode, raw))
	}
	return resp, nil
}

// later tells of the answers that mean "try again": somebody behind does not answer just now.
func later(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// insist repeats a request that may be repeated until it is answered, and reads the answer. It gives 0 when
// nobody answers for too long.
func (w *world) insist(user, method, path, body string, into any) int {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		status, raw, err := w.once(user, method, path, body)
		if err == nil && !later(status) {
			if into != nil && status == http.StatusOK {
				if err := json.Unmarshal(raw, into); err != nil {
					w.tally.oddity(fmt.Sprintf("answer: %s %s: %v in %s", method, path, err, raw))
				}
			}
			return status
		}
		pause(w.t.Context().Done(), 20*time.Millisecond)
	}
	w.tally.note(func() { w.tally.left++ })
	return 0
}

func (w *world) once(user, method, path, body string) (int, []byte, error) {
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	resp, err := w.send(ctx, user, method, path, body, nil)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, errors.Join(errNoAnswer, err)
	}
	return resp.StatusCode, raw, nil
}
