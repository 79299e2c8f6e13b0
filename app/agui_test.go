package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/agent/agui/aguicheck"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/sse"
)

// standard posts an input to /agui and reads the whole stream.
func standard(t *testing.T, m *meshtest.Mesh, body string) meshtest.Transcript {
	t.Helper()
	return whole(t, m, "ann", "/agui", body)
}

// whole posts to a path that answers with a stream, and reads it to its end.
func whole(t *testing.T, m *meshtest.Mesh, user, path, body string) meshtest.Transcript {
	t.Helper()
	resp := m.Open(user, http.MethodPost, path, body, nil)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %d %s", path, resp.StatusCode, readAll(t, resp))
	}
	out, check := meshtest.Transcript{RunID: resp.Header.Get("X-Run-Id")}, aguicheck.New(strings.Contains(body, `"protocolVersion"`))
	for raw, err := range sse.Read(resp.Body) {
		if err != nil {
			t.Fatal(err)
		}
		if err := check.Take(raw.Data); err != nil {
			t.Errorf("POST %s: %v", path, err)
		}
		var e agui.Event
		if err := json.Unmarshal([]byte(raw.Data), &e); err != nil {
			t.Fatal(err)
		}
		out.Events = append(out.Events, e)
	}
	return out
}

func resumeBody(thread, interrupt, payload string) string {
	return `{"threadId":"` + thread + `","runId":"again","protocolVersion":"1.0","messages":[],"resume":[{"interruptId":"` + interrupt +
		`","status":"resolved","payload":` + payload + `}]}`
}

// interruptOf checks the end of a stream that waits for a person, and gives the interrupt's id.
func interruptOf(t *testing.T, got meshtest.Transcript) string {
	t.Helper()
	last := got.Last()
	if last.Type != agui.RunFinished || last.Outcome == nil || last.Outcome.Type != "interrupt" || len(last.Outcome.Interrupts) != 1 {
		t.Fatalf("the stream ended with %+v after %s", last, got.Types())
	}
	n := len(got.Events)
	if got.Events[n-2].Type != agui.MessagesSnapshot || got.Events[n-3].Type != agui.StateSnapshot {
		t.Errorf("no snapshots before the end: %s", got.Types())
	}
	return last.Outcome.Interrupts[0].ID
}

func TestStandardInterruptAndResume(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	asked := standard(t, m, meshtest.Input("t1", "帮我订一份水煮牛肉。"))
	id := interruptOf(t, asked)

	again := standard(t, m, meshtest.Input("t1", "再说一句"))
	if got := interruptOf(t, again); got != id {
		t.Errorf("a second input got the interrupt %s, want the open one %s", got, id)
	}
	unknown := standard(t, m, resumeBody("t1", "conf-unknown", `{"approved":true}`))
	if got := interruptOf(t, unknown); got != id {
		t.Errorf("an unknown answer got the interrupt %s, want the open one %s", got, id)
	}
	done := standard(t, m, resumeBody("t1", id, `{"approved":true}`))
	if done.Last().Type != agui.RunFinished || done.Last().RunID != "again" || done.Last().Outcome != nil {
		t.Errorf("resumed: ended with %+v", done.Last())
	}
	if slices.Contains(done.Tools(), "place_order") || len(done.Results()) != 1 || done.RunID != asked.RunID {
		t.Errorf("a resume must give the result of the old call and start none: %s", done.Types())
	}
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
	late := standard(t, m, resumeBody("t1", id, `{"approved":false}`))
	if late.Last().Type != agui.RunFinished || late.Last().Outcome != nil {
		t.Errorf("a late answer ended with %+v, want a normal run", late.Last())
	}
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("orders after a late answer: %+v", list)
	}
}

func TestStandardSnapshotHasTheStreamsIDs(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	got := standard(t, m, meshtest.Input("t1", "水煮牛肉多少钱，还有库存吗？"))
	var snapshot agui.Event
	seen := map[string]bool{}
	for _, e := range got.Events {
		switch e.Type {
		case agui.MessagesSnapshot:
			snapshot = e
		case agui.TextMessageStart, agui.ToolCallResult:
			seen[e.MessageID] = true
		}
	}
	if len(snapshot.Messages) != 4 {
		t.Fatalf("the snapshot has %d messages: %+v", len(snapshot.Messages), snapshot.Messages)
	}
	for _, msg := range snapshot.Messages[2:] {
		if !seen[msg.ID] {
			t.Errorf("the message %s of the snapshot had another id in the stream", msg.ID)
		}
	}
	if call := snapshot.Messages[1].ToolCalls[0]; call.Function.Name != "search_food_catalog" || snapshot.Messages[2].ToolCallID != call.ID {
		t.Errorf("call %+v, result %+v", call, snapshot.Messages[2])
	}
}

