package agui_test

import (
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

func TestParseInput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, id, text string }{
		{"text", `{"threadId":"t","runId":"r","messages":[{"id":"m1","role":"user","content":"你好"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`, "m1", "你好"},
		{"parts", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]}]}`, "", "a\nb"},
		{"only_the_last_message_counts", `{"threadId":"t","runId":"r","messages":[{"role":"assistant","content":null,"toolCalls":[]},{"id":"m","role":"user","content":"x"}]}`, "m", "x"},
		{"unknown_members_are_ignored", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"x","mood":1}],"new":{"a":[]}}`, "", "x"},
		{"chinese_ids", `{"threadId":"会话","runId":"` + strings.Repeat("轮", 128) + `","messages":[{"role":"user","content":"x"}]}`, "", "x"},
		{"longest_message", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"` + strings.Repeat("x", 16<<10) + `"}]}`, "", strings.Repeat("x", 16<<10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in, err := agui.ParseInput([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := in.Turn()
			if err != nil || got.Message.ID != tt.id || got.Message.Text != tt.text {
				t.Errorf("got %+v, %v, want id %q and text %q", got, err, tt.id, tt.text)
			}
		})
	}
}

func TestParseInput_BadBodies(t *testing.T) {
	t.Parallel()
	user := func(content string) string {
		return `{"threadId":"t","runId":"r","messages":[{"role":"user","content":` + content + `}]}`
	}
	const one = `"messages":[{"role":"user","content":"x"}]`
	tests := []struct {
		name, body, says string
		code             fault.Code
	}{
		{"empty", ``, "not a RunAgentInput", fault.Invalid},
		{"not_json", `hello`, "not a RunAgentInput", fault.Invalid},
		{"two_documents", `{}{}`, "not a RunAgentInput", fault.Invalid},
		{"null", `null`, "threadId", fault.Invalid},
		{"list", `[]`, "not a RunAgentInput", fault.Invalid},
		{"json_that_is_nothing", `{"json":{}}`, "threadId", fault.Invalid},
		{"not_utf8", "{\"threadId\":\"\xff\"}", "UTF-8", fault.Invalid},
		{"no_thread", `{"runId":"r",` + one + `}`, "threadId", fault.Invalid},
		{"thread_is_a_number", `{"threadId":7,"runId":"r",` + one + `}`, "threadId has the wrong type: number", fault.Invalid},
		{"thread_too_long", `{"threadId":"` + strings.Repeat("x", 129) + `","runId":"r",` + one + `}`, "threadId", fault.Invalid},
		{"thread_with_a_line_break", `{"threadId":"a\nb","runId":"r",` + one + `}`, "threadId", fault.Invalid},
		{"no_run", `{"threadId":"t",` + one + `}`, "runId", fault.Invalid},
		{"run_with_a_nul", `{"threadId":"t","runId":"a\u0000",` + one + `}`, "runId", fault.Invalid},
		{"answer_with_a_misspelt_edit", `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":{"approved":true,"args":{}}}]}`, "nothing else", fault.Invalid},
		{"two_answers_to_one_question", `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":true},{"interruptId":"i","status":"resolved","payload":false}]}`, "answered twice", fault.Invalid},
		{"more_messages_than_anybody_reads", `{"threadId":"t","runId":"r","messages":[` + strings.Repeat("{},", 10_000) + `{}]}`, "more than 10000", fault.TooLarge},
		{"no_messages", `{"threadId":"t","runId":"r"}`, "messages is missing", fault.Invalid},
		{"messages_null", `{"threadId":"t","runId":"r","messages":null}`, "messages is missing", fault.Invalid},
		{"messages_empty", `{"threadId":"t","runId":"r","messages":[]}`, "messages is empty", fault.Invalid},
		{"messages_an_object", `{"threadId":"t","runId":"r","messages":{}}`, "messages has the wrong type: object", fault.Invalid},
		{"last_is_the_assistant", `{"threadId":"t","runId":"r","messages":[{"role":"assistant","content":"x"}]}`, "role user", fault.Invalid},
		{"last_is_a_result_of_nothing", `{"threadId":"t","runId":"r","messages":[{"role":"tool","content":"x"}]}`, "toolCallId", fault.Invalid},
		{"answer_too_long", `{"threadId":"t","runId":"r","messages":[{"role":"tool","toolCallId":"c","content":"` + strings.Repeat("x", 256<<10+1) + `"}]}`, "longer than", fault.TooLarge},
		{"tool_without_a_name", `{"threadId":"t","runId":"r",` + one + `,"tools":[{"description":"x"}]}`, "the name", fault.Invalid},
		{"tool_with_a_name_that_no_model_takes", `{"threadId":"t","runId":"r",` + one + `,"tools":[{"name":"画","description":"x"}]}`, "the name", fault.Invalid},
		{"tool_twice", `{"threadId":"t","runId":"r",` + one + `,"tools":[{"name":"a"},{"name":"a"}]}`, "twice", fault.Invalid},
		{"tool_too_long", `{"threadId":"t","runId":"r",` + one + `,"tools":[{"name":"a","description":"` + strings.Repeat("x", 16<<10) + `"}]}`, "longer than", fault.TooLarge},
		{"too_many_tools", `{"threadId":"t","runId":"r",` + one + `,"tools":[` + strings.Repeat(`{"name":"a"},`, 64) + `{"name":"a"}]}`, "more than 64", fault.TooLarge},
		{"context_too_long", `{"threadId":"t","runId":"r",` + one + `,"context":[{"description":"a","value":"` + strings.Repeat("x", 16<<10) + `"}]}`, "longer than", fault.TooLarge},
		{"too_much_context", `{"threadId":"t","runId":"r",` + one + `,"context":[` + strings.Repeat(`{},`, 32) + `{}]}`, "more than 32", fault.TooLarge},
		{"no_content", `{"threadId":"t","runId":"r","messages":[{"role":"user"}]}`, "no text", fault.Invalid},
		{"content_null", user(`null`), "no text", fault.Invalid},
		{"content_blank", user(`" \n\t　"`), "no text", fault.Invalid},
		{"content_a_number", user(`7`), "content", fault.Invalid},
		{"content_an_object", user(`{"text":"x"}`), "content", fault.Invalid},
		{"content_only_pictures", user(`[{"type":"image"}]`), "no text", fault.Invalid},
		{"message_too_long", user(`"` + strings.Repeat("x", 16<<10+1) + `"`), "longer than", fault.TooLarge},
		{"message_id_too_long", `{"threadId":"t","runId":"r","messages":[{"id":"` + strings.Repeat("x", 129) + `","role":"user","content":"x"}]}`, "id", fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := agui.ParseInput([]byte(tt.body))
			if fault.CodeOf(err) != tt.code || !strings.Contains(fault.MessageOf(err), tt.says) {
				t.Errorf("got %v, want %s and %q", err, tt.code, tt.says)
			}
		})
	}
}

