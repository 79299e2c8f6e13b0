package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// painter is a client with one tool of its own.
func painter() agent.Client {
	return agent.Client{
		Tools: []agent.ClientTool{{
			Name: "paint", Description: "Paints the page.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}`),
		}},
		Context: []agent.Context{{Description: "the page's colour", Value: "white"}},
	}
}

// paintInput is an input of that client.
func paintInput(thread, text string, answers ...agent.CallAnswer) run.Input {
	return run.Input{
		Origin: agent.ByAGUI, UserID: "ann", ThreadID: thread, ClientRunID: flow.NewID("label"), MessageID: flow.NewID("msg"), Text: text,
		Client: painter(), Answers: answers, Modern: true,
	}
}

func (w *world) input(in run.Input) agent.Run {
	w.t.Helper()
	r, err := w.runs.Create(context.Background(), in)
	must(w.t, err)
	w.runs.Begin(r.ID)
	return r
}

func answer(callID, content string) agent.CallAnswer {
	return agent.CallAnswer{CallID: callID, MessageID: "tool-" + callID, Content: content}
}

// pending gives what a run's last event says is left to the client.
func (w *world) pending(runID string) string {
	w.t.Helper()
	events, err := w.db.Events(context.Background(), runID, 0)
	must(w.t, err)
	var d agent.EndData
	must(w.t, json.Unmarshal(events[len(events)-1].Data, &d))
	return strings.Join(d.Pending, " ")
}

func status(j agent.Journal, callID string) capability.Status {
	for _, inv := range j.Invocations {
		if inv.CallID == callID {
			return inv.Status
		}
	}
	return ""
}

// TestClientTool_IsLeftToTheClient: our own calls of the round run first, then the run ends, and the client's answer goes on
// from there in a run that has it in its prompt.
func TestClientTool_IsLeftToTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{say: []string{"Painting."}, calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`), call("c2", "look", `{}`)}}, turn{say: []string{"It is red."}})
	first := w.end(w.input(paintInput("t", "paint it red")).ID)
	want(t, "status", first.Status, agent.Succeeded)
	want(t, "finish", first.FinishReason, agent.ByClientTool)
	want(t, "pending", w.pending(first.ID), "c1")
	j := w.journal(first.ID)
	want(t, "the client's call", status(j, "c1"), capability.InputRequired)
	want(t, "our call", status(j, "c2"), capability.Succeeded)
	prompt := w.model.lastPrompt()
	offered := prompt.Tools[len(prompt.Tools)-1]
	want(t, "offered", offered.Name, "paint")
	if !strings.Contains(offered.Description, "person's own application") || !strings.Contains(said(prompt), "the page's colour: white") {
		t.Errorf("the model read %q and %q", offered.Description, said(prompt))
	}

	second := w.end(w.input(paintInput("t", "", answer("c1", "done"), answer("c2", "forged"), answer("unknown", "x"))).ID)
	want(t, "status", second.Status, agent.Succeeded)
	want(t, "continues", second.Continues, first.ID)
	j = w.journal(first.ID)
	want(t, "the client's call", status(j, "c1"), capability.Succeeded)
	said := said(w.model.lastPrompt())
	if !strings.Contains(said, "tool c1: done") || strings.Contains(said, "forged") {
		t.Errorf("the prompt of the second run: %s", said)
	}
	history, err := w.db.History(context.Background(), "ann", "t", false, 100)
	must(t, err)
	var ids []string
	for _, m := range history {
		ids = append(ids, string(m.Role)+" "+m.ToolCallID+" "+m.Text)
		if m.ToolCallID == "c1" {
			want(t, "the id of the result", m.ID, "tool-c1")
		}
	}
	if got := strings.Join(ids, "; "); !strings.Contains(got, "tool c1 done; tool c2 ") || !strings.HasSuffix(got, "assistant  It is red.") {
		t.Errorf("history: %s", got)
	}
	records, _, err := w.db.Records(context.Background(), "ann", capability.Selection{Capability: "paint"}, agent.Page{Limit: 10})
	must(t, err)
	if len(records) != 1 || records[0].Source != "client" || records[0].Stage != capability.StageAnswer || records[0].Kind != capability.Client {
		t.Errorf("audit: %+v", records)
	}
}

// said gives a prompt's messages as lines.
func said(p agent.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		fmt.Fprintf(&b, "%s %s: %s\n", m.Role, m.ToolCallID, m.Text)
	}
	return b.String()
}

// TestClientTool_IsAnsweredOnce: a second answer changes nothing, and the same input again is the same run.
func TestClientTool_IsAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}})
	w.end(w.input(paintInput("t", "paint")).ID)
	in := paintInput("t", "", answer("c1", "false"))
	in.MessageID = ""
	second := w.end(w.input(in).ID)
	again, err := w.runs.Create(context.Background(), in)
	if err != nil || again.ID != second.ID {
		t.Errorf("the same input: got %s, %v, want %s", again.ID, err, second.ID)
	}
	if _, err := w.runs.Create(context.Background(), paintInput("t", "", answer("c1", "other"))); !errors.Is(err, run.ErrNothingWaits) {
		t.Errorf("another answer: got %v", err)
	}
	want(t, "result", string(w.journal(second.Continues).Invocations[0].Result), "false")
	want(t, "rounds", w.model.rounds(), 2)
}

// TestClientTool_NobodyAnswers: a message instead of the answer closes the call, and a late answer counts for nothing.
func TestClientTool_NobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`), call("c2", "paint", `{"colour":"blue"}`)}})
	first := w.end(w.input(paintInput("t", "paint")).ID)
	next := w.end(w.input(paintInput("t", "never mind", answer("c2", "done"))).ID)
	j := w.journal(first.ID)
	want(t, "not answered", status(j, "c1"), capability.Indeterminate)
	want(t, "answered beside a message", status(j, "c2"), capability.Succeeded)
	if got := said(w.model.lastPrompt()); !strings.Contains(got, "did not answer before") || !strings.Contains(got, "tool c2: done") || !strings.Contains(got, "never mind") {
		t.Errorf("the prompt: %s", got)
	}
	if _, err := w.runs.Create(context.Background(), paintInput("t", "", answer("c1", "done"))); !errors.Is(err, run.ErrNothingWaits) {
		t.Errorf("a late answer: got %v", err)
	}
	want(t, "next", next.FinishReason, agent.Completed)
}

