package rundb_test

import (
	"fmt"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/store"
	"agentmesh/store/rundb"
)

// full stores an ended run with a row of everything.
func full(t *testing.T, db *rundb.DB, user, thread, id string) {
	t.Helper()
	create(t, db, user, thread, id)
	begin(t, db, id)
	s := step(id, agent.Running, agent.Succeeded)
	s.Events = []agent.Event{agent.NewEvent(agent.RunEnded, agent.EndData{}, at)}
	s.Events = append(s.Events, saying(agent.Message{ID: "answer-" + id, Role: agent.Assistant, Text: "x"})...)
	s.Invocations = []agent.Invocation{done(invocation("inv-"+id, "answer-"+id, 0, ""))}
	s.Confirmations = []agent.Confirmation{question("conf-"+id, "inv-"+id)}
	s.ModelCalls = []agent.ModelCall{{ID: "llm-" + id, Round: 1}}
	s.Records = []capability.Record{{UserID: user, RunID: id}}
	place := placed("inv-"+id, user)
	place.Order.RunID, place.Order.ThreadID = id, thread
	s.Changes = []capability.Change{place, order.Confirm{InvocationID: "inv-" + id, At: at}}
	must(t, db.Append(t.Context(), s))
}

// rows counts the rows of every table that holds something of a user.
func rows(t *testing.T, db *rundb.DB) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range []string{
		"conversations", "runs", "run_events", "messages", "invocations", "model_calls", "confirmations",
		"orders", "order_lines", "audit_log",
	} {
		var n int
		must(t, db.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		out[table] = n
	}
	return out
}

func TestDeleteConversation(t *testing.T) {
	t.Parallel()
	db := open(t)
	full(t, db, "anna", "t1", "run-1")
	full(t, db, "anna", "t2", "run-2")
	full(t, db, "bob", "t1", "run-3")
	before := rows(t, db)
	wantErr(t, db.DeleteConversation(t.Context(), "carl", "t1"), agent.ErrNotFound)
	must(t, db.DeleteConversation(t.Context(), "anna", "t1"))
	for table, n := range rows(t, db) {
		want := before[table]
		switch table {
		case "orders", "order_lines", "audit_log":
		default:
			want = want / 3 * 2
		}
		if n != want {
			t.Errorf("%s: %d rows of %d are left, want %d", table, n, before[table], want)
		}
	}
	wantErr(t, db.DeleteConversation(t.Context(), "anna", "t1"), agent.ErrNotFound)
	if _, err := db.Events(t.Context(), "run-1", 0); err == nil {
		t.Error("a follower of the deleted run does not learn that it is gone")
	}
	wantStatus(t, db, "anna", "run-2", agent.Succeeded)
	wantStatus(t, db, "bob", "run-3", agent.Succeeded)
	create(t, db, "anna", "t1", "run-1") // the id is free again
}

func TestDeleteConversation_WhatIsAtWorkStays(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	conflict := func(when string) {
		t.Helper()
		if err := db.DeleteConversation(t.Context(), "anna", "t1"); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: got %v, want a conflict", when, err)
		}
	}
	conflict("a run is pending")
	begin(t, db, "run-1")
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	conflict("a run is at work")
	finish(t, db, "run-1", agent.Cancelled)
	conflict("an order has no outcome")
	must(t, db.Apply(t.Context(), order.Confirm{InvocationID: "inv-1", At: at}))
	must(t, db.DeleteConversation(t.Context(), "anna", "t1"))
	if got, err := db.Order(t.Context(), "anna", "order-inv-1"); err != nil || got.Status != order.Confirmed {
		t.Errorf("the order: %+v, %v", got, err)
	}
}

func TestRenameConversation(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	create(t, db, "bob", "t1", "run-2")
	got, err := db.RenameConversation(t.Context(), "anna", "t1", "午饭")
	want := agent.Conversation{ID: "t1", UserID: "anna", Title: "午饭", CreatedAt: at, UpdatedAt: at}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err := db.Conversation(t.Context(), "anna", "t1"); err != nil || got != want {
		t.Errorf("stored %+v, %v", got, err)
	}
	if got, err := db.Conversation(t.Context(), "bob", "t1"); err != nil || got.Title != "title of t1" {
		t.Errorf("bob's: %+v, %v", got, err)
	}
	_, err = db.RenameConversation(t.Context(), "anna", "t2", "x")
	wantErr(t, err, agent.ErrNotFound)
}

// pager reads one part of a list and gives its items' ids.
type pager func(p agent.Page) (ids []string, next string, err error)

