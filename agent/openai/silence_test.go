package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/openai"
)

// endpoint answers requests without a network, so that time may be virtual.
type endpoint func(*http.Request) (*http.Response, error)

func (e endpoint) RoundTrip(r *http.Request) (*http.Response, error) { return e(r) }

// answer is a whole answer to a request.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// TestStream_Silence: an endpoint that says nothing for too long is left, and its connection is closed; one that is
// slow is not. A heartbeat is no silence, and no answer.
func TestStream_Silence(t *testing.T) {
	t.Parallel()
	const piece, beat = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", ": PROCESSING\n\n"
	const role, ping = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n", "event: ping\ndata: {}\n\n"
	cases := []struct {
		name  string
		sends []string
		pause time.Duration // before each
		ends  bool
		want  time.Duration
	}{
		{"nothing", nil, 0, false, 2 * time.Minute},
		{"then_nothing", []string{piece}, time.Second, false, time.Second + time.Minute},
		{"slow", slices.Repeat([]string{piece}, 20), 50 * time.Second, true, 20 * 50 * time.Second},
		{"queued_then_answered", append(slices.Repeat([]string{beat}, 8), piece), 30 * time.Second, true, 270 * time.Second},
		{"heartbeats_only", slices.Repeat([]string{beat, role, ping, "data:\n\n"}, 5), 30 * time.Second, false, 5 * time.Minute},
		{"heartbeats_then_nothing", []string{beat}, time.Second, false, time.Second + time.Minute},
		{"a_piece_then_heartbeats", append([]string{piece}, slices.Repeat([]string{beat}, 20)...), 30 * time.Second, false, 5*time.Minute + 30*time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				closed := make(chan struct{})
				m := openai.New(openai.Config{BaseURL: "http://model.test/v1", Model: "m", HTTP: &http.Client{Transport: endpoint(func(r *http.Request) (*http.Response, error) {
					body, w := io.Pipe()
					go func() {
						defer close(closed)
						for _, text := range c.sends {
							time.Sleep(c.pause)
							if _, err := io.WriteString(w, text); err != nil {
								return // it was closed
							}
						}
						if c.ends {
							_, _ = io.WriteString(w, "data: [DONE]\n\n")
							_ = w.Close()
							return
						}
					}()
					context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
				})}})
				began := time.Now()
				answer, err := m.Stream(t.Context(), agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "x"}}}, agent.OnText(func(string) {}))
				took := time.Since(began)
				<-closed
				var failed *agent.ModelError
				if c.ends != (err == nil) || took != c.want || strings.Count(strings.Join(c.sends, ""), piece) != len(answer.Text) {
					t.Errorf("got %q, %v after %s, want the end after %s", answer.Text, err, took, c.want)
				}
				if err != nil && (!errors.As(err, &failed) || failed.Class != agent.Connection) {
					t.Errorf("got %v, want the class connection", err)
				}
			})
		})
	}
}

// TestStream_Classes: what endpoints say in words, in codes and by HTTP, whole or in a stream.
func TestStream_Classes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		header string // Retry-After
		body   string
		class  agent.ErrorClass
		after  time.Duration
	}{
		{"key", 401, "", `{}`, agent.Authentication, 0},
		{"right", 403, "", `{}`, agent.Permission, 0},
		{"busy", 429, "7", `{}`, agent.RateLimit, 7 * time.Second},
		{"request", 400, "", `{"error":{"message":"no such field"}}`, agent.InvalidRequest, 0},
		{"long_in_words", 400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, agent.ContextLength, 0},
		{"long_by_code", 400, "", `{"error":{"message":"Request too large","code":"context_length_exceeded"}}`, agent.ContextLength, 0},
		{"long_by_code_beside_it", 400, "", `{"message":"Request too large","code":"context_length_exceeded"}`, agent.ContextLength, 0},
		{"long_in_a_stream", 200, "", "data: {\"error\":{\"message\":\"too large\",\"code\":\"context_length_exceeded\"}}\n\n", agent.ContextLength, 0},
		{"busy_in_a_stream", 200, "", "data: {\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}\n\n", agent.RateLimit, 0},
		{"no_credit", 402, "", `{}`, agent.Permission, 0},
		{"too_large", 413, "", `{}`, agent.ContextLength, 0},
		{"elsewhere", 302, "", ``, agent.InvalidRequest, 0},
		{"key_in_a_stream", 200, "", "data: {\"error\":{\"message\":\"no\",\"code\":401}}\n\n", agent.Authentication, 0},
		{"broken_in_a_stream", 200, "", "data: {\"error\":{\"message\":\"no\",\"code\":\"502\"}}\n\n", agent.Upstream, 0},
		{"other_number_in_a_stream", 200, "", "data: {\"error\":{\"message\":\"no\",\"code\":1302}}\n\n", agent.Upstream, 0},
		{"too_large_a_piece", 200, "", "data: " + strings.Repeat("x", 5<<20) + "\n\n", agent.Upstream, 0},
		{"busy_by_number", 200, "", "event: error\ndata: {\"code\":429,\"message\":\"later\"}\n\n", agent.RateLimit, 0},
		{"broken", 503, "", `down`, agent.Upstream, 0},
		{"cut", 200, "", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", agent.Upstream, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}), "")
			_, err := ask(t, m)
			var failed *agent.ModelError
			if !errors.As(err, &failed) || failed.Class != c.class || failed.After != c.after {
				t.Errorf("got %v, want %s after %s", err, c.class, c.after)
			}
		})
	}
}

// TestStream_CallsInText: a call whose end tag was left out is one, and what only looks like a call is text.
func TestStream_CallsInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		text  string
		calls int
	}{
		`<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>`: {"", 1},
		`<tool_call>{\"name\":\"look\",\"arguments\":{}}`:             {"", 1},
		`Write a <tool_call> tag, then more.`:                         {"Write a <tool_call> tag, then more.", 0},
		`a <tool_call>no</tool_call> b`:                               {"a <tool_call>no</tool_call> b", 0},
		`a <tool`:                                                     {"a <tool", 0},
	} {
		m := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`+text+`"},"finish_reason":"stop"}]}`)
		}), "")
		said := ""
		answer, err := m.Stream(t.Context(), withTools(1), agent.OnText(func(delta string) { said += delta }))
		if err != nil || answer.Text != want.text || said != want.text || len(answer.Calls) != want.calls {
			t.Errorf("%s: got %q, said %q, %d calls, %v, want %+v", text, answer.Text, said, len(answer.Calls), err, want)
		}
	}
}
