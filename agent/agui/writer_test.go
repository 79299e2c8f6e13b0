package agui_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agentmesh/agent/agui"
	"agentmesh/agent/agui/aguicheck"
)

// TestWriter_NeverCutsACharacter: pieces that end within a character come whole.
func TestWriter_NeverCutsACharacter(t *testing.T) {
	t.Parallel()
	const said = "水煮牛肉，32.00 元 🌶"
	for size := 1; size < 6; size++ {
		says, w, c := agui.NewTranslator(now), agui.NewWriter(theRun()), aguicheck.New(false)
		for rest := said; rest != ""; {
			n := min(size, len(rest))
			take(t, c, w.Write(says.Text("a", rest[:n])))
			rest = rest[n:]
		}
		take(t, c, w.Write(says.Finished()))
		if got := c.Said("a"); got != said {
			t.Errorf("pieces of %d bytes: got %q, want %q", size, got, said)
		}
	}
	says, w, c := agui.NewTranslator(now), agui.NewWriter(theRun()), aguicheck.New(false)
	take(t, c, w.Write(says.Text("a", "好\xe6\xb0"), says.Finished()))
	if got := c.Said("a"); got != "好�" {
		t.Errorf("a character that never came whole: got %q", got)
	}
}

// TestWriter_SplitsAndCuts: no event is longer than clients bear; text comes whole, and what cannot is cut with a note.
func TestWriter_SplitsAndCuts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("水煮牛肉\"\x01", 60<<10)
	w, c := agui.NewWriter(theRun()), aguicheck.New(false)
	raw, err := json.Marshal(map[string]string{"confirmationId": "conf-1", "args": long})
	if err != nil {
		t.Fatal(err)
	}
	take(t, c, w.Write(
		agui.Event{Type: agui.TextMessageContent, MessageID: "a", Delta: long},
		agui.Event{Type: agui.TextMessageEnd, MessageID: "a"},
		agui.Event{Type: agui.ToolCallStart, ToolCallID: "b", ToolCallName: "look"},
		agui.Event{Type: agui.ToolCallArgs, ToolCallID: "b", Delta: long},
		agui.Event{Type: agui.ToolCallEnd, ToolCallID: "b"},
	))
	if c.Said("a") != long || c.Said("b") != long {
		t.Error("a text or arguments did not come whole")
	}
	lines := w.Write(
		agui.Event{Type: agui.ToolCallResult, ToolCallID: "b", MessageID: "m", Content: long},
		agui.Event{Type: agui.Custom, Name: agui.ConfirmationRequired, Value: raw},
		agui.Event{Type: agui.MessagesSnapshot, Messages: []agui.SnapshotMessage{
			{ID: "old", Role: "user", Content: long}, {ID: "m", Role: "tool", ToolCallID: "b", Content: long}, {ID: "new", Role: "user", Content: "hi"},
		}},
	)
	take(t, c, lines)
	var events []agui.Event
	for _, line := range lines {
		events = append(events, read(t, line))
	}
	if result := events[0].Content; !strings.HasSuffix(result, "the whole is on the server]") {
		t.Errorf("the result ends with %q", result[len(result)-40:])
	}
	if got, want := string(events[1].Value), `{"confirmationId":"conf-1","cut":true}`; got != want {
		t.Errorf("the question: got %.100s, want %s", got, want)
	}
	if got := events[2].Messages; len(got) != 3 || got[2].ID != "new" || len(got[1].Content) > 2000 || len(got[0].Content) > 40<<10 {
		t.Errorf("the snapshot has %d messages: %.200s", len(got), lines[2])
	}
}

// TestWriter_ASnapshotKeepsTheNewestMessage: it replaces what a client holds, so an answer that is longer than an event
// may be comes cut, and not at all only what is older.
func TestWriter_ASnapshotKeepsTheNewestMessage(t *testing.T) {
	t.Parallel()
	calls := make([]agui.SnapshotCall, 200)
	for i := range calls {
		calls[i] = agui.SnapshotCall{ID: strings.Repeat("\u0001", 5000), Type: "function", Function: agui.SnapshotFunction{Name: strings.Repeat("\u0001", 5000), Arguments: strings.Repeat("1", 5000)}}
	}
	for name, newest := range map[string]agui.SnapshotMessage{
		"long text":          {ID: "a", Role: "assistant", Content: strings.Repeat("水煮牛肉", 30<<10)},
		"escaped text":       {ID: "a", Role: "assistant", Content: strings.Repeat("\u0001", 512<<10)},
		"many calls":         {ID: "a", Role: "assistant", Content: strings.Repeat("\u0001", 512<<10), ToolCalls: calls},
		"behind a long past": {ID: "a", Role: "assistant", Content: "done"},
	} {
		messages := []agui.SnapshotMessage{{ID: "u", Role: "user", Content: strings.Repeat("x", 16<<10)}}
		for i := range 40 {
			messages = append(messages, agui.SnapshotMessage{ID: fmt.Sprint("m", i), Role: "assistant", Content: strings.Repeat("y", 16<<10)})
		}
		c := aguicheck.New(false)
		lines := agui.NewWriter(theRun()).Write(agui.Event{Type: agui.MessagesSnapshot, Messages: append(messages, newest)})
		take(t, c, lines)
		if got := read(t, lines[len(lines)-1]).Messages; len(got) == 0 || got[len(got)-1].ID != "a" {
			t.Errorf("%s: the snapshot has %d messages, and not the newest", name, len(got))
		}
	}
}

