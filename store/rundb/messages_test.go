package rundb_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
)

// told writes a history as short words: role, text, and the calls that a message makes or answers.
func told(messages []agent.Message) string {
	var out []string
	for _, m := range messages {
		word := string(m.Role) + ":" + m.Text
		for _, c := range m.Calls {
			word += "+" + c.ID
		}
		if m.ToolCallID != "" {
			word += "=" + m.ToolCallID
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// TestHistory_Pairing: each call's result stands straight after its answer, in the order of the calls,
// whatever the order in which they ended.
func TestHistory_Pairing(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	a, b, c := invocation("a", "m1", 0, capability.Proposed), invocation("b", "m1", 1, capability.Proposed), invocation("c", "m1", 2, capability.Proposed)
	s := step("run-1", agent.Running, agent.Keep)
	s.Events = append(s.Events, saying(agent.Message{ID: "m1", Role: agent.Assistant, Text: "look", Calls: []agent.ToolCall{
		{ID: "call-a", Name: "look", Args: json.RawMessage(`{"n":0}`)}, {ID: "call-b", Name: "look", Args: json.RawMessage(`{}`)}, {ID: "call-c", Name: "look", Args: json.RawMessage(`{}`)},
	}})...)
	s.Invocations = []agent.Invocation{a, b, c}
	must(t, db.Append(t.Context(), s))
	for _, inv := range []agent.Invocation{done(b), done(a)} { // c never ended
		s := step("run-1", agent.Running, agent.Keep)
		s.Invocations = []agent.Invocation{inv}
		must(t, db.Append(t.Context(), s))
	}
	finish(t, db, "run-1", agent.Succeeded)
	got, err := db.History(t.Context(), "anna", "t1", true, 10)
	must(t, err)
	want := `user:ask run-1 assistant:look+call-a+call-b+call-c tool:{"of":"a"}=call-a tool:{"of":"b"}=call-b assistant:answer run-1`
	if told(got) != want {
		t.Errorf("got  %s\nwant %s", told(got), want)
	}
	if m := got[1]; m.ID != "m1" || m.RunID != "run-1" || m.RunStatus != agent.Succeeded || string(m.Calls[0].Args) != `{"n":0}` {
		t.Errorf("got %+v", m)
	}
	if m := got[2]; m.ID != "a" || m.RunID != "run-1" || m.RunStatus != agent.Succeeded || !m.CreatedAt.Equal(later(2)) {
		t.Errorf("got %+v", m)
	}
}

// TestHistory_OnlySuccessful: failed and cancelled runs are kept for the person, and kept out of prompts
// (D-85).
func TestHistory_OnlySuccessful(t *testing.T) {
	t.Parallel()
	db := open(t)
	for id, end := range map[string]agent.Status{"run-ok": agent.Succeeded, "run-bad": agent.Failed, "run-off": agent.Cancelled} {
		create(t, db, "anna", "t-"+id, id)
		begin(t, db, id)
		s := step(id, agent.Running, agent.Keep)
		s.Events = append(s.Events, saying(agent.Message{ID: "half-" + id, Role: agent.Assistant, Text: "half", Abandoned: true})...)
		must(t, db.Append(t.Context(), s))
		finish(t, db, id, end)
		all, err := db.History(t.Context(), "anna", "t-"+id, false, 10)
		must(t, err)
		if want := "user:ask " + id + " assistant:half assistant:answer " + id; told(all) != want || !all[1].Abandoned || all[0].RunStatus != end {
			t.Errorf("got %s, want %s", told(all), want)
		}
		good, err := db.History(t.Context(), "anna", "t-"+id, true, 10)
		must(t, err)
		want := ""
		if end == agent.Succeeded {
			want = "user:ask " + id + " assistant:answer " + id
		}
		if told(good) != want {
			t.Errorf("%s: got %s, want %s", end, told(good), want)
		}
	}
	create(t, db, "anna", "t-open", "run-open")
	begin(t, db, "run-open")
	if got, err := db.History(t.Context(), "anna", "t-open", true, 10); err != nil || len(got) != 0 {
		t.Errorf("a run under way: got %s, %v", told(got), err)
	}
}

func TestHistory_NewestFirstWithinTheLimit(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, id := range []string{"run-1", "run-2", "run-3"} {
		create(t, db, "anna", "t1", id)
		begin(t, db, id)
		finish(t, db, id, agent.Succeeded)
	}
	got, err := db.History(t.Context(), "anna", "t1", true, 3)
	must(t, err)
	if want := "assistant:answer run-2 user:ask run-3 assistant:answer run-3"; told(got) != want {
		t.Errorf("got %s, want the newest, oldest first: %s", told(got), want)
	}
}

func TestConversations(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	for i, thread := range []string{"t2", "t1"} {
		r := agent.Run{ID: "later-" + thread, UserID: "anna", ThreadID: thread, CreatedAt: later(i + 1)}
		must(t, db.CreateRun(t.Context(), r, "another title", agent.Message{ID: "m-" + thread, Role: agent.User}))
	}
	create(t, db, "bob", "t1", "run-b")
	got, _, err := db.Conversations(t.Context(), "anna", agent.Page{Limit: 10})
	must(t, err)
	want := []agent.Conversation{
		{ID: "t1", UserID: "anna", Title: "title of t1", CreatedAt: at, UpdatedAt: later(2)},
		{ID: "t2", UserID: "anna", Title: "another title", CreatedAt: later(1), UpdatedAt: later(1)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, _, err := db.Conversations(t.Context(), "anna", agent.Page{Limit: 1}); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestModelCalls(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	want := []agent.ModelCall{
		{ID: "llm-1", RunID: "run-1", Round: 1, Model: "demo", Request: json.RawMessage(`{"model":"demo"}`), Usage: agent.Usage{Input: 5, Output: 2}, Finish: "stop", StartedAt: later(1), Duration: 250 * time.Millisecond},
		{ID: "llm-2", RunID: "run-1", Round: 2, Error: "cut off", StartedAt: later(2)},
	}
	s := step("run-1", agent.Running, agent.Keep)
	s.ModelCalls = want
	must(t, db.Append(t.Context(), s))
	if got, err := db.ModelCalls(t.Context(), "run-1"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	db := open(t)
	record := func(user, run, capabilityName string) capability.Record {
		return capability.Record{
			Receipt: capability.Receipt{InvocationID: "inv", Capability: capabilityName, Kind: capability.MCP, Status: capability.Failed, Stage: capability.StageAttempt, Code: "conflict", Duration: 12 * time.Millisecond},
			At:      at, UserID: user, ThreadID: "t1", RunID: run, TraceID: "trace", Source: "order", Input: `{"a":1}`, Output: `{}`,
		}
	}
	must(t, db.Audit(t.Context(), record("anna", "run-1", "first")))
	create(t, db, "anna", "t1", "run-1")
	s := step("run-1", agent.Pending, agent.Running)
	s.Records = []capability.Record{record("anna", "run-1", "second")}
	must(t, db.Append(t.Context(), s))
	must(t, db.Audit(t.Context(), record("anna", "run-2", "third")))
	must(t, db.Audit(t.Context(), record("bob", "run-1", "bobs")))
	other := record("anna", "run-2", "second")
	other.Status, other.Stage = capability.Denied, capability.StageConfirm
	must(t, db.Audit(t.Context(), other))
	cases := []struct {
		name string
		capability.Selection
		want string
	}{
		{"all_newest_first", capability.Selection{}, "second third second first"},
		{"of_a_run_oldest_first", capability.Selection{RunID: "run-1"}, "first second"},
		{"of_a_run_that_is_not", capability.Selection{RunID: "run-9"}, ""},
		{"by_capability", capability.Selection{Capability: "second"}, "second second"},
		{"by_status", capability.Selection{Status: capability.Failed}, "third second first"},
		{"by_stage", capability.Selection{Stage: capability.StageConfirm}, "second"},
		{"of_a_run_by_capability", capability.Selection{RunID: "run-1", Capability: "second"}, "second"},
		{"nothing_fits_all", capability.Selection{Capability: "first", Status: capability.Denied}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := db.Records(t.Context(), "anna", c.Selection, agent.Page{Limit: 10})
			must(t, err)
			var names []string
			for _, r := range got {
				names = append(names, r.Capability)
				want := record("anna", r.RunID, r.Capability)
				want.Status, want.Stage = r.Status, r.Stage
				if !reflect.DeepEqual(r, want) {
					t.Errorf("got %+v, want %+v", r, want)
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
