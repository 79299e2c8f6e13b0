package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/redact"
	"agentmesh/app/platform/text"
)

// maxWords caps what is read of an answer with an HTTP error, in bytes.
const maxWords = 64 << 10

// errStatus is an answer with an HTTP error. The endpoint's words may repeat a key, so they are not part
// of its text, which is logged.
type errStatus struct {
	status int
	words  string
	code   string        // what it names the error
	after  time.Duration // the pause that it asks for
}

func (e errStatus) Error() string { return fmt.Sprintf("the endpoint answered HTTP %d", e.status) }

// refused reads an HTTP error before the library does, which loses the status and the words of some.
func refused(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(r)
	if err != nil || resp.StatusCode < http.StatusBadRequest {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxWords))
	return nil, errStatus{resp.StatusCode, wordsOf(raw), codeOf(raw), pauseOf(resp.Header, time.Now())}
}

// classify turns what went wrong into a *agent.ModelError; a call that its caller ended is a plain fault.
func classify(ctx context.Context, err error, secrets *redact.Set) error {
	err = cause(err)
	if ctx.Err() != nil {
		return fault.Wrap(err, fault.CodeOf(ctx.Err()), "the model call ended: %s", fault.MessageOf(ctx.Err()))
	}
	var status errStatus
	errors.As(err, &status)
	return &agent.ModelError{Class: classOf(err), After: status.after, Err: inWords(err, secrets)}
}

// inWords says what went wrong without an address or a key.
func inWords(err error, secrets *redact.Set) error {
	var status errStatus
	var upstream errUpstream
	switch {
	case errors.As(err, &status):
		return byStatus(status, clip(status.words, secrets))
	case errors.As(err, &upstream):
		return fault.Wrap(err, fault.Unavailable, "the model reported an error: %s", clip(upstream.words, secrets))
	case errors.Is(err, errNoStream):
		return fault.Wrap(err, fault.Unavailable, "the model's address answers, but not with a chat completion; check LLM_BASE_URL")
	case errors.Is(err, errGarbled):
		return fault.Wrap(err, fault.Unavailable, "the model's answer cannot be read")
	case errors.Is(err, errEndless):
		return fault.Wrap(err, fault.TooLarge, "the model's answer does not end; it was stopped after %d bytes", MaxAnswer)
	case errors.Is(err, errSilent):
		return fault.Wrap(err, fault.Unavailable, "the model went silent")
	case isCut(err):
		return fault.Wrap(err, fault.Unavailable, "the model's answer was cut off")
	}
	return fault.Wrap(err, fault.Unavailable, "the model cannot be reached")
}

func isCut(err error) bool { return errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF) }

func byStatus(err errStatus, said string) error {
	switch status := err.status; {
	case status == http.StatusUnauthorized:
		return fault.Wrap(err, fault.Denied, "the model refused the key; check LLM_API_KEY")
	case status == http.StatusForbidden:
		return fault.Wrap(err, fault.Denied, "the key may not use this model")
	case status == http.StatusNotFound && said == "":
		return fault.Wrap(err, fault.Invalid, "the model or its address does not exist; check LLM_BASE_URL and LLM_MODEL")
	case status == http.StatusNotFound:
		return fault.Wrap(err, fault.Invalid, "the model or its address does not exist; check LLM_BASE_URL and LLM_MODEL (it said: %s)", said)
	case status == http.StatusTooManyRequests:
		return fault.Wrap(err, fault.RateLimited, "the model is asked too often; try again later")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= http.StatusInternalServerError:
		return fault.Wrap(err, fault.Unavailable, "the model is not available right now (HTTP %d)", status)
	}
	return fault.Wrap(err, fault.Invalid, "the model refused the request (HTTP %d): %s", err.status, said)
}

// errorDocument holds the places where endpoints put their words.
type errorDocument struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
}

// named holds the places where endpoints name an error; numbers are among the names.
type named struct {
	Code any `json:"code"`
	Type any `json:"type"`
}

// codeOf finds what an endpoint names an error, in the document or in its error.
func codeOf(raw []byte) string {
	var doc struct {
		named
		Error json.RawMessage `json:"error"`
	}
	var inner named
	if json.Unmarshal(raw, &doc) != nil {
		return ""
	}
	_ = json.Unmarshal(doc.Error, &inner) // it may be a text
	var names []string
	for _, name := range []any{doc.Code, doc.Type, inner.Code, inner.Type} {
		if name != nil {
			names = append(names, fmt.Sprint(name))
		}
	}
	return strings.Join(names, " ")
}

// wordsOf finds what an endpoint said in a document, or in the first of a list of them.
func wordsOf(raw []byte) string {
	var list []errorDocument
	var doc errorDocument
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		doc = list[0]
	} else if json.Unmarshal(raw, &doc) != nil {
		return ""
	}
	return chunk{Error: doc.Error, Message: doc.Message}.words()
}

// words finds what an endpoint said of an error: in its message, or as the error itself.
func (c chunk) words() string {
	var object struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(c.Error, &object) == nil && object.Message != "":
		return object.Message
	case json.Unmarshal(c.Error, &text) == nil && text != "":
		return text
	case json.Unmarshal(c.Message, &text) == nil && text != "":
		return text
	case isNull(c.Error):
		return ""
	}
	return string(c.Error)
}

// clip shortens an endpoint's words, and leaves them out when they may repeat a key or an address.
func clip(s string, secrets *redact.Set) string {
	const most = 300
	if strings.Contains(s, "sk-") || strings.Contains(s, "://") || secrets.Text(s) != s {
		return "(its words are left out: they may hold a key or an address)"
	}
	return text.Clip(s, most)
}
