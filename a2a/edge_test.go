package a2a_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/a2a"
)

func do(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(out)
}

func TestHandler_refusals(t *testing.T) {
	t.Parallel()
	_, url := serve(t, newScripted())
	const send = `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
	for _, c := range []struct {
		name, method, body string
		headers            []string
		status, code       int
	}{
		{"get", "GET", "", nil, 405, 0},
		{"text_plain", "POST", send, []string{"Content-Type", "text/plain"}, 415, -32600},
		{"too_large", "POST", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":"` + strings.Repeat("x", a2a.MaxBody) + `"}`, nil, 413, -32600},
		{"not_json", "POST", `{`, nil, 200, -32700},
		{"no_version", "POST", `{"id":1,"method":"GetTask"}`, nil, 200, -32600},
		{"object_id", "POST", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, nil, 200, -32600},
		{"unknown_method", "POST", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, nil, 200, -32601},
		{"protocol_99", "POST", send, []string{"A2A-Version", "99.0"}, 200, -32009},
		{"protocol_0.3", "POST", send, []string{"A2A-Version", "0.3"}, 200, -32009},
		{"protocol_1.0", "POST", send, []string{"A2A-Version", "1.0"}, 200, 0},
		{"protocol_1.0.1", "POST", send, []string{"A2A-Version", "1.0.1"}, 200, 0},
		{"protocol_absent", "POST", send, nil, 200, 0},
		{"no_params", "POST", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`, nil, 200, -32602},
		{"wrong_part", "POST", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"kind":"text"}]}}}`, nil, 200, -32602},
		{"old_role", "POST", strings.Replace(send, "ROLE_USER", "user", 1), nil, 200, -32602},
		{"unknown_task", "POST", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"nope"}}`, nil, 200, -32001},
		{"cancel_unknown", "POST", `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"nope"}}`, nil, 200, -32001},
		{"subscribe_unknown", "POST", `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"nope"}}`, nil, 200, -32001},
		{"push", "POST", `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"url":"http://127.0.0.1"}}`, nil, 200, -32003},
	} {
		resp, body := do(t, c.method, url, c.body, c.headers...)
		if resp.StatusCode != c.status {
			t.Errorf("%s: status: got %d, want %d: %s", c.name, resp.StatusCode, c.status, body)
		}
		var e struct {
			Error struct {
				Code    int
				Message string
				Data    []map[string]any
			}
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Errorf("%s: body %q: %v", c.name, body, err)
		}
		if e.Error.Code != c.code {
			t.Errorf("%s: code: got %d, want %d: %s", c.name, e.Error.Code, c.code, body)
		}
		if c.code != 0 && (e.Error.Data[0]["domain"] != "a2a-protocol.org" || strings.Contains(body, "json:")) {
			t.Errorf("%s: error object: %s", c.name, body)
		}
	}
}

func TestHandler_tasks(t *testing.T) {
	t.Parallel()
	client, url := serve(t, newScripted())
	_, empty := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`)
	if !strings.Contains(empty, `"tasks":[]`) {
		t.Errorf("empty list: got %s", empty)
	}
	out, err := client.Call(t.Context(), a2a.Request{Text: "done"})
	if err != nil {
		t.Fatal(err)
	}
	_, list := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`)
	if _, beyond := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageToken":"9223372036854775807"}}`); !strings.Contains(beyond, `"tasks":[]`) {
		t.Errorf("a page beyond the last: %s", beyond)
	}
	if !strings.Contains(list, out.TaskID) || strings.Contains(list, "artifacts") || !strings.Contains(list, `"nextPageToken":""`) {
		t.Errorf("list: got %s", list)
	}
	_, cancel := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"`+out.TaskID+`"}}`)
	if !strings.Contains(cancel, "-32002") {
		t.Errorf("cancel of an ended task: got %s", cancel)
	}
	_, sub := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"`+out.TaskID+`"}}`)
	if !strings.Contains(sub, "-32004") {
		t.Errorf("subscription to an ended task: got %s", sub)
	}
	_, wrong := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"`+out.TaskID+`","historyLength":-1}}`)
	if !strings.Contains(wrong, "-32602") {
		t.Errorf("negative history: got %s", wrong)
	}
}

// TestHandler_laterTurn: a task that waits can be watched, the stream of its next turn begins with the task, and its history
// is in the order of the talk.
func TestHandler_laterTurn(t *testing.T) {
	t.Parallel()
	client, url := serve(t, newScripted())
	asked, err := client.Call(t.Context(), a2a.Request{Text: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	resp, watched := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"`+asked.TaskID+`"}}`)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") || !strings.Contains(watched, `"TASK_STATE_INPUT_REQUIRED"`) {
		t.Errorf("subscription to a waiting task: got %s", watched)
	}
	_, stream := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":`+
		`{"messageId":"m2","taskId":"`+asked.TaskID+`","role":"ROLE_USER","parts":[{"text":"Shanghai"}]}}}`)
	first, _, _ := strings.Cut(stream, "\n\n")
	if !strings.Contains(first, `"result":{"task":{`) || !strings.Contains(first, `"TASK_STATE_WORKING"`) {
		t.Errorf("first event of the later turn: got %s", first)
	}
	_, task := do(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"`+asked.TaskID+`"}}`)
	question, answer := strings.Index(task, `"which city?"`), strings.Index(task, `"Shanghai"`)
	if question < 0 || answer < question || strings.Count(task, `"which city?"`) != 1 {
		t.Errorf("history: got %s, want the question once and before its answer", task)
	}
}

func TestHandler_card(t *testing.T) {
	t.Parallel()
	client, url := serve(t, newScripted())
	cardURL := strings.TrimSuffix(url, "/") + a2a.CardPath
	resp, body := do(t, "GET", cardURL, "")
	if resp.StatusCode != 200 || resp.Header.Get("ETag") == "" || !strings.Contains(resp.Header.Get("Cache-Control"), "max-age") {
		t.Errorf("card: got %d %v", resp.StatusCode, resp.Header)
	}
	if !strings.Contains(body, `"url":"http://scripted.internal/agents/scripted/","protocolBinding":"JSONRPC","protocolVersion":"1.0"`) {
		t.Errorf("interfaces: got %s", body)
	}
	if again, _ := do(t, "GET", cardURL, "", "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("conditional: got %d", again.StatusCode)
	}
	if post, _ := do(t, "POST", cardURL, "{}"); post.StatusCode != 405 {
		t.Errorf("post: got %d", post.StatusCode)
	}
	got, err := client.Card(t.Context())
	if err != nil || got.Name != "Scripted" || !got.Capabilities.Streaming {
		t.Errorf("read back: got %+v, %v", got, err)
	}
	if _, err := a2a.ReadCard(strings.NewReader(`{"name":"` + strings.Repeat("x", a2a.MaxCard) + `"}`)); err == nil {
		t.Error("a card that is too large was read")
	}
	if _, err := a2a.ReadCard(strings.NewReader(`{"name":"x"}`)); err == nil {
		t.Error("a card without an address was read")
	}
}

// TestHandler_foreignClient is a second opinion: the SDK's own client against this edge.
func TestHandler_foreignClient(t *testing.T) {
	t.Parallel()
	_, url := serve(t, newScripted())
	found, err := agentcard.DefaultResolver.Resolve(t.Context(), strings.TrimSuffix(url, "/"))
	if err != nil {
		t.Fatalf("resolve card: %v", err)
	}
	found.SupportedInterfaces[0].URL = url
	client, err := a2aclient.NewFromCard(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for event, err := range client.SendStreamingMessage(t.Context(), &wire.SendMessageRequest{
		Message: wire.NewMessage(wire.MessageRoleUser, wire.NewTextPart("talk"), wire.NewDataPart(map[string]any{"a": nil})),
	}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case *wire.Task:
			kinds = append(kinds, "task")
		case *wire.TaskStatusUpdateEvent:
			kinds = append(kinds, string(e.Status.State))
		case *wire.TaskArtifactUpdateEvent:
			kinds = append(kinds, e.Artifact.Name)
		}
	}
	want := "task TASK_STATE_WORKING TASK_STATE_WORKING TASK_STATE_WORKING TASK_STATE_WORKING RESULT TASK_STATE_COMPLETED"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}
