package agui_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/agui/aguicheck"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var began = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func now() time.Time { return began.Add(10 * time.Second) }

func theRun() agent.Run {
	return agent.Run{ID: "run-1", ClientRunID: "client-1", ThreadID: "thread-1", UserID: "anna"}
}

// piece is one entry of a scripted run: an event of the log, or a piece of live text.
type piece struct {
	kind      agent.EventType
	data      any
	messageID string
	text      string
}

func question() agent.Confirmation {
	return agent.Confirmation{
		Kind: agent.AskConfirm, ID: "conf-1", RunID: "run-1", ThreadID: "thread-1", InvocationID: "inv-2", CallID: "call-2", Tool: "place_order",
		Args: json.RawMessage(`{"items":[{"dish":"水煮牛肉","quantity":1}]}`), ArgsDigest: "sha256:0",
		Summary: json.RawMessage(`{"totalFen":3200}`), Status: agent.ConfirmationOpen, CreatedAt: began, Deadline: began.Add(5 * time.Minute),
	}
}

// order is a whole run: text, a call, a question, a yes, and an answer.
func order() []piece {
	answered := question()
	decided := began.Add(time.Minute)
	answered.Status, answered.DecidedBy, answered.DecidedAt = agent.ConfirmationConfirmed, "anna", &decided
	call := agent.CallData{InvocationID: "inv-2", CallID: "call-2", MessageID: "msg-1", Name: "place_order", Args: question().Args, Kind: "A2A"}
	result := call
	result.Status, result.Stage, result.DurationMS, result.Result = "SUCCEEDED", "receipt", 12, json.RawMessage(`{"orderId":"order-1","status":"CONFIRMED"}`)
	return []piece{
		{kind: agent.RunStarted, data: agent.StartedData{ThreadID: "thread-1", ClientRunID: "client-1", TraceID: "trace-1"}},
		{kind: agent.SkillsRouted, data: agent.RoutedData{
			Skills: []agent.RoutedSkill{{ID: "builtin.food_service", Name: "食堂服务", NameEn: "Canteen", Reason: "matched 水煮"}}, Tools: []string{"place_order"},
		}},
		{kind: agent.ModelCalled, data: agent.ModelData{LLMCallID: "llm-1", MessageID: "msg-1", Round: 1}},
		{messageID: "msg-1", text: "好的，"},
		{messageID: "msg-1", text: "请确认。"},
		{kind: agent.MessageEnded, data: agent.MessageData{MessageID: "msg-1", Text: "好的，请确认。"}},
		{kind: agent.CallProposed, data: call},
		{kind: agent.ModelAnswered, data: agent.ModelData{LLMCallID: "llm-1", Round: 1}},
		{kind: agent.ConfirmationRequired, data: question()},
		{kind: agent.ConfirmationResolved, data: answered},
		{kind: agent.CallStarted, data: call},
		{kind: agent.CallEnded, data: result},
		{kind: agent.ModelCalled, data: agent.ModelData{LLMCallID: "llm-2", MessageID: "msg-2", Round: 2}},
		{messageID: "msg-2", text: "订好了。"},
		{kind: agent.MessageEnded, data: agent.MessageData{MessageID: "msg-2", Text: "订好了。"}},
		{kind: agent.ModelAnswered, data: agent.ModelData{LLMCallID: "llm-2", Round: 2}},
		{kind: agent.RunEnded, data: agent.EndData{Status: "SUCCEEDED", Reason: agent.Completed, Model: "demo", Usage: agent.Usage{Input: 30, Output: 9}}},
	}
}

