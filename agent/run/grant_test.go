package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/skills"
)

// governed puts the calls of a world under rules.
func governed(rules ...capability.Rule) func(*world) {
	return func(w *world) {
		for i := range rules {
			rules[i].Number = i + 1
		}
		w.rules = rules
	}
}

func askAbout(name string) capability.Rule {
	return capability.Rule{Capability: name, Effect: capability.Ask, Reason: "be careful"}
}

// opens waits until a run has n open questions, and gives them.
func (w *world) opens(runID string, n int) []agent.Confirmation {
	w.t.Helper()
	var open []agent.Confirmation
	w.untilSeen(runID, "open questions", func(run.Update) bool {
		open = nil
		for _, c := range w.journal(runID).Confirmations {
			if c.Status == agent.ConfirmationOpen {
				open = append(open, c)
			}
		}
		return len(open) == n
	})
	return open
}

func (w *world) remember(runID, id, suggestion string) (agent.Confirmation, error) {
	w.t.Helper()
	return w.runs.Decide(context.Background(), "ann", runID, id, agent.Decision{
		Status: agent.ConfirmationConfirmed, Remember: suggestion, By: "ann", Via: "test",
	})
}

// TestGrant_SilencesLaterQuestions: a yes that is remembered counts for the same call of this person's later
// runs, until it is revoked, and for nobody else's.
func TestGrant_SilencesLaterQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, governed(askAbout("look")))
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{"at":"sea"}`)}})
	first := w.send("t1", "look")
	q := w.opens(first.ID, 1)[0]
	want(t, "why", q.Because, "be careful")
	want(t, "suggestions", len(q.Suggestions), 2)
	c, err := w.remember(first.ID, q.ID, agent.SuggestArgs)
	must(t, err)
	want(t, "remembered", c.Remembered, agent.SuggestArgs)
	want(t, "status", w.end(first.ID).Status, agent.Succeeded)

	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{ "at": "sea" }`)}})
	second := w.end(w.send("t1", "look").ID)
	inv := w.journal(second.ID).Invocations[0]
	want(t, "status of the same call", inv.Status, capability.Succeeded)
	grants, _, err := w.db.Grants(context.Background(), "ann", agent.Page{Limit: 10})
	must(t, err)
	want(t, "grants", len(grants), 1)
	want(t, "its rule", inv.Receipt.Rule, grants[0].ID)

	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{"at":"hill"}`)}})
	third := w.send("t1", "look")
	w.opens(third.ID, 1)
	must(t, w.db.Revoke(context.Background(), "ann", grants[0].ID, time.Now()))
	_, err = w.runs.Cancel(context.Background(), "ann", third.ID)
	must(t, err)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{"at":"sea"}`)}})
	w.opens(w.send("t1", "look").ID, 1)
}

