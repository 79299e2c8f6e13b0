package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

const small = 8192

// smallWorld is a world whose model has a small context and writes summaries.
func smallWorld(t *testing.T, summary func(context.Context, agent.Prompt) (agent.Answer, error)) *world {
	t.Helper()
	return newWorld(t, func(w *world) { w.model.size, w.model.summary = small, summary })
}

func summaryOf(text string) (agent.Answer, error) {
	return agent.Answer{Text: text, Complete: true, Finish: "stop", Model: "scripted", Usage: agent.Usage{Input: 100, Output: 20}}, nil
}

// talk makes so many runs of about 1,000 tokens each, and gives the last.
func (w *world) talk(thread string, n int) agent.Run {
	w.t.Helper()
	var last agent.Run
	for range n {
		w.model.script(turn{say: []string{strings.Repeat("水煮牛肉", 250)}})
		last = w.end(w.send(thread, "tell me more").ID)
		want(w.t, "status", last.Status, agent.Succeeded)
	}
	return last
}

func (w *world) compressions(runID string) []agent.CompressedData {
	w.t.Helper()
	events, err := w.db.Events(context.Background(), runID, 0)
	must(w.t, err)
	var out []agent.CompressedData
	for _, e := range events {
		if e.Type == agent.ContextCompressed {
			var d agent.CompressedData
			must(w.t, json.Unmarshal(e.Data, &d))
			out = append(out, d)
		}
	}
	return out
}

func promptText(p agent.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		b.WriteString(m.Text)
	}
	return b.String()
}

func TestOlderRunsGiveWayToASummary(t *testing.T) {
	t.Parallel()
	w := smallWorld(t, func(context.Context, agent.Prompt) (agent.Answer, error) {
		return summaryOf("she is allergic to peanuts")
	})
	w.model.script(turn{do: func(context.Context, func(string)) (agent.Answer, error) {
		return agent.Answer{}, fault.New(fault.Unavailable, "gone")
	}})
	want(t, "the run that fails", w.end(w.send("t1", "said in vain").ID).Status, agent.Failed)
	last := w.talk("t1", 7)
	for len(w.compressions(last.ID)) == 0 {
		last = w.talk("t1", 1)
	}
	done := w.compressions(last.ID)[0]
	if done.How != agent.Summarised || done.After >= done.Before || done.Messages < 4 {
		t.Errorf("got %+v", done)
	}
	asked := promptText(w.model.summaries[0])
	if len(w.model.summaries[0].Tools) != 0 || !strings.Contains(asked, "person: (") || strings.Contains(asked, "said in vain") {
		t.Errorf("the summary was asked with %q, want successful messages only and no tools", asked)
	}
	p := w.model.lastPrompt()
	if !strings.Contains(p.Messages[1].Text, "<hint>") || !strings.Contains(p.Messages[1].Text, "allergic to peanuts") || p.Messages[1].Role != agent.User {
		t.Errorf("got the first turn %q, want the summary in it", p.Messages[1].Text)
	}
	if strings.Contains(p.Messages[0].Text, "peanuts") {
		t.Error("the summary is among the instructions")
	}
	want(t, "usage with that of the summary", last.Usage, agent.Usage{Input: 103, Output: 22})
	calls, err := w.db.ModelCalls(context.Background(), last.ID)
	must(t, err)
	want(t, "model calls", len(calls), 2)
	past, err := w.db.Past(context.Background(), "ann", "t1", "", 100)
	must(t, err)
	want(t, "stored", past.Summary.Text, "she is allergic to peanuts")
	want(t, "by", past.Summary.RunID, last.ID)
	must(t, w.db.DeleteConversation(context.Background(), "ann", "t1"))
	past, err = w.db.Past(context.Background(), "ann", "t1", "", 100)
	must(t, err)
	want(t, "after the conversation was deleted", past.Summary.Text, "")
}

// TestWithoutASummaryTheOldestIsLeftOut: a model that cannot summarise costs no answer, and nothing for good.
func TestWithoutASummaryTheOldestIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func() (agent.Answer, error){
		"error": func() (agent.Answer, error) { return agent.Answer{}, fault.New(fault.Unavailable, "gone") },
		"empty": func() (agent.Answer, error) { return agent.Answer{Complete: true, Finish: "stop"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			works := false
			w := smallWorld(t, func(context.Context, agent.Prompt) (agent.Answer, error) {
				if works {
					return summaryOf("all of it")
				}
				return broken()
			})
			last := w.talk("t1", 9)
			done := w.compressions(last.ID)
			if len(done) == 0 || done[0].How != agent.Truncated || done[0].Reason == "" {
				t.Fatalf("got %+v, want the oldest left out, and why", done)
			}
			past, err := w.db.Past(context.Background(), "ann", "t1", "", 100)
			must(t, err)
			want(t, "stored", past.Summary.Text, "")
			want(t, "messages that are there for the next try", len(past.Messages), 18)
			works = true
			last = w.talk("t1", 1)
			want(t, "the next try", w.compressions(last.ID)[0].How, agent.Summarised)
		})
	}
}

