package app_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"agentmesh/agent"
	"agentmesh/app/meshtest"
	"agentmesh/store/rundb"
)

// TestTranscript_IsWhatIsStored: the hints and answers that a run's events tell of are those that the store shows, in
// their order.
func TestTranscript_IsWhatIsStored(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for _, s := range samples() {
		converse(m, "anna", s.id, s.zh)
	}
	for thread, decide := range map[string]func(*meshtest.Talk, agent.Confirmation){
		"rejected":  func(talk *meshtest.Talk, q agent.Confirmation) { talk.Decide("reject", q) },
		"cancelled": func(talk *meshtest.Talk, _ agent.Confirmation) { talk.Answer("cancel", "{}") },
		"edited":    func(talk *meshtest.Talk, q agent.Confirmation) { talk.Answer("confirm", edited(q, twoPortions)) },
	} {
		talk := m.Say("anna", thread, "帮我订一份水煮牛肉。")
		decide(talk, talk.Question())
		talk.Rest()
	}
	db, err := rundb.OpenReader(t.Context(), filepath.Join(m.Dir, "orchestrator.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	runs, _, err := db.Runs(t.Context(), "anna", "", agent.Page{Limit: 100})
	if err != nil || len(runs) != len(samples())+3 {
		t.Fatalf("got %d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		events, err := db.Events(t.Context(), r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		told, err := agent.TranscriptOf(events)
		if err != nil {
			t.Fatal(err)
		}
		history, err := db.History(t.Context(), "anna", r.ThreadID, false, 500)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shown(told.Said()), shown(history[1:]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q\nwant %q", r.ThreadID, got, want)
		}
	}
}

// shown is what a client sees of messages, results of calls apart. A call whose arguments a person edited is shown as
// it ran.
func shown(messages []agent.Message) []string {
	out := make([]string, 0, len(messages))
	for _, m := range messages {
		if m.Role == agent.Tool {
			continue
		}
		line := fmt.Sprintf("%s %s %q %q %v", m.ID, m.Role, m.Text, m.Reasoning, m.Abandoned)
		for _, c := range m.Calls {
			line += " " + c.ID + " " + c.Name
		}
		out = append(out, line)
	}
	return out
}
