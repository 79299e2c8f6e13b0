package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const weatherTools = `"tools":[{"type":"function","function":{"name":"call_weather","parameters":{}}},{"type":"function","function":{"name":"list_menu_by_day"}}]`

func serve(t *testing.T, opts ...Option) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(Handler(append([]Option{WithDelay(0)}, opts...)...))
	t.Cleanup(server.Close)
	return server
}

func post(t *testing.T, ctx context.Context, server *httptest.Server, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/demo/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// chunkOnWire is what a client reads of a streamed chunk.
type chunkOnWire struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Model   string `json:"model"`
	Choices []struct {
		Delta struct {
			Role      string   `json:"role"`
			Content   string   `json:"content"`
			ToolCalls []toolOf `json:"tool_calls"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

// readChunks reads a stream to its end and checks its form.
func readChunks(t *testing.T, body io.Reader) []chunkOnWire {
	t.Helper()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	events := strings.Split(strings.TrimSuffix(string(data), "\n\n"), "\n\n")
	if last := events[len(events)-1]; last != "data: [DONE]" {
		t.Fatalf("the stream ends with %q", last)
	}
	var chunks []chunkOnWire
	for _, event := range events[:len(events)-1] {
		var one chunkOnWire
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &one); err != nil {
			t.Fatalf("event %q: %v", event, err)
		}
		if one.Object != "chat.completion.chunk" || one.ID == "" || len(chunks) > 0 && one.ID != chunks[0].ID {
			t.Errorf("chunk %+v", one)
		}
		chunks = append(chunks, one)
	}
	return chunks
}

func TestHandler_streamsTextInPieces(t *testing.T) {
	t.Parallel()
	response := post(t, t.Context(), serve(t), `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"你是谁？"}]}`)
	if got := response.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("Content-Type = %q", got)
	}
	chunks := readChunks(t, response.Body)
	text, finish := "", ""
	for i, c := range chunks[:len(chunks)-1] {
		if c.Usage != nil || len(c.Choices) != 1 {
			t.Fatalf("chunk %d = %+v; want one choice and no usage", i, c)
		}
		piece := c.Choices[0].Delta.Content
		if n := utf8.RuneCountInString(piece); n > textPiece || !utf8.ValidString(piece) || strings.ContainsRune(piece, utf8.RuneError) {
			t.Errorf("piece %q is too long or cut in a character", piece)
		}
		text += piece
		if c.Choices[0].FinishReason != nil {
			finish = *c.Choices[0].FinishReason
		}
	}
	if !strings.Contains(text, "演示模型") || finish != "stop" || chunks[0].Choices[0].Delta.Role != "assistant" || len(chunks) < 20 {
		t.Errorf("text %q, finish %q in %d chunks", text, finish, len(chunks))
	}
	last := chunks[len(chunks)-1]
	if len(last.Choices) != 0 || last.Usage == nil || last.Usage.Prompt == 0 || last.Usage.Total != last.Usage.Prompt+last.Usage.Completion {
		t.Errorf("usage chunk = %+v", last)
	}
}

func TestHandler_streamsToolCalls(t *testing.T) {
	t.Parallel()
	chunks := readChunks(t, post(t, t.Context(), serve(t), `{"stream":true,`+weatherTools+`,"messages":[{"role":"user","content":[{"type":"text","text":"上海天气怎么样，今天食堂吃什么"}]}]}`).Body)
	calls, finish := map[int]toolOf{}, ""
	for _, c := range chunks {
		if c.Usage != nil || len(c.Choices) != 1 {
			t.Fatalf("chunk %+v; usage was not asked for", c)
		}
		for _, part := range c.Choices[0].Delta.ToolCalls {
			call := calls[*part.Index]
			call.ID += part.ID
			call.Function.Name += part.Function.Name
			call.Function.Arguments += part.Function.Arguments
			calls[*part.Index] = call
		}
		if c.Choices[0].FinishReason != nil {
			finish = *c.Choices[0].FinishReason
		}
	}
	if finish != "tool_calls" || len(calls) != 2 || calls[0].ID == calls[1].ID || !strings.HasPrefix(calls[0].ID, "call_") {
		t.Fatalf("finish %q, calls %+v", finish, calls)
	}
	if got := calls[0].Function.Name + string(calls[0].Function.Arguments); got != `call_weather{"city":"上海","days":1}` {
		t.Errorf("first call = %s", got)
	}
}

func TestHandler_answersInOnePiece(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, body string) map[string]any {
		response := post(t, t.Context(), serve(t), body)
		var got map[string]any
		if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v", response.StatusCode, err)
		}
		return got
	}
	choice := func(got map[string]any) map[string]any { return got["choices"].([]any)[0].(map[string]any) }

	got := ask(t, `{"model":"other","messages":[{"role":"user","content":"hello"}]}`)
	said := choice(got)["message"].(map[string]any)
	if got["object"] != "chat.completion" || got["model"] != "other" || choice(got)["finish_reason"] != "stop" || !strings.Contains(said["content"].(string), "Hello") {
		t.Errorf("answer = %v", got)
	}
	got = ask(t, `{`+weatherTools+`,"parallel_tool_calls":false,"messages":[{"role":"user","content":"上海天气怎么样，今天食堂吃什么"}]}`)
	said = choice(got)["message"].(map[string]any)
	if choice(got)["finish_reason"] != "tool_calls" || said["content"] != nil || len(said["tool_calls"].([]any)) != 1 {
		t.Errorf("answer = %v", got)
	}
	got = ask(t, `{`+weatherTools+`,"tool_choice":"none","messages":[{"role":"user","content":"上海天气怎么样"}]}`)
	if choice(got)["finish_reason"] != "stop" {
		t.Errorf("tool_choice none: answer = %v", got)
	}
}

func TestHandler_sameRequestSameAnswer(t *testing.T) {
	t.Parallel()
	server := serve(t, WithNow(func() time.Time { return time.Unix(1, 0) }))
	body := `{"stream":true,` + weatherTools + `,"messages":[{"role":"user","content":"上海天气怎么样，今天食堂吃什么"}]}`
	var answers [3]string
	for i := range answers {
		data, err := io.ReadAll(post(t, t.Context(), server, body).Body)
		if err != nil {
			t.Fatal(err)
		}
		answers[i] = string(data)
	}
	if answers[0] != answers[1] || answers[1] != answers[2] {
		t.Errorf("answers differ:\n%s\n%s", answers[0], answers[1])
	}
}

func TestHandler_stopsWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	inner := Handler(WithDelay(time.Hour))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	response := post(t, ctx, server, `{"stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "data: {") {
		t.Fatalf("first line %q, %v", line, err)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the handler goes on after its client has left")
	}
}

