package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/openai"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

func client(t *testing.T, h http.Handler, key string) *openai.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return openai.New(openai.Config{BaseURL: srv.URL + "/v1", Key: key, Model: "m", HTTP: srv.Client()})
}

func ask(t *testing.T, m *openai.Model) (agent.Answer, error) {
	t.Helper()
	return m.Stream(t.Context(), agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "你好"}}}, agent.OnText(func(string) {}))
}

func TestStream_Statuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Code{
		400: fault.Invalid, 401: fault.Denied, 403: fault.Denied, 404: fault.Invalid, 408: fault.Unavailable, 409: fault.Unavailable,
		413: fault.Invalid, 422: fault.Invalid, 429: fault.RateLimited, 500: fault.Unavailable, 502: fault.Unavailable, 503: fault.Unavailable, 529: fault.Unavailable,
	} {
		for _, body := range []string{``, `{"error":{"message":"words"}}`, `<html>`, `{"error":"words"}`, `[]`, `{`} {
			m := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			}), "")
			answer, err := ask(t, m)
			if fault.CodeOf(err) != want || answer.Complete || len(answer.Request) == 0 {
				t.Errorf("%d %s: got %v, complete %v, want %q", status, body, err, answer.Complete, want)
			}
		}
	}
}

// TestStream_NoKeyInWords: an endpoint that repeats the key shows it to nobody, not even to the log.
func TestStream_NoKeyInWords(t *testing.T) {
	t.Parallel()
	const key = "very-secret-key"
	for _, status := range []int{200, 400, 401, 404, 500} {
		for _, words := range []string{"wrong key " + key, "wrong key sk-abc", "ask http://10.0.0.1/admin"} {
			m := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("got authorization %q", got)
				}
				w.WriteHeader(status)
				_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": words}})
			}), key)
			_, err := ask(t, m)
			for _, secret := range []string{key, "sk-abc", "10.0.0.1"} {
				if err == nil || strings.Contains(err.Error(), secret) {
					t.Errorf("%d: got %v", status, err)
				}
			}
		}
	}
}

func TestStream_NobodyThere(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	m := openai.New(openai.Config{BaseURL: srv.URL + "/v1", Model: "m", HTTP: srv.Client()})
	srv.Close()
	_, err := ask(t, m)
	if fault.CodeOf(err) != fault.Unavailable || strings.Contains(fault.MessageOf(err), "127.0.0.1") {
		t.Errorf("got %v", err)
	}
	if err := openai.Probe(t.Context(), openai.Config{BaseURL: srv.URL, HTTP: http.DefaultClient}); err == nil {
		t.Error("the probe found somebody")
	}
}

// TestStream_Cancel: Stop ends a stream that says nothing more, at once, and the endpoint notices.
func TestStream_Cancel(t *testing.T) {
	t.Parallel()
	stub := llmstub.New(&llmstub.Case{ID: "m", Turns: []llmstub.Turn{{
		SSE: "data: {\"choices\":[{\"delta\":{\"content\":\"你好\"}}]}\n\n", End: "hang",
	}}})
	left := make(chan struct{})
	m := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stub.ServeHTTP(w, r)
		close(left)
	}), "")
	stopped := errors.New("stop was pressed")
	ctx, cancel := context.WithCancelCause(t.Context())
	said := ""
	answer, err := m.Stream(ctx, agent.Prompt{Messages: []agent.Message{{Role: agent.User, Text: "x"}}}, agent.OnText(func(delta string) {
		said += delta
		cancel(stopped)
	}))
	if fault.CodeOf(err) != fault.Cancelled || said != "你好" || answer.Text != said || answer.Complete {
		t.Errorf("got %v, %q, complete %v", err, said, answer.Complete)
	}
	<-left
	if r := stub.Records(); len(r) != 1 || r[0].Ended != "client left while it hung" {
		t.Errorf("got %+v", r)
	}
}