// TestWriter_CutsNamesAndIDs: a model may give both of any length. A call has one id in the stream and in a snapshot,
// however much of the snapshot is cut.
func TestWriter_CutsNamesAndIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("水", 100<<10)
	c, w := aguicheck.New(false), agui.NewWriter(theRun())
	lines := w.Write(
		agui.Event{Type: agui.ToolCallStart, ToolCallID: "c" + long, ToolCallName: long, ParentMessageID: long + "p"},
		agui.Event{Type: agui.ToolCallResult, ToolCallID: "c" + long, MessageID: long + "m"},
		agui.Event{Type: agui.Custom, Name: long},
		agui.Event{Type: agui.MessagesSnapshot, Messages: []agui.SnapshotMessage{
			{ID: long + "p", Role: "assistant", ToolCalls: []agui.SnapshotCall{{ID: "c" + long, Type: "function", Function: agui.SnapshotFunction{Name: long, Arguments: "{}"}}}},
			{ID: long + "m", Role: "tool", ToolCallID: "c" + long},
		}},
		agui.Event{Type: agui.RunFinished, Outcome: &agui.Outcome{Type: "interrupt", Interrupts: []agui.Interrupt{{ID: "i", Reason: "tool_call", ToolCallID: "c" + long}}}})
	take(t, c, lines)
	began, result, shown, last := read(t, lines[1]), read(t, lines[3]), read(t, lines[len(lines)-2]).Messages, read(t, lines[len(lines)-1])
	if len(shown) != 2 || len(shown[0].ToolCalls) != 1 {
		t.Fatalf("the snapshot: %.300s", lines[len(lines)-2])
	}
	for what, id := range map[string]string{"result": result.ToolCallID, "snapshot": shown[0].ToolCalls[0].ID, "its result": shown[1].ToolCallID, "question": last.Outcome.Interrupts[0].ToolCallID} {
		if id != began.ToolCallID || !utf8.ValidString(id) {
			t.Errorf("%s: the call has the id %.40q of %d bytes, and began with %.40q of %d", what, id, len(id), began.ToolCallID, len(began.ToolCallID))
		}
	}
	if shown[0].ID != began.ParentMessageID || shown[1].ID != result.MessageID {
		t.Errorf("messages have other ids in the snapshot")
	}
}

// TestWriter_Downgrades: a client that names no protocolVersion gets nothing that those before 1.0 throw on.
func TestWriter_Downgrades(t *testing.T) {
	t.Parallel()
	pending := agui.Event{Type: agui.RunFinished, Outcome: &agui.Outcome{Type: "success", PendingToolCallIDs: []string{"call-1"}}}
	tests := []struct {
		name        string
		last        agui.Event
		old, modern string
	}{
		{"cancelled", agui.Event{Type: agui.RunFinished, Outcome: &agui.Outcome{Type: "cancelled"}}, `"code":"cancelled"`, `"outcome":{"type":"cancelled"}`},
		{"calls_of_the_client", pending, `"type":"RUN_FINISHED"`, `"pendingToolCallIds":["call-1"]`},
		{"an_interrupt_without_questions", agui.Event{Type: agui.RunFinished, Outcome: &agui.Outcome{Type: "interrupt"}}, `"type":"RUN_FINISHED"`, `"type":"RUN_FINISHED"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, modern := range []bool{false, true} {
				r, want := theRun(), tt.old
				if r.Modern = modern; modern {
					want = tt.modern
				}
				lines, c := agui.NewWriter(r).Write(tt.last), aguicheck.New(modern)
				take(t, c, lines)
				if last := lines[len(lines)-1].String(); !strings.Contains(last, want) || !modern && strings.Contains(last, "outcome") {
					t.Errorf("modern %v: got %s, want %s in it", modern, last, want)
				}
			}
		})
	}
}

// TestWriter_Reasoning: what a model thought is a message of its own, never text.
func TestWriter_Reasoning(t *testing.T) {
	t.Parallel()
	lines := agui.NewWriter(theRun()).Write(
		agui.Event{Type: agui.ReasoningMessageContent, MessageID: "a-reasoning", Delta: "hm"},
		agui.Event{Type: agui.ReasoningEnd, MessageID: "a-reasoning"},
	)
	take(t, aguicheck.New(false), lines)
	want := "RUN_STARTED REASONING_START REASONING_MESSAGE_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END REASONING_END"
	if got := types(t, lines); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
