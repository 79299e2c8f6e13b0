package agui_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/agui/aguicheck"
)

// FuzzWriter gives a writer any events in any order, as bytes pick them; what it writes must be a stream that every
// client takes, and end.
func FuzzWriter(f *testing.F) {
	for _, script := range []string{"\x00\x02\x0c\x03\x0d\x04\x0e\x11", "\x10\x10\x03\x05\x0f\x01", "\x0b\x15\x1f\x0b\x29\x33\x12\x11\x11", "\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f\x11"} {
		f.Add([]byte(script), "好的，请确认。\xe6\xb0", true)
		f.Add([]byte(script), "", false)
		f.Add([]byte("\xfd\xfc\xd5"+script), "\x80", false)
	}
	f.Fuzz(func(t *testing.T, script []byte, text string, modern bool) {
		r := theRun()
		r.Modern = modern
		w, c := agui.NewWriter(r), aguicheck.New(modern)
		script, rest, longer := script[:min(len(script), 100)], text, 2 // long events take most of the time
		for _, b := range script {
			n := min(int(b/40)+1, len(rest))
			said := text
			if b > 235 && longer > 0 {
				said = strings.Repeat(text, 1+(300<<10)/max(1, len(text)))
				longer--
			}
			e := eventOf(b, rest[:n], said)
			if e.Type == agui.TextMessageContent {
				rest = rest[n:]
			}
			lines := w.Write(e)
			for _, line := range lines {
				if err := c.Take(line.String()); err != nil {
					t.Fatalf("%v; after %s", err, strings.Join(c.Kinds(), " "))
				}
			}
			if e.Type == agui.MessagesSnapshot && len(lines) > 0 {
				newestStays(t, e, lines[len(lines)-1].String())
			}
		}
		for _, line := range w.Write(agui.NewTranslator(now).Finished()) {
			if err := c.Take(line.String()); err != nil {
				t.Fatal(err)
			}
		}
		if !c.Ended() || !w.Ended() {
			t.Errorf("the stream has no end: %s", strings.Join(c.Kinds(), " "))
		}
	})
}

// newestStays: a snapshot replaces what a client holds, so it never loses the newest message, which its role tells here.
func newestStays(t *testing.T, e agui.Event, line string) {
	t.Helper()
	var sent agui.Event
	if err := json.Unmarshal([]byte(line), &sent); err != nil {
		t.Fatal(err)
	}
	want, n := e.Messages[len(e.Messages)-1], len(sent.Messages)
	if n == 0 || sent.Messages[n-1].Role != want.Role || (want.Content != "" && sent.Messages[n-1].Content == "") {
		t.Errorf("a snapshot of %d messages lost the newest", n)
	}
}

// eventOf makes an event: b picks its kind and its ids.
func eventOf(b byte, piece, long string) agui.Event {
	id := string('a' + rune(b/20%3))
	if b > 180 { // as a model may make it
		id += long
	}
	e := agui.Event{MessageID: id, ToolCallID: id, StepName: id, ToolCallName: "look", Name: id, Delta: piece}
	e.Type = []string{
		agui.RunStarted, agui.StepStarted, agui.StepFinished, agui.TextMessageStart, agui.TextMessageContent, agui.TextMessageEnd, agui.ToolCallStart,
		agui.ToolCallArgs, agui.ToolCallEnd, agui.ToolCallResult, agui.ReasoningMessageContent, agui.ReasoningEnd, agui.StateSnapshot, agui.MessagesSnapshot,
		agui.Custom, agui.TextMessageContent, agui.RunError, agui.RunFinished, "FROM_THE_FUTURE", agui.TextMessageContent,
	}[b%20]
	switch e.Type {
	case agui.TextMessageContent, agui.TextMessageStart, agui.TextMessageEnd, agui.ReasoningMessageContent, agui.ReasoningEnd:
		e.Name, e.ToolCallID, e.StepName, e.ToolCallName = "", "", "", ""
		if b > 235 {
			e.Delta = long
		}
		return e
	}
	plain := agui.Event{Type: e.Type}
	switch e.Type {
	case agui.StepStarted, agui.StepFinished:
		plain.StepName = id
	case agui.ToolCallStart:
		plain.ToolCallID, plain.ToolCallName = id, "look"
		if b > 120 {
			plain.ToolCallName += long
		}
	case agui.ToolCallArgs:
		plain.ToolCallID, plain.Delta = id, piece
		if b > 235 {
			plain.Delta = long
		}
	case agui.ToolCallEnd:
		plain.ToolCallID = id
	case agui.ToolCallResult:
		plain.ToolCallID, plain.MessageID, plain.Content = id, "m"+id, long
	case agui.StateSnapshot:
		plain.Snapshot = valueOf(long)
	case agui.MessagesSnapshot:
		for _, role := range []string{"user", "assistant"} {
			plain.Messages = append(plain.Messages, agui.SnapshotMessage{ID: id + role, Role: role, Content: long})
		}
		plain.Messages = append(plain.Messages, agui.SnapshotMessage{ID: id, Role: "tool", Content: long, ToolCallID: id})
		if b > 120 {
			plain.Messages = plain.Messages[:2]
			plain.Messages[1].ToolCalls = callsOf(id, long[:min(len(long), 5<<10)])
		}
	case agui.Custom:
		plain.Name = id
		if b > 60 {
			plain.Value = valueOf(long)
		}
	case agui.RunError:
		plain.Message = long
	case agui.RunFinished:
		plain.Outcome = outcomeOf(b, long)
	default:
		plain.Name = e.Type
	}
	return plain
}