// TestStream_Request: what goes out, byte for byte where it matters.
func TestStream_Request(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "a-person's-real-key")
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere.example/v1")
	t.Setenv("OPENAI_ORG_ID", "org")
	c := &llmstub.Case{
		ID: "m", Turns: []llmstub.Turn{{Say: "好"}},
		Expected: llmstub.Expected{
			Requests: &llmstub.Range{Min: 1, Max: 1},
			Wire:     []string{"answered", "ids_present", "ids_unique", "args_object", "names_valid", "tools_nonempty", "string_tool_content", "content_or_calls", "system_first", "content_key_present"},
			Sent: []llmstub.SentReq{{N: 1, Lacks: []string{"broken{", "查 菜单"}, Fields: []llmstub.PathCheck{
				{Path: "model", Equals: json.RawMessage(`"m"`)},
				{Path: "stream", Equals: json.RawMessage(`true`)},
				{Path: "stream_options.include_usage", Equals: json.RawMessage(`true`)},
				{Path: "system.0.content", Equals: json.RawMessage(`"S"`)},
				{Path: "assistant.0.content", Equals: json.RawMessage(`null`)},
				{Path: "assistant.0.tool_calls.0.function.arguments", Equals: json.RawMessage(`"{\"a\":1}"`)},
				{Path: "assistant.0.tool_calls.1.function.arguments", Equals: json.RawMessage(`"{}"`)},
				{Path: "assistant.0.tool_calls.1.function.name", Equals: json.RawMessage(`"____"`)},
				{Path: "tool.1.tool_call_id", Equals: json.RawMessage(`"c2"`)},
				{Path: "tool.1.content", Equals: json.RawMessage(`"no such tool"`)},
				{Path: "assistant.1.content", Equals: json.RawMessage(`"又"`)},
				{Path: "assistant.1.tool_calls", Absent: true},
				{Path: "tools.0.function.parameters.properties.a.type", Equals: json.RawMessage(`"integer"`)},
				{Path: "tools.0.function.description", Equals: json.RawMessage(`"Looks."`)},
			}}},
		},
	}
	stub := llmstub.New(c)
	m := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Openai") || name == "Authorization" {
				t.Errorf("got header %s: %q", name, r.Header[name])
			}
		}
		stub.ServeHTTP(w, r)
	}), "")
	answer, err := m.Stream(t.Context(), agent.Prompt{
		Messages: []agent.Message{
			{Role: agent.System, Text: "S"},
			{Role: agent.User, Text: "看"},
			{Role: agent.Assistant, Calls: []agent.ToolCall{
				{ID: "c1", Name: "look", Args: json.RawMessage(`{"a":1}`)}, {ID: "c2", Name: "查 菜单", Args: json.RawMessage(`"broken{"`)},
			}},
			{Role: agent.Tool, ToolCallID: "c1", Text: "{}"},
			{Role: agent.Tool, ToolCallID: "c2", Text: "no such tool"},
			{Role: agent.Assistant, Text: "又"},
			{Role: agent.User, Text: "好"},
		},
		Tools: []capability.Definition{{Name: "look", Description: "Looks.", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}},
	}, agent.OnText(func(string) {}))
	if err != nil || answer.Text != "好" || answer.Model != "m" || m.Name() != "m" || !json.Valid(answer.Request) {
		t.Errorf("got %+v, %v", answer, err)
	}
	for _, bad := range stub.Check(c) {
		t.Error(bad)
	}
}

// TestStream_NoTools: with nothing to offer, nothing of tools is sent.
func TestStream_NoTools(t *testing.T) {
	t.Parallel()
	c := &llmstub.Case{ID: "m", Turns: []llmstub.Turn{{Say: "好"}}, Expected: llmstub.Expected{Sent: []llmstub.SentReq{{N: 1, Fields: []llmstub.PathCheck{
		{Path: "tools", Absent: true}, {Path: "tool_choice", Absent: true}, {Path: "parallel_tool_calls", Absent: true},
	}}}}}
	stub := llmstub.New(c)
	if _, err := ask(t, client(t, stub, "")); err != nil {
		t.Error(err)
	}
	for _, bad := range stub.Check(c) {
		t.Error(bad)
	}
}

func TestStream_Usage(t *testing.T) {
	t.Parallel()
	stub := llmstub.New(&llmstub.Case{ID: "m", Turns: []llmstub.Turn{{SSE: `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":12,"completion_tokens":1}}

data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":2}}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}

data: [DONE]

`}}})
	answer, err := ask(t, client(t, stub, ""))
	if err != nil || answer.Usage != (agent.Usage{Input: 12, Output: 3}) || answer.Text != "ab" || answer.Finish != "stop" || !answer.Complete {
		t.Errorf("got %+v, %v, want the last total", answer, err)
	}
}

func TestCheckBaseURL(t *testing.T) {
	t.Parallel()
	for base, good := range map[string]bool{
		"http://127.0.0.1:11434/v1": true, "https://api.example.com/v1/": true, "https://api.example.com": true,
		"": false, "host:8080/v1": false, "/v1": false, "ftp://x/v1": false, "http://": false, "http://x/v1?key=1": false,
		"http://x/v1#a": false, "https://user:pw@x/v1": false, "https://x/v1/chat/completions": false, "https://x/v1/chat/completions/": false, "http://[::1": false,
	} {
		if err := (openai.Config{BaseURL: base, Model: "m"}).Check(); (err == nil) != good {
			t.Errorf("%q: got %v", base, err)
		}
	}
	if err := (openai.Config{BaseURL: "https://user:hunter2@x/v1", Model: "m"}).Check(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("got %s, %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(srv.Close)
	if err := openai.Probe(t.Context(), openai.Config{BaseURL: srv.URL + "/v1/", Key: "k", HTTP: srv.Client()}); err != nil {
		t.Errorf("got %v: any answer will do", err)
	}
}