// What a client keeps in forwardedProps, and what is broken in its old history, is no reason to refuse what it says now.
func TestInput_OddHistory(t *testing.T) {
	t.Parallel()
	in, err := agui.ParseInput([]byte(`{"threadId":"t","runId":"r","forwardedProps":{"mode":"dark"},"messages":[
		{"id":"a","role":"tool","toolCallId":"c1","content":{"a":1}},{"id":"b","role":"tool","content":"nobody's"},
		{"id":"e","role":"tool","toolCallId":"c3","content":"x","error":{"code":7}},{"id":5,"role":"tool","toolCallId":"c4","content":"x"},7,null,
		{"id":"f","role":"assistant","toolCalls":{"id":"c2"}},{"id":"g","role":"activity","content":{"a":1},"toolCallId":["c2"]},
		{"id":"c","role":"tool","toolCallId":"c2","content":"done"},{"id":"d","role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if mode, err := in.RunMode(); err != nil || mode != capability.ModeDefault {
		t.Errorf("mode: got %s, %v", mode, err)
	}
	turn, err := in.Turn()
	if err != nil || turn.Message.Text != "hi" || len(turn.Answers) != 1 || turn.Answers[0].CallID != "c2" {
		t.Errorf("got %+v, %v, want the one answer that can be read", turn, err)
	}
	for _, last := range []string{`7`, `{"id":"a","role":"tool","toolCallId":"c1","content":"x","error":{}}`, `{"id":5,"role":"user","content":"x"}`, `{"id":"a","role":"tool","toolCallId":"c1","content":{"a":1}}`, `{"id":"a","role":"tool","content":"x"}`} {
		if _, err := agui.ParseInput([]byte(`{"threadId":"t","runId":"r","messages":[` + last + `]}`)); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: got %v", last, err)
		}
	}
}

// A client sends its whole history, and ids of models may repeat. An answer comes after its call, so one that stands
// before the newest call of an id is not of that call, whatever else the input says.
func TestInput_AnAnswerBeforeACallIsNotOfIt(t *testing.T) {
	t.Parallel()
	const past = `{"id":"a1","role":"assistant","toolCalls":[{"id":"call_0"}]},{"id":"t1","role":"tool","toolCallId":"call_0","content":"old"},
		{"id":"a2","role":"assistant","toolCalls":[{"id":"call_0"},{"id":"call_1"}]}`
	for rest, want := range map[string]string{
		`{"id":"u","role":"user","content":"never mind"}`: "",
		`{"id":"t2","role":"tool","toolCallId":"call_1","content":"one"},{"id":"t3","role":"tool","toolCallId":"call_0","content":"new"}`: "call_1 one, call_0 new",
	} {
		in, err := agui.ParseInput([]byte(`{"threadId":"t","runId":"r","messages":[` + past + `,` + rest + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range in.Answers() {
			got = append(got, a.CallID+" "+a.Content)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", rest, got, want)
		}
	}
}
