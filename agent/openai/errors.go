package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/redact"
	"agentmesh/app/platform/sse"
	"agentmesh/app/platform/text"
)

// maxWords caps what is read of an answer with an HTTP error, in bytes.
const maxWords = 64 << 10

// errStatus is an answer with an HTTP status that is none of success. The endpoint's words may repeat a key, so they
// are not part of its text, which is logged.
type errStatus struct {
	status int
	body   string
	after  time.Duration // the pause that it asks for
}

func (e errStatus) Error() string { return fmt.Sprintf("the endpoint answered HTTP %d", e.status) }

// refused reads an HTTP error before the library does, which loses the status and the words of some. A redirect is
// one too: it is not followed, since a key may not go where the settings do not say.
func refused(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(r)
	if err != nil || resp.StatusCode < http.StatusMultipleChoices {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxWords))
	return nil, errStatus{resp.StatusCode, string(raw), pauseOf(resp.Header, time.Now())}
}

// failed turns what went wrong into a *agent.ModelError; a call that its caller ended is a plain fault. Words name
// the model, and the log also the host.
func (m *Model) failed(ctx context.Context, err error, request []byte) error {
	class := classOf(err)
	err = fmt.Errorf("model %s at %s: %w", m.config.Model, m.config.host(), cause(err))
	if ctx.Err() != nil {
		return fault.Wrap(err, fault.CodeOf(ctx.Err()), "the model call ended: %s", fault.MessageOf(ctx.Err()))
	}
	var status errStatus
	errors.As(err, &status)
	return &agent.ModelError{Class: class, After: status.after, Err: m.inWords(err, request)}
}

// inWords says what went wrong without an address or a key.
func (m *Model) inWords(err error, request []byte) error {
	name := m.config.Model
	var status errStatus
	var upstream errUpstream
	switch {
	case errors.As(err, &status):
		code, words := m.byStatus(status, request)
		return fault.Wrap(err, code, "%s", words)
	case errors.As(err, &upstream):
		return fault.Wrap(err, fault.Unavailable, "the model %s reported an error: %s", name, clip(upstream.words, m.secrets))
	case errors.Is(err, errNoStream):
		return fault.Wrap(err, fault.Unavailable, "the address of the model %s answers, but not with a chat completion; check %s", name, m.config.AddressFrom)
	case errors.Is(err, errGarbled), errors.Is(err, sse.ErrTooLarge):
		return fault.Wrap(err, fault.Unavailable, "the answer of the model %s cannot be read", name)
	case errors.Is(err, errEndless):
		return fault.Wrap(err, fault.TooLarge, "the answer of the model %s does not end; it was stopped after %d bytes", name, MaxAnswer)
	case errors.Is(err, errSilent):
		return fault.Wrap(err, fault.Unavailable, "the model %s went silent", name)
	case errors.Is(err, errQueued):
		return fault.Wrap(err, fault.Unavailable, "the model %s kept the request waiting for %s", name, m.config.Waiting)
	case isCut(err):
		return fault.Wrap(err, fault.Unavailable, "the answer of the model %s was cut off", name)
	}
	return fault.Wrap(err, fault.Unavailable, "the model %s cannot be reached", name)
}

func isCut(err error) bool { return errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF) }

// byStatus gives the code of a fault and its words.
func (m *Model) byStatus(err errStatus, request []byte) (fault.Code, string) {
	name, said := m.config.Model, clip(wordsOf([]byte(err.body)), m.secrets)
	if said != "" {
		said = "; it said: " + said
	}
	switch status := err.status; {
	case status < http.StatusBadRequest:
		return fault.Invalid, fmt.Sprintf("the address of the model %s leads elsewhere (HTTP %d); check %s", name, status, m.config.AddressFrom)
	case status == http.StatusUnauthorized:
		return fault.Denied, fmt.Sprintf("the model %s refused the key; check %s", name, m.config.KeyFrom)
	case status == http.StatusPaymentRequired:
		return fault.Denied, fmt.Sprintf("the key has no credit for the model %s; check %s", name, m.config.KeyFrom)
	case status == http.StatusForbidden:
		return fault.Denied, fmt.Sprintf("the key may not use the model %s; check %s", name, m.config.KeyFrom)
	case status == http.StatusNotFound:
		return fault.Invalid, fmt.Sprintf("the model %s or its address does not exist; check %s%s", name, m.config.AddressFrom, said)
	case status == http.StatusTooManyRequests:
		return fault.RateLimited, fmt.Sprintf("the model %s is asked too often; try again later", name)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= http.StatusInternalServerError:
		return fault.Unavailable, fmt.Sprintf("the model %s is not available right now (HTTP %d)", name, status)
	}
	return fault.Invalid, fmt.Sprintf("the model %s refused the request (HTTP %d)%s%s", name, err.status, said, remedy(err.body, request))
}

// remedy names the fields of a request that a refusal speaks of and that can be left out (case tool-params-refused).
func remedy(body string, request []byte) string {
	var sent map[string]json.RawMessage
	_ = json.Unmarshal(request, &sent) // it was written by us
	var fields []string
	for _, field := range LeavableFields() {
		if sent[field] != nil && regexp.MustCompile(`\b`+field+`\b`).MatchString(body) {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return fmt.Sprintf("; the setting leave_out: [%s] of a model in agentmesh.yaml leaves that out", strings.Join(fields, ", "))
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
	case isNull(c.Error) && isNull(c.Message):
		return ""
	case isNull(c.Error): // a list of what is wrong with the request
		return string(c.Message)
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
