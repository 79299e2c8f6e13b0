package openai

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// failing gives the error of a model whose endpoint, with a path and a key, answers so.
func failing(t *testing.T, answer func(r *http.Request) (*http.Response, error)) error {
	t.Helper()
	m := New(Config{
		BaseURL: "https://host.test:8443/some/path/v1", Key: "secret-key-1", Model: "gpt-x", KeyFrom: "MY_KEY", AddressFrom: "models[2]",
		HTTP: &http.Client{Transport: transport(answer)},
	})
	_, err := m.Stream(t.Context(), agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "x"}}}, agent.OnText(func(string) {}))
	if err == nil {
		t.Fatal("got no error")
	}
	return err
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestFailed_NamesTheModel: the page's words name the model and what to check, the log also the host; neither has the
// path or the key (case http-502-html).
func TestFailed_NamesTheModel(t *testing.T) {
	t.Parallel()
	for status, check := range map[int]string{302: "models[2]", 401: "MY_KEY", 402: "MY_KEY", 403: "MY_KEY", 404: "models[2]", 429: "", 400: "HTTP 400", 502: "HTTP 502", 200: "models[2]", 0: ""} {
		err := failing(t, func(r *http.Request) (*http.Response, error) {
			if status == 0 {
				return nil, errors.New("refused")
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader("<html><title>502 Bad Gateway</title></html>"))}, nil
		})
		words, log := fault.MessageOf(err), err.Error()
		if !strings.Contains(words, "gpt-x") || !strings.Contains(words, check) || strings.Contains(words, "host.test") {
			t.Errorf("%d: got the words %q, want the model and %q", status, words, check)
		}
		if !strings.Contains(log, "gpt-x at host.test:8443") || strings.Contains(log, "/some/path") || strings.Contains(log, "secret-key") {
			t.Errorf("%d: got the log %q, want the model and the host alone", status, log)
		}
	}
}

// TestClassOf: by what it is; what nothing is known of is our own fault, and no other model is asked for it.
func TestClassOf(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]agent.ErrorClass{
		errCut: agent.Upstream, errNoStream: agent.Upstream, errSilent: agent.Connection, errQueued: agent.Connection,
		&url.Error{Op: "Post", Err: errors.New("tls")}: agent.Connection, errors.New("what is this"): agent.ModelInternal,
	} {
		if got := classOf(err); got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
	err := failing(t, func(r *http.Request) (*http.Response, error) {
		body, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, "data: {}\n\n")
			_ = w.CloseWithError(errors.New("connection reset by peer"))
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: body}, nil
	})
	var failed *agent.ModelError
	if !errors.As(err, &failed) || failed.Class != agent.Connection {
		t.Errorf("a broken connection: got %v", err)
	}
}
