package openai

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/sse"
)

// classOf names the kind of thing that went wrong. What is known of nothing is our own fault.
func classOf(err error) agent.ErrorClass {
	var status errStatus
	var upstream errUpstream
	var request *url.Error
	switch {
	case errors.As(err, &status):
		return classOfAnswer(status.status, codeOf([]byte(status.body))+" "+wordsOf([]byte(status.body)))
	case errors.As(err, &upstream):
		return classOfAnswer(statusIn(upstream.code), upstream.code+" "+upstream.words)
	case errors.Is(err, errNoStream), errors.Is(err, errGarbled), errors.Is(err, sse.ErrTooLarge), errors.Is(err, errEndless), isCut(err):
		return agent.Upstream
	case errors.Is(err, errSilent), errors.Is(err, errQueued), errors.Is(err, errBroken), errors.As(err, &request):
		return agent.Connection
	}
	return agent.ModelInternal
}

// classOfAnswer goes by the HTTP status, and by words where endpoints use one status for several things, or none.
func classOfAnswer(status int, words string) agent.ErrorClass {
	switch {
	case status == http.StatusRequestEntityTooLarge, tooLong(words):
		return agent.ContextLength
	case status == http.StatusUnauthorized:
		return agent.Authentication
	case status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return agent.Permission
	case status == http.StatusTooManyRequests, status == 0 && tooOften(words):
		return agent.RateLimit
	case status == 0, status == http.StatusRequestTimeout, status == http.StatusConflict, status >= http.StatusInternalServerError:
		return agent.Upstream
	}
	return agent.InvalidRequest
}

// statusIn finds the HTTP status among the names that an endpoint gives an error in a stream; 0: there is none.
func statusIn(names string) int {
	for name := range strings.FieldsSeq(names) {
		if n, err := strconv.Atoi(name); err == nil && n >= http.StatusBadRequest && n < 600 {
			return n
		}
	}
	return 0
}

// tooLong tells whether an endpoint says that the request does not fit the model's context. There is no code that
// all of them use.
func tooLong(words string) bool {
	words = strings.ToLower(words)
	for _, sign := range []string{"context length", "context_length", "maximum context", "context window", "too many tokens", "prompt is too long", "input is too long"} {
		if strings.Contains(words, sign) {
			return true
		}
	}
	return false
}

// tooOften tells whether an endpoint says in a stream what else it says by HTTP 429.
func tooOften(words string) bool {
	words = strings.ToLower(words)
	for _, sign := range []string{"rate limit", "rate_limit", "too many requests"} {
		if strings.Contains(words, sign) {
			return true
		}
	}
	return false
}

// pauseOf reads how long an endpoint wants to be left alone (RFC 9110, section 10.2.3, and the header in
// milliseconds that some send beside it).
func pauseOf(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