// TestGrant_DecidesTheOtherOpenQuestions of its run that it covers, and no others.
func TestGrant_DecidesTheOtherOpenQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, governed(askAbout("look"), askAbout("slow")))
	w.tools.slow = make(chan struct{})
	close(w.tools.slow)
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{"n":1}`), call("c2", "look", `{"n":2}`), call("c3", "slow", `{}`)}})
	r := w.send("t1", "look")
	var looks []agent.Confirmation
	for _, q := range w.opens(r.ID, 3) {
		if q.Tool == "look" {
			looks = append(looks, q)
		}
	}
	_, err := w.remember(r.ID, looks[0].ID, agent.SuggestTool)
	must(t, err)
	left := w.opens(r.ID, 1)
	want(t, "left open", left[0].Tool, "slow")
	other, err := w.db.Confirmation(context.Background(), "ann", looks[1].ID)
	must(t, err)
	want(t, "the covered one", string(other.Status)+" "+other.DecidedVia, "CONFIRMED grant")
	_, err = w.decide(r.ID, left[0].ID, agent.ConfirmationRejected)
	must(t, err)
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	want(t, "looked", w.tools.count("look"), 2)
}

// TestGrant_Refused: what cannot be remembered leaves the question open.
func TestGrant_Refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, governed(askAbout("look")))
	w.model.script(turn{calls: []agent.ToolCall{call("c1", "look", `{}`)}}, turn{calls: []agent.ToolCall{call("c2", "buy", `{"n":1}`)}})
	r := w.send("t1", "buy")
	q := w.opens(r.ID, 1)[0]
	_, err := w.remember(r.ID, q.ID, "everything")
	want(t, "no suggestion", fault.CodeOf(err), fault.Invalid)
	_, err = w.runs.Decide(context.Background(), "ann", r.ID, q.ID, agent.Decision{Status: agent.ConfirmationRejected, Remember: agent.SuggestTool})
	want(t, "with a no", fault.CodeOf(err), fault.Invalid)
	want(t, "still open", w.opens(r.ID, 1)[0].ID, q.ID)
	_, err = w.decide(r.ID, q.ID, agent.ConfirmationConfirmed)
	must(t, err)
	_, err = w.remember(r.ID, q.ID, agent.SuggestTool)
	want(t, "too late", fault.CodeOf(err), fault.Conflict)
	buying := w.opens(r.ID, 1)[0]
	want(t, "suggestions of what always asks", len(buying.Suggestions), 0)
	_, err = w.remember(r.ID, buying.ID, agent.SuggestTool)
	want(t, "what always asks", fault.CodeOf(err), fault.Invalid)
	grants, _, err := w.db.Grants(context.Background(), "ann", agent.Page{Limit: 10})
	must(t, err)
	want(t, "grants", len(grants), 0)
}

// TestMode: what a mode denies gives the model the reason, and the run goes on to its end.
func TestMode(t *testing.T) {
	t.Parallel()
	for mode, why := range map[capability.Mode]string{capability.ModeExplore: "may only read", capability.ModeUnattended: "nobody is there"} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model.script(turn{calls: []agent.ToolCall{call("c1", "buy", `{"n":1}`), call("c2", "look", `{}`)}})
			r, err := w.runs.Create(context.Background(), run.Input{UserID: "ann", ThreadID: "t1", Text: "buy", Origin: agent.ByAPI, Mode: mode})
			must(t, err)
			w.runs.Begin(r.ID)
			got := w.end(r.ID)
			want(t, "status", got.Status, agent.Succeeded)
			want(t, "mode", got.Mode, mode)
			calls := w.journal(r.ID).Invocations
			want(t, "buy", calls[0].Status, capability.Denied)
			want(t, "look", calls[1].Status, capability.Succeeded)
			want(t, "its stage", calls[0].Receipt.Stage, capability.StagePolicy)
			want(t, "asked", len(w.journal(r.ID).Confirmations), 0)
			if !strings.Contains(string(calls[0].Result), why) {
				t.Errorf("got the result %s, want it to say %q", calls[0].Result, why)
			}
			records, _, err := w.db.Records(context.Background(), "ann", capability.Selection{RunID: r.ID, Stage: capability.StagePolicy}, agent.Page{Limit: 10})
			must(t, err)
			want(t, "audited", len(records), 1)
			want(t, "its rule", records[0].Rule, "mode "+string(mode))
		})
	}
}

// TestSkillTurnedOff: a tool whose skill is turned off while the run goes on is denied.
func TestSkillTurnedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.script(turn{do: func(ctx context.Context, _ func(string)) (agent.Answer, error) {
		off := skills.Installation{UserID: "ann", SkillID: "test.buy", Version: "1.0.0", Installed: true, UpdatedAt: time.Now()}
		return agent.Answer{Calls: []agent.ToolCall{call("c1", "note", `{}`)}, Complete: true}, w.db.SaveInstallation(ctx, off)
	}})
	r := w.send("t1", "buy")
	want(t, "status", w.end(r.ID).Status, agent.Succeeded)
	inv := w.journal(r.ID).Invocations[0]
	want(t, "the call", inv.Status, capability.Denied)
	want(t, "its rule", inv.Receipt.Rule, "skill")
	want(t, "noted", w.tools.count("note"), 0)
}
