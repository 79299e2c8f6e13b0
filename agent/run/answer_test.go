package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/capability"
)

// racing does something just before an input that answers a call is stored, or after it is known what waits.
type racing struct {
	agent.RunStore
	before func()
	after  func()
}

func (r *racing) Waiting(ctx context.Context, userID, threadID string) ([]agent.Invocation, error) {
	found, err := r.RunStore.Waiting(ctx, userID, threadID)
	if after := r.after; after != nil && len(found) > 0 {
		r.after = nil
		after()
	}
	return found, err
}

func (r *racing) CreateRun(ctx context.Context, n agent.Run, title string, in agent.Message, answered ...agent.Answered) error {
	if before := r.before; before != nil && len(answered) > 0 {
		r.before = nil
		before()
	}
	return r.RunStore.CreateRun(ctx, n, title, in, answered...)
}

// A client sends its whole history. Where a model's ids repeat, the newest tool message answers the newest call.
func TestAnswer_TheNewestOfAHistoryCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	paint := turn{calls: []agent.ToolCall{call("call_0", "paint", `{"colour":"red"}`)}}
	w.model.script(paint, turn{say: []string{"ok"}}, paint, turn{say: []string{"ok"}})
	old := agent.CallAnswer{CallID: "call_0", MessageID: "tool-1", Content: "the first result"}
	w.end(w.input(paintInput("t", "paint")).ID)
	w.end(w.input(paintInput("t", "", old)).ID)
	second := w.end(w.input(paintInput("t", "paint again", old)).ID)
	w.end(w.input(paintInput("t", "", old, agent.CallAnswer{CallID: "call_0", MessageID: "tool-2", Content: "the second result"})).ID)
	want(t, "the second call's result", string(w.journal(second.ID).Invocations[0].Result), `"the second result"`)
}

// A person's message that comes with an answer which somebody else gave meanwhile is taken all the same.
func TestAnswer_AMessageBesideAStaleOneIsTaken(t *testing.T) {
	t.Parallel()
	race := &racing{}
	w := newWorld(t, func(w *world) { w.store = func(s agent.RunStore) agent.RunStore { race.RunStore = s; return race } })
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}})
	first := w.end(w.input(paintInput("t", "paint")).ID)
	race.before = func() {
		_, next, err := w.runs.Answer(context.Background(), "ann", first.ID, answer("c1", "done"))
		must(t, err)
		w.end(next)
	}
	_, err := w.runs.Create(context.Background(), paintInput("t", "and tell me the time", answer("c1", "done")))
	if err != nil {
		t.Errorf("the message is not taken: %v", err)
	}
}

// A conversation that is deleted while an input answers one of its calls: the answer is not stored without its run, and
// what a person said beside it begins the conversation anew.
func TestAnswer_ToADeletedConversation(t *testing.T) {
	t.Parallel()
	moments := map[string]func(*racing, func()){
		"before_it_is_stored":        func(r *racing, deleted func()) { r.before = deleted },
		"after_what_waits_was_known": func(r *racing, deleted func()) { r.after = deleted },
	}
	for name, at := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"", "and tell me the time"} {
				race := &racing{}
				w := newWorld(t, func(w *world) { w.store = func(s agent.RunStore) agent.RunStore { race.RunStore = s; return race } })
				w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}})
				w.end(w.input(paintInput("t", "paint")).ID)
				at(race, func() { must(t, w.db.DeleteConversation(context.Background(), "ann", "t")) })
				r, err := w.runs.Create(context.Background(), paintInput("t", text, answer("c1", "done")))
				if text == "" && !errors.Is(err, run.ErrNothingWaits) || text != "" && (err != nil || r.Continues != "") {
					t.Errorf("%q: got %+v, %v", text, r, err)
				}
				var n int
				must(t, w.db.Read().QueryRowContext(context.Background(), `SELECT count(*) FROM invocations`).Scan(&n))
				want(t, "invocations", n, 0)
			}
		})
	}
}

// A client's answer that is cut in a later prompt can be read on, by the id and the offset of the note.
func TestAnswer_ThatIsCutCanBeReadOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("a \"line\"\n", 4000)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "paint", `{"colour":"red"}`)}}, turn{say: []string{"ok"}})
	w.end(w.input(paintInput("t", "paint it red")).ID)
	w.end(w.input(paintInput("t", "", answer("c1", long))).ID)
	p := w.model.lastPrompt()
	note := ""
	for _, m := range p.Messages {
		if m.Role == agent.Tool {
			note = m.Text[strings.LastIndex(m.Text, "\n[cut: "):]
		}
	}
	from := strings.LastIndex(note, "read_result ") + len("read_result ")
	args := strings.TrimSuffix(note[from:], "]")
	w.model.script(turn{calls: []agent.ToolCall{call("r", run.ReadResult, args)}})
	got := w.journal(w.end(w.input(paintInput("t", "read on")).ID).ID).Invocations[0]
	var page struct {
		Text   string
		Offset int
	}
	_ = json.Unmarshal(got.Result, &page)
	if got.Status != capability.Succeeded || page.Text == "" || !strings.HasPrefix(long[page.Offset:], page.Text[:20]) {
		t.Errorf("read_result %s: %s, %.300s", args, got.Status, got.Result)
	}
}

// An answer that comes while a person's message is in line is read by that run, which goes on from both.
func TestAnswer_IsReadByTheRunInLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "outside", `{}`)}})
	first := w.end(w.send("t", "ask outside").ID)
	said := w.create(agent.ByAPI, "t", "and?") // PENDING until its stream is open
	_, next, err := w.runs.Answer(context.Background(), "ann", first.ID, answer("c1", `{"n":1}`))
	must(t, err)
	want(t, "another run", next, "")
	w.runs.Begin(said.ID)
	want(t, "the run that goes on", w.end(said.ID).Continues, first.ID)
	p := w.model.lastPrompt().Messages
	want(t, "the last message", p[len(p)-1].Role, agent.User)
	want(t, "the one before", p[len(p)-2].Text, `{"n":1}`)
	want(t, "events of the answer", strings.Count(types(w.until(said.ID, agent.RunEnded)), "call_ended"), 1)
	want(t, "runs", len(w.runsOf("t")), 2)
}
