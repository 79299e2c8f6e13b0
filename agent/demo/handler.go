// Package demo is the built-in model: an OpenAI-compatible chat-completions endpoint that plans with rules over the
// tools a request offers and the results it carries, in Chinese and English. The same request always has the same
// answer. It must not know the rest of the program: no registry, no database, no menu; whatever it says of a dish, a
// price, a stock or the weather it has read in a tool result of the conversation.
package demo

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// modelName is what the model is called when a request gives no name.
const modelName = "demo"

// maxBody is the largest request body that is read.
const maxBody = 8 << 20

// Option changes a setting of the handler.
type Option func(*handler)

// WithDelay sets the pause between two pieces of a streamed answer; the default is 12 ms, and 0 means none.
func WithDelay(delay time.Duration) Option {
	return func(h *handler) { h.delay = delay }
}

// WithNow sets the clock that stamps answers.
func WithNow(now func() time.Time) Option {
	return func(h *handler) { h.now = now }
}

type handler struct {
	delay time.Duration
	now   func() time.Time
}

// Handler returns the endpoint: POST …/chat/completions and GET …/models under whatever prefix it is mounted.
func Handler(opts ...Option) http.Handler {
	h := &handler{delay: 12 * time.Millisecond, now: time.Now}
	for _, opt := range opts {
		opt(h)
	}
	return h
}

// ServeHTTP tells the two routes apart by the end of the path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case strings.HasSuffix(path, "/chat/completions"):
		h.complete(w, r)
	case strings.HasSuffix(path, "/models"):
		h.models(w, r)
	default:
		writeError(w, http.StatusNotFound, "not_found", "no such path: use POST /chat/completions or GET /models")
	}
}

func (h *handler) models(w http.ResponseWriter, r *http.Request) {
	if !allow(w, r, http.MethodGet) {
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": modelName, "object": "model", "created": 0, "owned_by": "agentmesh"},
	}})
}

func (h *handler) complete(w http.ResponseWriter, r *http.Request) {
	if !allow(w, r, http.MethodPost) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			writeError(w, http.StatusRequestEntityTooLarge, "too_large", "the body is larger than 8 MiB")
			return
		}
		writeError(w, http.StatusBadRequest, "invalid_body", "the body could not be read")
		return
	}
	req, err := readRequest(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	answer := newReply(req, h.now().Unix())
	if !req.Stream {
		writeJSON(w, http.StatusOK, answer.completion())
		return
	}
	h.stream(w, r, answer, req.StreamOptions.IncludeUsage)
}

func allow(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	writeError(w, http.StatusMethodNotAllowed, "method_not_allowed", "use "+method)
	return false
}

// writeError answers in the shape of the OpenAI API.
func writeError(w http.ResponseWriter, status int, code, text string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": text, "type": "invalid_request_error", "param": nil, "code": code,
	}})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	// The status is out; a client that has gone is the only error left, and nobody is there to be told.
	_ = encoder.Encode(body)
}
