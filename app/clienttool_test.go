package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
)

// clientInput is an input of a client with a tool of its own, and what it says of that tool's calls.
func clientInput(thread, label string, modern bool, messages ...map[string]any) string {
	in := map[string]any{
		"threadId": thread, "runId": label, "state": map[string]any{}, "messages": messages, "forwardedProps": map[string]any{},
		"tools": []any{map[string]any{
			"name": "paint_page", "description": "Paints the page.",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}, "required": []string{"colour"}},
		}},
		"context": []any{map[string]any{"description": "colour", "value": "white"}},
	}
	if modern {
		in["protocolVersion"] = "1.0"
	}
	raw, _ := json.Marshal(in)
	return string(raw)
}

func saying(id, text string) map[string]any {
	return map[string]any{"id": id, "role": "user", "content": text}
}

func answering(id, call, text string) map[string]any {
	return map[string]any{"id": id, "role": "tool", "toolCallId": call, "content": text}
}

// callOf gives the id of the one call of a tool in a transcript.
func callOf(t *testing.T, got meshtest.Transcript, tool string) string {
	t.Helper()
	for _, e := range got.Events {
		if e.Type == agui.ToolCallStart && e.ToolCallName == tool {
			return e.ToolCallID
		}
	}
	t.Fatalf("no call of %s: %s", tool, got.Types())
	return ""
}

// TestClientTools: over every way in, a call of the client's tool ends the run and is answered by the next input.
func TestClientTools(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/agui", "/api/v1/runs", copilot + "/run"} {
		for _, modern := range []bool{true, false} {
			t.Run(strings.ReplaceAll(strings.Trim(path, "/"), "/", "_"), func(t *testing.T) {
				t.Parallel()
				m := meshtest.Start(t, meshtest.Options{})
				ask := func(body string) meshtest.Transcript {
					talk := m.Stream("ann", path, body)
					talk.Rest()
					return talk.Transcript
				}
				said := saying("u1", `现在几点？paint_page {"colour":"red"}`)
				first := ask(clientInput("t1", "r1", modern, said))
				call := callOf(t, first, "paint_page")
				callOf(t, first, "get_current_time")
				if results := first.Results(); len(results) != 1 || results[call] != "" {
					t.Errorf("the server must answer its own call, and not the client's: %v", results)
				}
				last := first.Last()
				if last.Type != agui.RunFinished || modern != (last.Outcome != nil) || modern && !slices.Equal(last.Outcome.PendingToolCallIDs, []string{call}) {
					t.Errorf("ended with %+v", last)
				}
				second := ask(clientInput("t1", "r2", modern, said, answering("tool-1", call, "it is red now")))
				if !strings.Contains(second.Text(), "it is red now") || second.Last().Type != agui.RunFinished || second.Last().Outcome != nil {
					t.Errorf("said %q, ended with %+v", second.Text(), second.Last())
				}
				if len(second.Results()) != 0 {
					t.Errorf("the client's own answer was sent to it: %v", second.Results())
				}
				again := clientInput("t1", "r3", modern, said, answering("tool-2", call, "it is blue"))
				if path == "/api/v1/runs" {
					if status, body := m.Do("ann", http.MethodPost, path, again); status != http.StatusConflict {
						t.Errorf("a second answer: %d %s", status, body)
					}
				} else if third := ask(again); third.Text() != "" || third.Last().Type != agui.RunFinished {
					t.Errorf("a second answer: said %q, ended with %+v", third.Text(), third.Last())
				}
				if got := list(t, m, "t1"); got != "user u1, assistant, tool, tool tool-1, assistant" {
					t.Errorf("messages: %s", got)
				}
			})
		}
	}
}

