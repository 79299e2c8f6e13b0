package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

const copilot = "/copilotkit/agent/default"

// connectBody is what a page sends that has just been opened.
func connectBody(thread, label string) string {
	return fmt.Sprintf(`{"threadId":%q,"runId":%q,"state":{},"messages":[],"tools":[],"context":[],"forwardedProps":{}}`, thread, label)
}

// relabelled is an input under a label of the client's.
func relabelled(thread, text, label string) string {
	var in map[string]any
	_ = json.Unmarshal([]byte(meshtest.Input(thread, text)), &in)
	in["runId"] = label
	raw, _ := json.Marshal(in)
	return string(raw)
}

func stop(t *testing.T, m *meshtest.Mesh, user, thread, body string) bool {
	t.Helper()
	status, answer := m.Do(user, http.MethodPost, copilot+"/stop/"+thread, body)
	var out struct{ Stopped *bool }
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != http.StatusOK || out.Stopped == nil {
		t.Fatalf("stop: %d %s", status, answer)
	}
	return *out.Stopped
}

// gatedModel says 一, and 二 once the gate opens; it counts the questions on asked.
func gatedModel(t *testing.T, gate <-chan struct{}) *meshtest.Mesh {
	t.Helper()
	chunk := func(delta, finish string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","model":"gated","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}` + "\n\n"
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"gated","object":"model"}]}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(chunk(`{"role":"assistant","content":"一"}`, "null")))
		w.(http.Flusher).Flush()
		select {
		case <-gate:
			_, _ = w.Write([]byte(chunk(`{"content":"二"}`, "null") + chunk(`{}`, `"stop"`) + "data: [DONE]\n\n"))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(model.Close)
	return meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.LLMBaseURL, c.LLMModel = model.URL+"/v1", "gated" }})
}

func says(delta string) func(agui.Event) bool {
	return func(e agui.Event) bool { return e.Type == agui.TextMessageContent && strings.HasSuffix(e.Delta, delta) }
}

// lastSnapshot gives the messages that a client holds at the end of a stream.
func lastSnapshot(got meshtest.Transcript) []agui.SnapshotMessage {
	for _, e := range slices.Backward(got.Events) {
		if e.Type == agui.MessagesSnapshot {
			return e.Messages
		}
	}
	return nil
}

func TestCopilotKitInfo(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	var info struct {
		Mode   string
		Agents map[string]struct{ Capabilities agui.Capabilities }
	}
	m.Get("ann", "/copilotkit/info", &info)
	got := info.Agents["default"].Capabilities
	if info.Mode != "sse" || len(info.Agents) != 1 || !got.HumanInTheLoop.Interrupts || !got.Tools.ClientProvided {
		t.Errorf("got %+v", info)
	}
	var names []string
	for _, tool := range got.Tools.Items {
		names = append(names, tool.Name)
	}
	if !slices.Contains(names, "place_order") || slices.Contains(names, "reserve_stock") {
		t.Errorf("the tools are %v, want what a model sees", names)
	}
	if want := []agui.Subagent{{Name: "food"}, {Name: "weather"}}; !slices.Equal(sorted(got.MultiAgent.Subagents), want) {
		t.Errorf("the agents are %v, want %v", got.MultiAgent.Subagents, want)
	}
	_, same := m.Do("ann", http.MethodGet, "/agui/capabilities", "")
	var alone agui.Capabilities
	if err := json.Unmarshal([]byte(same), &alone); err != nil || alone.Identity != got.Identity || len(alone.Tools.Items) != len(names) {
		t.Errorf("GET /agui/capabilities: %v %s", err, same)
	}
	for _, path := range []string{"/run", "/connect", "/stop/t1"} {
		problem(t, m, "ann", "POST", "/copilotkit/agent/nobody"+path, meshtest.Input("t1", "你好"), "not_found")
	}
	problem(t, m, "ann", "POST", copilot+"/connect", `{"runId":"r","messages":[]}`, "invalid")
}

func sorted(list []agui.Subagent) []agui.Subagent {
	return slices.SortedFunc(slices.Values(list), func(a, b agui.Subagent) int { return strings.Compare(a.Name, b.Name) })
}

// CopilotKit#6891: the question of a page that was reloaded is shown again, and answered under the label that
// the connect had. #6999: an answer may come under the label of the run that asked.
func TestCopilotKitQuestionAfterReload(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"first", "connect"} {
		m := meshtest.Start(t, meshtest.Options{})
		id := interruptOf(t, whole(t, m, "ann", copilot+"/run", relabelled("t1", "帮我订一份水煮牛肉。", "first")))

		again := whole(t, m, "ann", copilot+"/connect", connectBody("t1", "connect"))
		if got := interruptOf(t, again); got != id || again.Events[0].RunID != "connect" || again.Last().RunID != "connect" {
			t.Errorf("the connect shows the question %s under %s, want %s", got, again.Last().RunID, id)
		}
		if !strings.Contains(again.Types(), agui.Custom+":"+agui.ConfirmationRequired) {
			t.Errorf("the connect shows no card: %s", again.Types())
		}
		answer := strings.Replace(resumeBody("t1", id, `{"approved":true}`), `"again"`, `"`+label+`"`, 1)
		done := whole(t, m, "ann", copilot+"/run", answer)
		if done.Last().Type != agui.RunFinished || done.Last().Outcome != nil || done.Last().RunID != label {
			t.Errorf("answered: ended with %+v", done.Last())
		}
		if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
			t.Errorf("orders: %+v", list)
		}
		last := whole(t, m, "ann", copilot+"/connect", connectBody("t1", "connect-2"))
		if last.Last().Outcome != nil || slices.Contains(last.Tools(), "place_order") {
			t.Errorf("a connect to what has ended: %s, %+v", last.Types(), last.Last())
		}
		onePerCall(t, done, lastSnapshot(last))
	}
}

// onePerCall checks that each call has one tool message (CopilotKit#6294), with the id that the stream gave it.
func onePerCall(t *testing.T, stream meshtest.Transcript, held []agui.SnapshotMessage) {
	t.Helper()
	ids := map[string]string{}
	for _, msg := range held {
		if msg.Role == "tool" {
			if ids[msg.ToolCallID] != "" {
				t.Errorf("the call %s has two tool messages", msg.ToolCallID)
			}
			ids[msg.ToolCallID] = msg.ID
		}
	}
	for _, e := range stream.Events {
		if e.Type == agui.ToolCallResult && ids[e.ToolCallID] != e.MessageID {
			t.Errorf("the result of %s has the id %s in the stream and %s in the snapshot", e.ToolCallID, e.MessageID, ids[e.ToolCallID])
		}
	}
}

func TestCopilotKitConnectOfAnotherUser(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	interruptOf(t, whole(t, m, "ann", copilot+"/run", meshtest.Input("t1", "帮我订一份水煮牛肉。")))
	status, body := m.Do("bob", http.MethodPost, copilot+"/connect", connectBody("t1", "r"))
	if status != http.StatusOK || !strings.Contains(body, `"messages":[]`) || strings.Contains(body, "interrupt") {
		t.Errorf("bob's connect: %d %s", status, body)
	}
	if stop(t, m, "bob", "t1", "") {
		t.Error("bob stopped ann's run")
	}
	if q := openQuestion(m, "ann"); q.ID == "" {
		t.Error("ann's question is gone")
	}
}

// A page that connects while a run goes on sees all of it, once: the text so far, and the rest as it comes; and
// then the run that waited behind it.
func TestCopilotKitConnectJoinsWhatGoesOn(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m := gatedModel(t, gate)
	first := m.Stream("ann", copilot+"/run", meshtest.Input("t1", "甲"))
	first.Until(says("一"))
	second := m.Stream("ann", copilot+"/run", meshtest.Input("t1", "乙"))

	joined := m.Stream("ann", copilot+"/connect", connectBody("t1", "connect"))
	joined.Until(says("一"))
	before := joined.Events[2]
	if joined.Events[1].Type != agui.StateSnapshot || before.Type != agui.MessagesSnapshot || len(before.Messages) != 2 {
		t.Errorf("the connect began with %s and %d messages, want the two of the user", joined.Types(), len(before.Messages))
	}
	close(gate)
	joined.Until(func(e agui.Event) bool { return e.Type == agui.RunFinished })
	joined.Rest()
	first.Rest()
	second.Rest()
	if got := joined.Text(); got != "一二一二" {
		t.Errorf("the connect said %q, want each answer once", got)
	}
	var held []string
	for _, msg := range lastSnapshot(joined.Transcript) {
		held = append(held, msg.Role+" "+msg.Content)
	}
	if want := []string{"user 甲", "assistant 一二", "user 乙", "assistant 一二"}; !slices.Equal(held, want) {
		t.Errorf("the client holds %v, want %v", held, want)
	}
}

// A stop ends the caller's run of the conversation, as a run that the person cancelled. A label of another run
// of the conversation spares it; one that is no run's, as after a reload, does not.
func TestCopilotKitStop(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m := gatedModel(t, gate)
	if stop(t, m, "ann", "t1", `{"runId":"first"}`) {
		t.Error("stopped what never was")
	}
	done := m.Stream("ann", copilot+"/run", relabelled("t1", "甲", "ended"))
	gate <- struct{}{}
	done.Rest()
	for i, body := range []string{`{"runId":"running"}`, `{"runId":"of a connect"}`, ``, `{}`} {
		running := m.Stream("ann", copilot+"/run", relabelled("t1", "乙", "running"))
		running.Until(says("一"))
		if stop(t, m, "ann", "t1", `{"runId":"ended"}`) || stop(t, m, "bob", "t1", ``) || stop(t, m, "ann", "t2", ``) {
			t.Error("a stop of something else stopped the run")
		}
		if !stop(t, m, "ann", "t1", body) {
			t.Errorf("%d: %q stopped nothing", i, body)
		}
		running.Rest()
		if last := running.Last(); last.Type != agui.RunError || last.Code != "cancelled" {
			t.Errorf("%d: the run ended with %s %s", i, last.Type, last.Code)
		}
		var r struct{ Status, FinishReason string }
		if m.Get("ann", "/api/v1/runs/"+running.RunID, &r); r.Status != agent.Cancelled.String() || r.FinishReason != string(agent.ByUser) {
			t.Errorf("%d: the run is %+v", i, r)
		}
	}
	problem(t, m, "ann", "POST", copilot+"/stop/t1", `{"run":"x"}`, "invalid")
}