// callsOf are more calls than fit into a snapshot.
func callsOf(id, long string) []agui.SnapshotCall {
	calls := make([]agui.SnapshotCall, 64)
	for i := range calls {
		calls[i] = agui.SnapshotCall{ID: id, Type: "function", Function: agui.SnapshotFunction{Name: id + long, Arguments: long}}
	}
	return calls
}

func valueOf(long string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"text": long, "more": "x"})
	if err != nil {
		panic(err)
	}
	return raw
}

func outcomeOf(b byte, long string) *agui.Outcome {
	switch b / 20 % 6 {
	case 0:
		return nil
	case 1:
		return &agui.Outcome{Type: "cancelled"}
	case 2:
		return &agui.Outcome{Type: "success", PendingToolCallIDs: []string{"a"}}
	case 3:
		return &agui.Outcome{Type: "interrupt"}
	}
	return &agui.Outcome{Type: "interrupt", Interrupts: []agui.Interrupt{{ID: "i", Reason: "tool_call", Message: long, Metadata: map[string]any{"long": long}}}}
}

// FuzzTranslator feeds a run's events in any order, as bytes pick them, to streams that begin at the beginning, that
// were cut and go on, and that end with a question: each must be one that every client takes.
func FuzzTranslator(f *testing.F) {
	f.Add([]byte{0, 1, 2, 20, 30, 4, 5, 3, 7, 8, 6, 9}, uint8(3), false)
	f.Add([]byte{30, 0, 0, 9, 30, 9}, uint8(0), true)
	f.Add([]byte{2, 30, 31, 2, 3, 20, 21, 4, 24, 10}, uint8(9), false)
	f.Fuzz(func(t *testing.T, script []byte, at uint8, modern bool) {
		r := theRun()
		r.Modern = modern
		var log []piece
		for _, b := range script {
			log = append(log, pieceOf(b))
		}
		middle := min(int(at), len(log))
		says := agui.NewTranslator(now)

		whole, c := agui.NewWriter(r), aguicheck.New(modern)
		write(t, whole, c, log[:middle])
		asked, again := aguicheck.New(modern), agui.NewWriter(r)
		write(t, again, asked, log[:middle])
		take(t, asked, again.Write(says.Interrupted([]agui.Asked{{Confirmation: question()}})))

		resumed := agui.NewWriter(r) // it writes what the client has, and goes on from there
		write(t, resumed, aguicheck.New(modern), log[:middle])
		write(t, resumed, c, log[middle:])

		late := agui.NewWriter(r) // a resume shows the run from its middle
		write(t, late, aguicheck.New(modern), log[middle:])
		take(t, c, resumed.Write(says.Broken(errors.New("x"))))
	})
}

// write plays a part of a log.
func write(t *testing.T, w *agui.Writer, c *aguicheck.Checker, log []piece) {
	t.Helper()
	says := agui.NewTranslator(now)
	for i, p := range log {
		if p.kind == "" {
			take(t, c, w.Write(says.Text(p.messageID, p.text)))
			continue
		}
		events, err := says.Event(agent.NewEvent(p.kind, p.data, began))
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		take(t, c, w.Write(events...))
	}
}

func take(t *testing.T, c *aguicheck.Checker, lines []agui.Line) {
	t.Helper()
	for _, line := range lines {
		if err := c.Take(line.String()); err != nil {
			t.Fatalf("%v; after %s", err, strings.Join(c.Kinds(), " "))
		}
	}
}

// pieceOf makes one entry of a log: the tens pick an id, the ones a kind.
func pieceOf(b byte) piece {
	id := string('a' + rune(b/10%3))
	switch b % 10 {
	case 0:
		return piece{kind: agent.RunStarted, data: agent.StartedData{ThreadID: "thread-1"}}
	case 1:
		return piece{kind: agent.SkillsRouted, data: agent.RoutedData{}}
	case 2:
		return piece{kind: agent.ModelCalled, data: agent.ModelData{Round: int(b / 10 % 3)}}
	case 3:
		return piece{kind: agent.ModelAnswered, data: agent.ModelData{Round: int(b / 10 % 3)}}
	case 4:
		return piece{kind: agent.CallStarted, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look"}}
	case 5:
		if b > 120 {
			return piece{kind: agent.ReasoningEnded, data: agent.MessageData{MessageID: id, Text: "so"}}
		}
		return piece{kind: agent.MessageEnded, data: agent.MessageData{MessageID: id, Text: "x"}}
	case 6:
		return piece{kind: agent.CallProposed, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look", Args: json.RawMessage(`{}`)}}
	case 7:
		return piece{kind: agent.CallEnded, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look", Result: json.RawMessage(`{"a":1}`)}}
	case 8:
		kind := agent.ConfirmationRequired
		if b > 100 {
			kind = agent.ConfirmationResolved
		}
		return piece{kind: kind, data: question()}
	}
	if b > 80 {
		return piece{messageID: id, text: "x"}
	}
	if b < 30 {
		return piece{messageID: id, text: string([]byte{b})}
	}
	return piece{kind: agent.RunEnded, data: agent.EndData{Status: []string{"SUCCEEDED", "FAILED", "CANCELLED"}[b/10%3], Reason: agent.Completed}}
}