// list gives a conversation's messages: their roles, and the ids that a client gave.
func list(t *testing.T, m *meshtest.Mesh, thread string) string {
	t.Helper()
	var out []string
	for _, msg := range storedMessages(m, thread) {
		line := msg.Role
		if msg.ID == "u1" || strings.HasPrefix(msg.ID, "tool-") {
			line += " " + msg.ID
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

type storedMessage struct{ ID, Role, Content, ToolCallID string }

func storedMessages(m *meshtest.Mesh, thread string) []storedMessage {
	var got struct{ Items []storedMessage }
	m.Get("ann", "/api/v1/conversations/"+thread+"/messages", &got)
	return got.Items
}

func TestClientTools_NobodyAnswers(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	first := standard(t, m, clientInput("t1", "r1", true, saying("u1", `paint_page {"colour":"red"}`)))
	call := callOf(t, first, "paint_page")
	next := standard(t, m, clientInput("t1", "r2", true, saying("u2", "现在几点？")))
	if next.Last().Type != agui.RunFinished || !strings.Contains(next.Results()[call], "did not answer") {
		t.Errorf("ended with %+v, results %v", next.Last(), next.Results())
	}
	late := standard(t, m, clientInput("t1", "r3", true, answering("tool-1", call, "done")))
	if late.Text() != "" || late.Last().Type != agui.RunFinished {
		t.Errorf("a late answer: said %q", late.Text())
	}
}

func TestClientTools_Refusals(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	body := strings.ReplaceAll(clientInput("t1", "r1", true, saying("u1", "hi")), "paint_page", "place_order")
	for _, path := range []string{"/agui", "/api/v1/runs", copilot + "/run"} {
		if status, answer := m.Do("ann", http.MethodPost, path, body); status != http.StatusBadRequest || !strings.Contains(answer, "place_order is a tool of this server already") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	status, answer := m.Do("ann", http.MethodPost, "/api/v1/runs/run-unknown/results", `{"toolCallId":"c"}`)
	if status != http.StatusNotFound {
		t.Errorf("a result of a run that there is not: %d %s", status, answer)
	}
}

// TestClientTools_AnswerByPost: whoever has the call's id may post its result; the server goes on by itself.
func TestClientTools_AnswerByPost(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	first := standard(t, m, clientInput("t1", "r1", false, saying("u1", `paint_page {"colour":"red"}`)))
	body := `{"toolCallId":"` + callOf(t, first, "paint_page") + `","content":"red at last"}`
	status, answer := m.Do("ann", http.MethodPost, "/api/v1/runs/"+first.RunID+"/results", body)
	var out struct{ RunID, Status string }
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != http.StatusOK || out.RunID == "" || out.Status != "SUCCEEDED" {
		t.Fatalf("%d %s", status, answer)
	}
	talk := m.Follow("ann", out.RunID, "")
	talk.Rest()
	if !strings.Contains(talk.Text(), "red at last") {
		t.Errorf("said %q", talk.Text())
	}
	if status, answer = m.Do("ann", http.MethodPost, "/api/v1/runs/"+first.RunID+"/results", body); status != http.StatusOK || strings.Contains(answer, `"runId"`) {
		t.Errorf("the same again: %d %s", status, answer)
	}
}

// TestMessagesHaveOneID: over a run with tools, a question and an answer, a message has one id in the stream, in every snapshot, in the
// list of messages, in a replay and after a reload.
func TestMessagesHaveOneID(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	asked := standard(t, m, strings.Replace(clientInput("t1", "r1", true, saying("u1", `现在几点？帮我订一份水煮牛肉。paint_page {"colour":"red"}`)), `"tools"`, `"unused"`, 1))
	id := interruptOf(t, asked)
	done := standard(t, m, resumeBody("t1", id, `{"approved":true}`))
	var stored []string
	for _, msg := range storedMessages(m, "t1") {
		stored = append(stored, msg.Role+" "+msg.ID)
	}
	if len(stored) < 5 {
		t.Fatalf("only %d messages: %v", len(stored), stored)
	}
	snapshotIDs := func(got meshtest.Transcript) []string {
		var out []string
		for _, msg := range lastSnapshot(got) {
			out = append(out, msg.Role+" "+msg.ID)
		}
		return out
	}
	replay := m.Follow("ann", asked.RunID, "")
	replay.Rest()
	for name, got := range map[string]meshtest.Transcript{"resumed": done, "connected": whole(t, m, "ann", copilot+"/connect", connectBody("t1", "c1"))} {
		if ids := snapshotIDs(got); !slices.Equal(ids, stored) {
			t.Errorf("%s: the snapshot has %v, want %v", name, ids, stored)
		}
	}
	if before := snapshotIDs(asked); !slices.Equal(before, stored[:len(before)]) {
		t.Errorf("the snapshot with the question has %v, want the beginning of %v", before, stored)
	}
	for _, e := range slices.Concat(asked.Events, done.Events, replay.Events) {
		if e.Type != agui.TextMessageStart && e.Type != agui.ToolCallResult {
			continue
		}
		if role := e.Role; !slices.Contains(stored, role+" "+e.MessageID) {
			t.Errorf("%s %s of the stream is stored under no such id: %v", role, e.MessageID, stored)
		}
	}
}

// TestKilledWhileAClientWorks: the program is killed between a client's call and its answer, and knows of both afterwards.
func TestKilledWhileAClientWorks(t *testing.T) {
	t.Parallel()
	everyStyle(t, func(t *testing.T, s style) {
		p := launch(t, "--listen", "127.0.0.1:0", "--data", t.TempDir())
		m := meshtest.At(t, p.url)
		said := saying("u1", `paint_page {"colour":"red"}`)
		talk := m.Stream("ann", s.path, clientInput("t1", "r1", true, said))
		talk.Rest()
		call := callOf(t, talk.Transcript, "paint_page")
		m = restarted(t, p)
		next := m.Stream("ann", s.path, clientInput("t1", "r2", true, said, answering("tool-1", call, "it is red now")))
		next.Rest()
		if !strings.Contains(next.Text(), "it is red now") {
			t.Errorf("said %q", next.Text())
		}
		if got := list(t, m, "t1"); got != "user u1, assistant, tool tool-1, assistant" {
			t.Errorf("messages: %s", got)
		}
		if got := audited(m, "ann", talk.RunID); len(got) != 1 || got[0] != "paint_page SUCCESS" {
			t.Errorf("audited: %q, want the one call", got)
		}
		goesOn(t, m, "t1")
		checkSound(t, p)
	})
}

// TestClientTools_AnsweredWithAResume: an input that answers an interrupt may bring the client's results as well.
func TestClientTools_AnsweredWithAResume(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	said := saying("u1", `帮我订一份水煮牛肉。paint_page {"colour":"red"}`)
	talk := m.Stream("ann", "/agui", clientInput("t1", "r1", true, said))
	talk.Rest()
	call, interrupt := callOf(t, talk.Transcript, "paint_page"), interruptOf(t, talk.Transcript)
	body := strings.Replace(clientInput("t1", "r2", true, said, answering("tool-1", call, "it is red now")), "{",
		`{"resume":[{"interruptId":"`+interrupt+`","status":"resolved","payload":{"approved":true}}],`, 1)
	again := m.Stream("ann", "/agui", body)
	again.Rest()
	if last := again.Last(); last.Type != agui.RunFinished || last.Outcome != nil || !strings.Contains(again.Text(), "it is red now") {
		t.Errorf("said %q, ended with %+v", again.Text(), last)
	}
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("got the orders %+v", list)
	}
}