func idsOf[T any](id func(T) string) func(items []T, next string, err error) ([]string, string, error) {
	return func(items []T, next string, err error) ([]string, string, error) {
		var out []string
		for _, item := range items {
			out = append(out, id(item))
		}
		return out, next, err
	}
}

// TestPages: parts of a list are the list, in order, each item once, also when rows are added meanwhile.
func TestPages(t *testing.T) {
	t.Parallel()
	db := open(t)
	add := func(i int) {
		id := fmt.Sprintf("run-%d", i)
		full(t, db, "anna", fmt.Sprintf("t%d", i), id)
		must(t, db.Tx(t.Context(), func(tx *store.Tx) error { // a question whose run has ended stands for one that waits
			_, err := tx.ExecContext(t.Context(), `UPDATE conversations SET updated_at = ? WHERE id = ?`, 1000+i/2, fmt.Sprintf("t%d", i))
			return err
		}))
		must(t, db.Audit(t.Context(), capability.Record{UserID: "anna", RunID: "one", Receipt: capability.Receipt{InvocationID: id}}))
		_, err := db.Remember(t.Context(), preference("pref-"+id, "anna", "likes "+id))
		must(t, err)
	}
	const have = 7
	for i := range have {
		add(i)
	}
	create(t, db, "anna", "long", "first")
	for i := range have {
		create(t, db, "anna", "long", fmt.Sprintf("long-%d", i))
	}
	ctx := t.Context()
	lists := map[string]pager{
		"runs": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(r agent.Run) string { return r.ID })(db.Runs(ctx, "anna", "", p))
		},
		"conversations": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(c agent.Conversation) string { return c.ID })(db.Conversations(ctx, "anna", p))
		},
		"orders": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(o order.Order) string { return o.ID })(db.Orders(ctx, "anna", p))
		},
		"audit": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(r capability.Record) string { return r.RunID + r.InvocationID })(db.Records(ctx, "anna", capability.Selection{}, p))
		},
		"audit of a run": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(r capability.Record) string { return r.InvocationID })(db.Records(ctx, "anna", capability.Selection{RunID: "one"}, p))
		},
		"questions": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(c agent.Confirmation) string { return c.ID })(db.OpenQuestions(ctx, "anna", p))
		},
		"preferences": func(p agent.Page) ([]string, string, error) {
			return idsOf(func(p agent.Preference) string { return p.ID })(db.Preferences(ctx, "anna", p))
		},
		"messages": func(p agent.Page) ([]string, string, error) {
			ids, next, err := idsOf(func(m agent.Message) string { return m.ID })(db.Messages(ctx, "anna", "long", p))
			for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 { // newest first, as the parts are
				ids[i], ids[j] = ids[j], ids[i]
			}
			return ids, next, err
		},
	}
	more := have
	for name, read := range lists {
		whole, next, err := read(agent.Page{Limit: 1000})
		if err != nil || next != "" || len(whole) < have {
			t.Fatalf("%s: %d items, next %q, %v", name, len(whole), next, err)
		}
		var got []string
		for p := (agent.Page{Limit: 3}); ; {
			ids, next, err := read(p)
			must(t, err)
			got = append(got, ids...)
			add(more)
			more++
			if p.After = next; next == "" || len(got) >= len(whole) {
				break
			}
		}
		if len(got) < len(whole) || fmt.Sprint(got[:len(whole)]) != fmt.Sprint(whole) {
			t.Errorf("%s: parts gave %v, want %v", name, got, whole)
		}
		for _, bad := range []string{"x", "1.x.y", ".", "1e9", "9999999999999999999999", "' OR 1=1"} {
			if _, _, err := read(agent.Page{Limit: 3, After: bad}); fault.CodeOf(err) != fault.Invalid && (name != "conversations" || bad != "1.x.y") {
				t.Errorf("%s: the place %q gave %v, want it refused", name, bad, err)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	db := open(t)
	full(t, db, "anna", "t1", "run-1") // its question stands OPEN
	create(t, db, "bob", "t1", "run-2")
	create(t, db, "bob", "t2", "run-3")
	runs, err := db.RunsByStatus(t.Context())
	must(t, err)
	orders, err := db.OrdersByStatus(t.Context())
	must(t, err)
	open, err := db.CountOpenConfirmations(t.Context())
	must(t, err)
	if fmt.Sprint(runs, orders, open) != "map[PENDING:2 SUCCEEDED:1] map[CONFIRMED:1] 1" {
		t.Errorf("got %v, %v, %d", runs, orders, open)
	}
}
