package app_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestKilledBetweenCommitAndRecord leaves the databases as a kill between the catalog's commit and the
// record of it leaves them, and starts again in three ways. The order must end CONFIRMED, once: its
// portions are taken.
func TestKilledBetweenCommitAndRecord(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		also   string // further SQL of the kill
		menu   string // what happens to the menu meanwhile
		strict bool
		status string // of the run in the end
	}{
		{"the run goes on", "", "", false, "SUCCEEDED"},
		{"everything unfinished fails", "", "", true, "FAILED"},
		{"a cancel was recorded", `UPDATE runs SET cancel_reason = 'cancelled_by_user'`, "", false, "CANCELLED"},
		{"the price changes", "", `UPDATE dishes SET price_fen = 9900 WHERE id = 'food-001'`, false, "SUCCEEDED"},
		{"the dish leaves the menu", "", `UPDATE dishes SET weekdays = '[]' WHERE id = 'food-001'`, false, "SUCCEEDED"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := meshtest.Start(t, meshtest.Options{Dir: dir})
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			talk.Decide("confirm", talk.Question())
			talk.Rest()
			m.Stop()
			kill(t, dir, c.also)
			execute(t, filepath.Join(dir, "catalog.db"), c.menu)

			again := meshtest.Start(t, meshtest.Options{Dir: dir, Change: func(config *app.Config) {
				if c.strict {
					config.Recovery = "fail"
				}
			}})
			again.Follow("ann", talk.RunID, "").Rest()
			var r struct{ Status string }
			again.Get("ann", "/api/v1/runs/"+talk.RunID, &r)
			if r.Status != c.status {
				t.Errorf("the run ended %s, want %s", r.Status, c.status)
			}
			awaitSettled(t, again)
			if list := orders(again, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
				t.Errorf("orders: %+v, want one CONFIRMED", list)
			}
			again.Stop()
			checkBooks(t, dir)
		})
	}
}

// kill undoes what was written after the catalog's commit.
func kill(t *testing.T, dir, also string) {
	t.Helper()
	execute(
		t, filepath.Join(dir, "orchestrator.db"),
		`UPDATE runs SET state = 1, finish_reason = '', ended_at = 0`,
		`UPDATE invocations SET status = 'RUNNING', final = 0, result = ''`,
		`UPDATE orders SET status = 'PLACING'`,
		`DELETE FROM messages WHERE n = (SELECT max(n) FROM messages)`,
		`DELETE FROM run_events WHERE seq > (SELECT seq FROM run_events WHERE type = 'call_started')`,
		`UPDATE runs SET head = (SELECT max(seq) FROM run_events)`, also,
	)
}

// TestKilledBetweenHoldAndQuestion: the portions that are held for a question that was not yet written
// down are the same order's, also when they were the last ones, and go back when it cannot be asked again.
func TestKilledBetweenHoldAndQuestion(t *testing.T) {
	t.Parallel()
	for name, menu := range map[string]string{
		"the last portion":   `UPDATE dishes SET available = 0, initial = initial - available WHERE id = 'food-001'`,
		"gone from the menu": `UPDATE dishes SET weekdays = '[]' WHERE id = 'food-001'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := meshtest.Start(t, meshtest.Options{Dir: dir})
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			talk.Question()
			go talk.Rest()
			m.Stop()
			execute(t, filepath.Join(dir, "catalog.db"), menu)
			execute(
				t, filepath.Join(dir, "orchestrator.db"), `DELETE FROM confirmations`, `DELETE FROM order_lines`, `DELETE FROM orders`,
				`UPDATE invocations SET status = 'PROPOSED'`, `UPDATE runs SET state = 1`,
				`DELETE FROM run_events WHERE type = 'confirmation_required'`, `UPDATE runs SET head = (SELECT max(seq) FROM run_events)`,
			)
			again := meshtest.Start(t, meshtest.Options{Dir: dir})
			follow := again.Follow("ann", talk.RunID, "")
			if name == "the last portion" {
				follow.Decide("confirm", follow.Question())
			}
			follow.Rest()
			list := orders(again, "ann")
			if name == "the last portion" && (len(list) != 1 || list[0].Status != "CONFIRMED") {
				t.Errorf("orders: %+v, want one CONFIRMED", list)
			}
			again.Stop()
			checkBooks(t, dir)
		})
	}
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestCancelDuringPreparationLeavesNoHold: whenever the cancel comes, no portion stays held for nobody.
func TestCancelDuringPreparationLeavesNoHold(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	for i := range 25 {
		talk := m.Say("ann", "t"+strconv.Itoa(i), "帮我订一份水煮牛肉。")
		for range i { // each a little later
			stock(t, m, "food-002")
		}
		m.Do("ann", http.MethodPost, "/runs/"+talk.RunID+"/cancel", `{}`)
		talk.Rest()
	}
	awaitStock(t, m, before)
	m.Stop()
	checkBooks(t, m.Dir)
}

// awaitSettled waits until no order is PLACING.
func awaitSettled(t *testing.T, m *meshtest.Mesh) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		open := false
		for _, o := range orders(m, "ann") {
			open = open || o.Status == "PLACING"
		}
		if !open {
			return
		}
	}
	t.Error("an order is still PLACING")
}

// One user with more orders than may be held, and four answers at once to each that is asked about.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	const clients = 12
	talks := make([]*meshtest.Talk, clients)
	for i := range talks {
		talks[i] = m.Say("ann", "t"+string(rune('a'+i)), "帮我订一份水煮牛肉。")
	}
	for _, q := range awaitQuestions(t, m, 3) { // at most three holds a user
		talk := talks[slices.IndexFunc(talks, func(talk *meshtest.Talk) bool { return talk.RunID == q.RunID })]
		answers := make(chan int, 4)
		for _, verb := range []string{"confirm", "confirm", "reject", "confirm"} {
			go func() { status, _ := talk.Decide(verb, q); answers <- status }()
		}
		for range cap(answers) {
			if status := <-answers; status != http.StatusOK && status != http.StatusConflict {
				t.Errorf("a decision got %d, want 200 or 409", status)
			}
		}
	}
	for _, talk := range talks { // one that came late may have been asked after all
		m.Do("ann", http.MethodPost, "/runs/"+talk.RunID+"/cancel", `{}`)
		talk.Rest()
	}
	m.Stop()
	checkBooks(t, m.Dir)
}

// awaitQuestions waits until so many questions of ann's are open.
func awaitQuestions(t *testing.T, m *meshtest.Mesh, n int) []agent.Confirmation {
	t.Helper()
	var out struct{ Items []agent.Confirmation }
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if m.Get("ann", "/api/v1/confirmations?status=open", &out); len(out.Items) >= n {
			return out.Items
		}
	}
	t.Fatalf("%d questions are open, want %d", len(out.Items), n)
	return nil
}