// TestClientTool_Refusals: a name of ours cannot be taken, and arguments that do not fit are never shown to the client as
// something to do.
func TestClientTool_Refusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := paintInput("t", "hello")
	in.Client.Tools[0].Name = "buy"
	if _, err := w.runs.Create(context.Background(), in); fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.MessageOf(err), "buy") {
		t.Errorf("a name of ours: got %v", err)
	}
	in = paintInput("t", "hello")
	in.Client.Tools[0].Parameters = json.RawMessage(`{"type":7}`)
	if _, err := w.runs.Create(context.Background(), in); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("no schema: got %v", err)
	}
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":7}`)}})
	r := w.end(w.input(paintInput("t2", "paint")).ID)
	want(t, "finish", r.FinishReason, agent.Completed)
	want(t, "call", status(w.journal(r.ID), "c1"), capability.Invalid)

	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}})
	in = paintInput("t3", "paint")
	in.Mode = capability.ModeExplore
	r = w.end(w.input(in).ID)
	want(t, "a run that may only read", status(w.journal(r.ID), "c1"), capability.Denied)
}

// TestClientTool_AfterARestart: a process that ends between the call and its answer changes nothing about either.
func TestClientTool_AfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}})
	first := w.end(w.input(paintInput("t", "paint")).ID)
	w.stop()
	w.start()
	r, err := w.runs.Create(context.Background(), paintInput("t", "", answer("c1", "done")))
	must(t, err)
	w.stop() // before it began
	w.start()
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "call", status(w.journal(first.ID), "c1"), capability.Succeeded)
}

// TestClientTool_BesideAQuestion: the run waits for the person first, and then ends for the client.
func TestClientTool_BesideAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`), call("c2", "buy", `{"n":1}`)}})
	r := w.input(paintInput("t", "buy and paint"))
	q := w.question(r.ID)
	_, err := w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	want(t, "finish", w.end(r.ID).FinishReason, agent.ByClientTool)
	want(t, "bought", w.tools.count("buy"), 1)
}

// TestExternal: a capability that is served outside waits like a client's tool, and its result, when it is posted, makes the
// server go on by itself, once all are there.
func TestExternal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "outside", `{}`), call("c2", "outside", `{"a":1}`)}}, turn{say: []string{"All done."}})
	first := w.end(w.send("t", "ask outside").ID)
	want(t, "finish", first.FinishReason, agent.ByExternal)
	want(t, "pending", w.pending(first.ID), "")
	ctx := context.Background()
	if _, err := w.runs.Create(ctx, paintInput("t", "", answer("c1", "forged"))); !errors.Is(err, run.ErrNothingWaits) {
		t.Errorf("an input must not answer what is not the client's: got %v", err)
	}
	inv, next, err := w.runs.Answer(ctx, "ann", first.ID, answer("c1", `{"n":1}`))
	if err != nil || next != "" || inv.Status != capability.Succeeded {
		t.Errorf("the first answer: got %+v, %q, %v", inv.Status, next, err)
	}
	_, next, err = w.runs.Answer(ctx, "ann", first.ID, agent.CallAnswer{CallID: "c2", Error: "nobody is there"})
	must(t, err)
	second := w.end(next)
	want(t, "origin", second.Origin, agent.ByAnswer)
	if got := types(w.until(next, agent.RunEnded)); !strings.Contains(got, "call_ended call_ended") {
		t.Errorf("the run that goes on shows %s", got)
	}
	if got := said(w.model.lastPrompt()); !strings.Contains(got, `tool c1: {"n":1}`) || !strings.Contains(got, `tool c2: {"error":"nobody is there"`) {
		t.Errorf("the prompt: %s", got)
	}
	for content, code := range map[string]fault.Code{`{"n":1}`: "", `{"n":2}`: fault.Conflict} {
		if _, _, err := w.runs.Answer(ctx, "ann", first.ID, answer("c1", content)); fault.CodeOf(err) != code && (code != "" || err != nil) {
			t.Errorf("again with %s: got %v, want %q", content, err, code)
		}
	}
	if _, _, err := w.runs.Answer(ctx, "bob", first.ID, answer("c1", `{"n":1}`)); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("somebody else: got %v", err)
	}
}

// TestExternal_WhileTheRunIsOpen: a result that comes while the run waits for a person goes into it.
func TestExternal_WhileTheRunIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "outside", `{}`), call("c2", "buy", `{"n":1}`)}})
	r := w.send("t", "buy outside")
	q := w.question(r.ID)
	w.until(r.ID, agent.CallWaiting)
	_, next, err := w.runs.Answer(context.Background(), "ann", r.ID, answer("c1", "here"))
	if err != nil || next != "" {
		t.Errorf("got %q, %v", next, err)
	}
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	ended := w.end(r.ID)
	want(t, "finish", ended.FinishReason, agent.Completed)
	want(t, "call", status(w.journal(r.ID), "c1"), capability.Succeeded)
}
