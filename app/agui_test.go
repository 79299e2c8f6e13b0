package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/platform/sse"
)

// standard posts an input to /agui and reads the whole stream.
func standard(t *testing.T, m *meshtest.Mesh, body string) meshtest.Transcript {
	t.Helper()
	resp := m.Open("ann", http.MethodPost, "/agui", body, nil)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST /agui: %d %s", resp.StatusCode, readAll(t, resp))
	}
	out := meshtest.Transcript{RunID: resp.Header.Get("X-Run-Id")}
	for raw, err := range sse.Read(resp.Body) {
		if err != nil {
			t.Fatal(err)
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