// TestModelThatTakesLessThanItSays: its refusal is heard once; then prompts are as short as it wants them.
func TestModelThatTakesLessThanItSays(t *testing.T) {
	t.Parallel()
	refused := 0
	w := newWorld(t, func(w *world) {
		w.model.size = 32_768
		w.model.summary = func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("shorter") }
		w.model.refuse = func(p agent.Prompt) error {
			if run.Tokens(promptText(p)) < 6000 {
				return nil
			}
			refused++
			return &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.Invalid, "too long")}
		}
	})
	w.talk("t1", 20)
	want(t, "refusals", refused, 1)
}

func TestModelThatFindsAllTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.model.refuse = func(agent.Prompt) error {
			return &agent.ModelError{Class: agent.ContextLength, Err: fault.New(fault.Invalid, "too long")}
		}
	})
	r := w.end(w.send("t1", "hello").ID)
	want(t, "status", r.Status, agent.Failed)
	want(t, "message", r.ErrorMessage, "too long")
}

// TestHugeResultIsCutAndReadOn is the case tool-result-huge: the model gets a string of bounded size that says how to
// read on, and reads on; nobody else does.
func TestHugeResultIsCutAndReadOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := strings.Repeat(`{"dish":"水煮牛肉","price":"32.00"},`, 20_000)
	w.tools.found = json.RawMessage(`[` + rows + `{"dish":"the last one"}]`)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{}`)}})
	first := w.end(w.send("t1", "look at all").ID)
	want(t, "status", first.Status, agent.Succeeded)
	p := w.model.lastPrompt()
	got := p.Messages[len(p.Messages)-1].Text
	if len(got) > run.ResultLimit+300 || !strings.Contains(got, "[cut: ") {
		t.Errorf("got a result of %d bytes in the prompt: …%s", len(got), got[max(0, len(got)-200):])
	}
	inv := w.journal(first.ID).Invocations[0]
	offered := p.Tools[len(p.Tools)-1].Name
	want(t, "offered", offered, run.ReadResult)
	ask := func(thread, args string) string {
		w.model.script(turn{calls: []agent.ToolCall{call("r", run.ReadResult, args)}})
		return string(w.journal(w.end(w.send(thread, "read on").ID).ID).Invocations[0].Result)
	}
	page := ask("t1", `{"id":"`+inv.ID+`","offset":16384}`)
	var read struct {
		Text   string
		Offset int
		Next   int
	}
	must(t, json.Unmarshal([]byte(page), &read))
	if len(page) > 9<<10 || read.Next <= read.Offset || !strings.Contains(string(inv.Result), read.Text[10:40]) {
		t.Errorf("got the page %.200s", page)
	}
	if other := ask("t2", `{"id":"`+inv.ID+`"}`); !strings.Contains(other, "not_found") {
		t.Errorf("another conversation read %s", other)
	}
	for _, d := range w.model.lastPrompt().Tools {
		if d.Name == run.ReadResult {
			t.Error("reading on is offered where nothing was cut")
		}
	}
}

// TestLongRunFits: what a run itself finds is shortened before it would not fit.
func TestLongRunFits(t *testing.T) {
	t.Parallel()
	w := smallWorld(t, func(context.Context, agent.Prompt) (agent.Answer, error) { return summaryOf("nothing") })
	w.tools.found = json.RawMessage(`"` + strings.Repeat("水煮牛肉", 1000) + `"`)
	for n := range 8 {
		w.model.script(turn{calls: []agent.ToolCall{call("a", "look", `{"n":`+string(rune('0'+n))+`}`)}})
	}
	r := w.end(w.send("t1", "look again and again").ID)
	want(t, "status", r.Status, agent.Succeeded)
	for i, p := range w.model.prompts {
		if n := run.Tokens(promptText(p)); n > small*7/8 {
			t.Errorf("round %d has %d tokens", i+1, n)
		}
	}
	if got := w.model.lastPrompt().Messages; len(got) != 18 {
		t.Errorf("got %d messages, want every round of the run", len(got))
	}
}

// TestStoppedWhileItSummarises: nothing of a summary that was under way is kept; the next process asks again.
func TestStoppedWhileItSummarises(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	held := true
	w := smallWorld(t, func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		if !held {
			return summaryOf("told")
		}
		close(began)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	w.talk("t1", 5) // about 1,000 tokens each: the sixth message does not fit beside them
	r := w.send("t1", strings.Repeat("水煮牛肉", 300))
	<-began
	w.stop()
	held = false
	w.start()
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "compressions of the run", len(w.compressions(r.ID)), 1)
	past, err := w.db.Past(context.Background(), "ann", "t1", "", 100)
	must(t, err)
	want(t, "stored by", past.Summary.RunID, r.ID)
}

// TestCancelledWhileItSummarises: a cancel ends the summary, and the run.
func TestCancelledWhileItSummarises(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	w := smallWorld(t, func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		close(began)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	w.talk("t1", 5)
	r := w.send("t1", strings.Repeat("水煮牛肉", 300))
	<-began
	_, err := w.runs.Cancel(context.Background(), "ann", r.ID)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Cancelled)
	want(t, "compressions", len(w.compressions(r.ID)), 0)
}