// play translates and writes a script, and checks every line by the protocol's rules.
func play(t *testing.T, r agent.Run, script []piece) []agui.Line {
	t.Helper()
	says, w, checker := agui.NewTranslator(now), agui.NewWriter(r), aguicheck.New(r.Modern)
	var out []agui.Line
	for i, p := range script {
		events := []agui.Event{says.Text(p.messageID, p.text)}
		if p.kind != "" {
			e := agent.NewEvent(p.kind, p.data, began.Add(time.Duration(i)*time.Second))
			e.Seq = int64(i + 1)
			var err error
			if events, err = says.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		lines := w.Write(events...)
		take(t, checker, lines)
		out = append(out, lines...)
	}
	return out
}

// read gives an event as a client has it.
func read(t *testing.T, line agui.Line) agui.Event {
	t.Helper()
	var e agui.Event
	if err := json.Unmarshal([]byte(line.String()), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTranslate_Golden(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for _, e := range play(t, theRun(), order()) {
		lines.WriteString(e.String() + "\n")
	}
	golden := filepath.Join("testdata", "order.jsonl")
	if *update {
		if err := os.WriteFile(golden, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if lines.String() != string(want) {
		t.Errorf("the events differ from %s (rewrite it with -update):\n%s", golden, lines.String())
	}
}

func types(t *testing.T, lines []agui.Line) string {
	t.Helper()
	var names []string
	for _, line := range lines {
		names = append(names, read(t, line).Type)
	}
	return strings.Join(names, " ")
}

func TestTranslate_Repairs(t *testing.T) {
	t.Parallel()
	call := agent.CallData{InvocationID: "inv", CallID: "call", Name: "look"}
	end := piece{kind: agent.RunEnded, data: agent.EndData{Status: "SUCCEEDED", Reason: agent.Completed}}
	tests := []struct {
		name   string
		script []piece
		want   string
	}{
		{"a_crash_leaves_a_message_and_a_step_open", []piece{
			{kind: agent.RunStarted},
			{kind: agent.ModelCalled, data: agent.ModelData{Round: 1}},
			{messageID: "a", text: "x"},
			{kind: agent.ModelCalled, data: agent.ModelData{Round: 1}},
			end,
		}, "RUN_STARTED STEP_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END STEP_FINISHED STEP_STARTED STEP_FINISHED RUN_FINISHED"},
		{
			"a_stream_taken_up_in_the_middle_begins_with_the_run",
			[]piece{{messageID: "a", text: "x"}, end},
			"RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED",
		},
		{
			"nothing_after_the_end",
			[]piece{{kind: agent.RunStarted}, end, {messageID: "a", text: "x"}, {kind: agent.CallProposed, data: call}, end},
			"RUN_STARTED RUN_FINISHED",
		},
		{"the_run_starts_once", []piece{{kind: agent.RunStarted}, {kind: agent.RunStarted}, end}, "RUN_STARTED RUN_FINISHED"},
		{
			"empty_pieces_are_left_out",
			[]piece{{kind: agent.RunStarted}, {messageID: "a"}, {kind: agent.CallProposed, data: call}, {kind: agent.CallEnded, data: call}, end},
			"RUN_STARTED TOOL_CALL_START TOOL_CALL_END TOOL_CALL_RESULT RUN_FINISHED",
		},
		{"unknown_events_are_skipped", []piece{{kind: "from_the_future", data: 1}, {kind: agent.CallStarted, data: call}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := types(t, play(t, theRun(), tt.script)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTranslate_Ends(t *testing.T) {
	t.Parallel()
	modern := theRun()
	modern.Modern = true
	tests := []struct {
		name string
		run  agent.Run
		end  agent.EndData
		want func(e agui.Event) bool
	}{
		{"succeeded", theRun(), agent.EndData{Status: "SUCCEEDED", Model: "m", Usage: agent.Usage{Input: 3, Output: 4}}, func(e agui.Event) bool {
			return e.Type == agui.RunFinished && e.Outcome == nil && e.RunID == "client-1" && len(e.Usage) == 1 && e.Usage[0].TotalTokens == 7
		}},
		{"failed", theRun(), agent.EndData{Status: "FAILED", Code: "unavailable", Message: "no model"}, func(e agui.Event) bool {
			return e.Type == agui.RunError && e.Code == "unavailable" && e.Message == "no model"
		}},
		{"failed_without_words", theRun(), agent.EndData{Status: "FAILED"}, func(e agui.Event) bool { return e.Type == agui.RunError && e.Message != "" }},
		{"cancelled_for_an_older_client", theRun(), agent.EndData{Status: "CANCELLED"}, func(e agui.Event) bool {
			return e.Type == agui.RunError && e.Code == "cancelled"
		}},
		{"cancelled_for_a_modern_client", modern, agent.EndData{Status: "CANCELLED"}, func(e agui.Event) bool {
			return e.Type == agui.RunFinished && e.Outcome != nil && e.Outcome.Type == "cancelled"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			events := play(t, tt.run, []piece{{kind: agent.RunStarted}, {kind: agent.RunEnded, data: tt.end}})
			if last := events[len(events)-1]; !tt.want(read(t, last)) {
				t.Errorf("got %s", last)
			}
		})
	}
}

func TestTranslator_QuestionTellsTheSecondsLeft(t *testing.T) {
	t.Parallel()
	translator := agui.NewTranslator(now)
	for deadline, want := range map[time.Duration]float64{5 * time.Minute: 290, time.Second: 0} {
		q := question()
		q.Deadline = began.Add(deadline)
		raw, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		raw, err = translator.Question(raw)
		var got map[string]any
		if err != nil || json.Unmarshal(raw, &got) != nil || got["ttlSeconds"] != want || got["confirmationId"] != "conf-1" || got["toolCallId"] != "call-2" {
			t.Errorf("got %s, %v, want %v seconds", raw, err, want)
		}
	}
}

func TestTranslator_Interrupted(t *testing.T) {
	t.Parallel()
	says, w, checker := agui.NewTranslator(now), agui.NewWriter(theRun()), aguicheck.New(false)
	lines := w.Write(says.Text("a", "x"), says.Interrupted([]agui.Asked{{Confirmation: question()}}))
	take(t, checker, lines)
	last := lines[len(lines)-1]
	e := read(t, last)
	if e.Outcome == nil || e.Outcome.Type != "interrupt" || e.Outcome.Interrupts[0].ID != "conf-1" || strings.Contains(last.String(), "expiresAt") {
		t.Errorf("got %s, want an interrupt without expiresAt", last)
	}
	if more := w.Write(says.Interrupted([]agui.Asked{{Confirmation: question()}})); more != nil {
		t.Errorf("got %s after the end", types(t, more))
	}
}

func TestTranslator_BrokenData(t *testing.T) {
	t.Parallel()
	for _, kind := range []agent.EventType{agent.ModelCalled, agent.MessageEnded, agent.CallProposed, agent.ConfirmationRequired, agent.RunEnded} {
		_, err := agui.NewTranslator(now).Event(agent.Event{Seq: 3, Type: kind, Data: json.RawMessage(`7`)})
		if err == nil || !strings.Contains(err.Error(), string(kind)) {
			t.Errorf("%s: got %v, want an error that names it", kind, err)
		}
	}
}