func TestHandler_models(t *testing.T) {
	t.Parallel()
	server := serve(t)
	response, err := server.Client().Get(server.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, _ := io.ReadAll(response.Body)
	if !strings.Contains(string(data), `"id":"demo"`) || response.StatusCode != http.StatusOK {
		t.Errorf("status %d, body %s", response.StatusCode, data)
	}
}

func TestHandler_refusesBadRequests(t *testing.T) {
	t.Parallel()
	server := serve(t)
	tests := []struct {
		name, method, path, body string
		status                   int
	}{
		{"no JSON", "POST", "/chat/completions", "hello", 400},
		{"empty", "POST", "/chat/completions", "", 400},
		{"no messages", "POST", "/chat/completions", `{"messages":[]}`, 400},
		{"a role of its own", "POST", "/chat/completions", `{"messages":[{"role":"cook","content":"x"}]}`, 400},
		{"content a number", "POST", "/chat/completions", `{"messages":[{"role":"user","content":5}]}`, 400},
		{"result without its call", "POST", "/chat/completions", `{"messages":[{"role":"tool","content":"x"}]}`, 400},
		{"tool without a name", "POST", "/chat/completions", `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}`, 400},
		{"two answers", "POST", "/chat/completions", `{"n":2,"messages":[{"role":"user","content":"x"}]}`, 400},
		{"too large", "POST", "/chat/completions", `{"x":"` + strings.Repeat("a", maxBody) + `"}`, 413},
		{"GET", "GET", "/chat/completions", "", 405},
		{"POST to the models", "POST", "/models", "{}", 405},
		{"another path", "GET", "/v1/embeddings", "", 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			recorder := httptest.NewRecorder()
			server.Config.Handler.ServeHTTP(recorder, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
			var got struct {
				Error struct{ Message, Type string }
			}
			if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil || got.Error.Message == "" || got.Error.Type == "" {
				t.Errorf("body %s: %v", recorder.Body, err)
			}
			if recorder.Code != test.status {
				t.Errorf("status = %d; want %d", recorder.Code, test.status)
			}
		})
	}
}
