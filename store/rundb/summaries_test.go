package rundb_test

import (
	"testing"

	"agentmesh/agent"
)

// summarised is the step that stores a summary with its event.
func summarised(run, covers, text string) agent.Step {
	s := step(run, agent.Running, agent.Running)
	s.Events = []agent.Event{agent.NewEvent(agent.ContextCompressed, agent.CompressedData{How: agent.Summarised}, at)}
	s.Summaries = []agent.Summary{{RunID: run, Covers: covers, Text: text, Messages: 2, Before: 100, After: 50, At: at}}
	return s
}

// TestPast_BeginsAfterTheSummary: a prompt is made from the newest summary and the successful runs after it.
func TestPast_BeginsAfterTheSummary(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, id := range []string{"r1", "r2", "r3"} {
		create(t, db, "ann", "t1", id)
		begin(t, db, id)
		end := agent.Succeeded
		if id == "r2" {
			end = agent.Failed
		}
		must(t, db.Append(t.Context(), step(id, agent.Running, end)))
	}
	create(t, db, "ann", "t1", "r4")
	begin(t, db, "r4")
	must(t, db.Append(t.Context(), summarised("r4", "r1", "first")))
	past, err := db.Past(t.Context(), "ann", "t1", "", 10)
	if err != nil || past.Summary.Text != "first" || len(past.Messages) != 1 || past.Messages[0].RunID != "r3" {
		t.Errorf("got %+v, %v, want what came after r1 and succeeded", past, err)
	}
	must(t, db.Append(t.Context(), summarised("r4", "r3", "second")))
	past, err = db.Past(t.Context(), "ann", "t1", "", 10)
	if err != nil || past.Summary.Text != "second" || past.Summary.Covers != "r3" || len(past.Messages) != 0 {
		t.Errorf("got %+v, %v, want the newest summary", past, err)
	}
	for _, other := range [][2]string{{"bob", "t1"}, {"ann", "t2"}} {
		if past, err := db.Past(t.Context(), other[0], other[1], "", 10); err != nil || past.Summary.Text != "" || len(past.Messages) != 0 {
			t.Errorf("%q: got %+v, %v, want nothing of another's", other, past, err)
		}
	}
}

// TestSummary_IsStoredWithItsEventOrNotAtAll: a step that comes too late leaves neither.
func TestSummary_IsStoredWithItsEventOrNotAtAll(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "ann", "t1", "r1")
	begin(t, db, "r1")
	must(t, db.Append(t.Context(), step("r1", agent.Running, agent.Succeeded)))
	wantErr(t, db.Append(t.Context(), summarised("r1", "r1", "too late")), agent.ErrStale)
	events, err := db.Events(t.Context(), "r1", 0)
	must(t, err)
	for _, e := range events {
		if e.Type == agent.ContextCompressed {
			t.Error("the event is there")
		}
	}
	if past, err := db.Past(t.Context(), "ann", "t1", "", 10); err != nil || past.Summary.Text != "" {
		t.Errorf("got %+v, %v, want no summary", past, err)
	}
	create(t, db, "ann", "t1", "r2")
	begin(t, db, "r2")
	if err := db.Append(t.Context(), summarised("r2", "no such run", "x")); err == nil {
		t.Error("a summary of a run that there is not was stored")
	}
}
