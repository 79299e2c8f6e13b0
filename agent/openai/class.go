package openai

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentmesh/agent"
)

// classOf names the kind of thing that went wrong, of what classify has words for.
func classOf(err error) agent.ErrorClass {
	var status errStatus
	var upstream errUpstream
	switch {
	case errors.As(err, &status) && tooLong(status.code+" "+status.words), errors.As(err, &upstream) && tooLong(upstream.code+" "+upstream.words):
		return agent.ContextLength
	case errors.As(err, &status):
		return classOfStatus(status.status)
	case errors.As(err, &upstream) && tooOften(upstream.code+" "+upstream.words):
		return agent.RateLimit
	case errors.As(err, &upstream), errors.Is(err, errNoStream), errors.Is(err, errGarbled), errors.Is(err, errEndless), isCut(err):
		return agent.Upstream
	}
	return agent.Connection
}

func classOfStatus(status int) agent.ErrorClass {
	switch {
	case status == http.StatusUnauthorized:
		return agent.Authentication
	case status == http.StatusForbidden:
		return agent.Permission
	case status == http.StatusTooManyRequests:
		return agent.RateLimit
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= http.StatusInternalServerError:
		return agent.Upstream
	}
	return agent.InvalidRequest
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
	for _, sign := range []string{"rate limit", "rate_limit", "too many requests", "429"} {
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