func TestStandardRejection(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for i, payload := range []string{`{"approved":false}`, `false`, `{"approved":false,"reason":"太贵了"}`} {
		thread := "t" + string(rune('a'+i))
		id := interruptOf(t, standard(t, m, meshtest.Input(thread, "帮我订一份水煮牛肉。")))
		done := standard(t, m, resumeBody(thread, id, payload))
		if done.Last().Type != agui.RunFinished || strings.TrimSpace(done.Text()) == "" {
			t.Errorf("%s: ended with %s, said %q", payload, done.Last().Type, done.Text())
		}
	}
	for _, o := range orders(m, "ann") {
		if o.Status != "REJECTED" {
			t.Errorf("order %+v", o)
		}
	}
	for _, bad := range []string{`null`, `{}`, `"yes"`, `1`} {
		if status, _ := m.Do("ann", http.MethodPost, "/agui", resumeBody("tx", "conf-1", bad)); status != http.StatusBadRequest {
			t.Errorf("the answer %s: %d, want 400", bad, status)
		}
	}
}

// A decision by POST lets a run go on whose stream has ended with an interrupt.
func TestStandardDecidedElsewhere(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	asked := standard(t, m, meshtest.Input("t1", "帮我订一份水煮牛肉。"))
	interruptOf(t, asked)
	if status, body := m.Do("ann", http.MethodPost, "/runs/"+asked.RunID+"/confirm", `{}`); status != http.StatusOK {
		t.Fatalf("confirm: %d %s", status, body)
	}
	m.Follow("ann", asked.RunID, "").Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
}

// Answers that change nothing while another question is open get that question at once: no event would come.
func TestStandardRepeatedAnswerGetsTheOpenQuestion(t *testing.T) {
	t.Parallel()
	order := func(id string) llmstub.ScriptCall {
		return llmstub.ScriptCall{ID: id, Name: "place_order", Arguments: json.RawMessage(`{"items":[{"dish":"水煮牛肉","quantity":1}]}`)}
	}
	m := withStub(t, llmstub.Turn{Call: []llmstub.ScriptCall{order("call-1"), order("call-2")}}, llmstub.Turn{Say: "好了。"})
	asked := standard(t, m, meshtest.Input("t1", "订两份"))
	open := asked.Last().Outcome
	if open == nil || len(open.Interrupts) != 2 {
		t.Fatalf("ended with %+v after %s", asked.Last(), asked.Types())
	}
	first, second := open.Interrupts[0].ID, open.Interrupts[1].ID
	for range 2 {
		if got := interruptOf(t, standard(t, m, resumeBody("t1", first, `false`))); got != second {
			t.Errorf("open after the first answer: %s, want %s", got, second)
		}
	}
	done := standard(t, m, resumeBody("t1", second, `true`))
	if done.Last().Outcome != nil || done.Text() != "好了。" {
		t.Errorf("ended with %+v, said %q", done.Last(), done.Text())
	}
	got := map[string]int{}
	for _, o := range orders(m, "ann") {
		got[o.Status]++
	}
	if got["CONFIRMED"] != 1 || got["REJECTED"] != 1 {
		t.Errorf("orders: %v", got)
	}
}

// withStub starts a mesh whose model plays these turns.
func withStub(t *testing.T, turns ...llmstub.Turn) *meshtest.Mesh {
	t.Helper()
	model := httptest.NewServer(llmstub.New(&llmstub.Case{ID: "case", Turns: turns}))
	t.Cleanup(model.Close)
	return meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.LLMBaseURL, c.LLMModel = model.URL+"/v1", "case" }})
}

// Clients that name a protocolVersion are told ours; others see the shapes of before.
func TestStandardProtocolVersion(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	old := standard(t, m, meshtest.Input("t1", "现在几点？"))
	modern := standard(t, m, strings.Replace(meshtest.Input("t2", "现在几点？"), "{", `{"protocolVersion":"1.7",`, 1))
	if got := old.Events[0].ProtocolVersion; got != "" {
		t.Errorf("an old client is told the version %q", got)
	}
	if got := modern.Events[0].ProtocolVersion; got != agui.ProtocolVersion {
		t.Errorf("a modern client is told the version %q, want %s", got, agui.ProtocolVersion)
	}
}

// An empty conversation is restated as an empty list: without one, clients refuse the event.
func TestStandardSnapshotOfNothing(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	status, body := m.Do("ann", http.MethodPost, "/agui", resumeBody("nowhere", "conf-unknown", `true`))
	if status != http.StatusOK || !strings.Contains(body, `"type":"MESSAGES_SNAPSHOT"`) || !strings.Contains(body, `"messages":[]`) {
		t.Errorf("%d %s", status, body)
	}
}
