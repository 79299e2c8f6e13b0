package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app"
	"agentmesh/capability"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// judge reads the databases of the stopped program and names what is broken, by the numbers of
// docs/durability.md.
type judge struct {
	w      *world
	runs   *rundb.DB
	stocks *catalogdb.DB

	all      []agent.Run
	journals map[string]agent.Journal
	events   map[string][]agent.Event
	orders   map[string]order.Order // by invocation
	broken   []string
}

func (w *world) open(ctx context.Context) (*judge, error) {
	j := &judge{w: w, journals: map[string]agent.Journal{}, events: map[string][]agent.Event{}, orders: map[string]order.Order{}}
	var err error
	if j.runs, err = rundb.OpenReader(ctx, filepath.Join(w.dir, "orchestrator.db")); err != nil {
		return nil, err
	}
	if j.stocks, err = catalogdb.OpenReader(ctx, filepath.Join(w.dir, "catalog.db")); err != nil {
		_ = j.runs.Close()
		return nil, err
	}
	return j, nil
}

func (j *judge) close() { _, _ = j.runs.Close(), j.stocks.Close() }

func (j *judge) wrong(rule, format string, args ...any) {
	j.broken = append(j.broken, rule+": "+fmt.Sprintf(format, args...))
}

func (j *judge) check(rule string, err error) {
	if err != nil {
		j.wrong(rule, "%v", err)
	}
}

// quick looks at what holds at any moment, beside the running program.
func (w *world) quick(ctx context.Context) ([]string, error) {
	j, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer j.close()
	j.check("I01", j.stocks.Invariant(ctx))
	j.check("I02", j.runs.Invariant(ctx))
	j.gaps(ctx)
	return j.broken, nil
}

// verdict looks at everything after the last stop.
func (w *world) verdict(ctx context.Context) (*judge, error) {
	j, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer j.close()
	if err := j.load(ctx); err != nil {
		return nil, err
	}
	j.check("I01", j.stocks.Invariant(ctx))
	j.check("I02", app.CheckBooks(ctx, w.dir))
	j.holds(ctx)
	j.ends()
	j.answers()
	j.gaps(ctx)
	j.journal()
	j.turns()
	j.watchers()
	j.effects()
	j.audit(ctx)
	j.logs()
	j.check("I11", errors.Join(j.runs.Check(ctx), j.stocks.Check(ctx)))
	j.broken = append(j.broken, w.tally.odd...)
	return j, nil
}

func (j *judge) load(ctx context.Context) error {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT id FROM runs ORDER BY n`)
	if err != nil {
		return err
	}
	ids, err := column(rows)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if j.journals[id], err = j.runs.Journal(ctx, id); err != nil {
			return fmt.Errorf("load %s: %w", id, err)
		}
		if j.events[id], err = j.runs.Events(ctx, id, 0); err != nil {
			return fmt.Errorf("load %s: %w", id, err)
		}
		j.all = append(j.all, j.journals[id].Run)
	}
	orders, err := j.runs.AllOrders(ctx)
	for _, o := range orders {
		j.orders[o.InvocationID] = o
	}
	return err
}

func column(rows *sql.Rows) (out []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// late are the deliveries that are not queued for later: the release of a hold that an edit made is, until
// the edit counts.
const late = `FROM outbox WHERE done_at = 0 AND (attempts > 0 OR next_at <= unixepoch('subsec') * 1000000)`

// holds is I03: no hold outlives its time, and nothing that is due waits to be delivered.
func (j *judge) holds(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT op || ' ' || okey `+late)
	if err == nil {
		var found []string
		found, err = column(rows)
		for _, f := range found {
			j.wrong("I03", "the outbox still has %s", f)
		}
	}
	j.check("I03", err)
	entries, err := j.stocks.Entries(ctx)
	j.check("I03", err)
	for _, e := range entries {
		if e.State == catalog.Held && time.Since(e.ExpiresAt) > time.Minute {
			j.wrong("I03", "%s is held since its time ended at %s", e.Key, e.ExpiresAt)
		}
	}
	for _, o := range j.orders {
		if o.Status == order.Placing && !waits(j.journals[o.RunID]) {
			j.wrong("I03", "the order %s is PLACING and its run %s does not wait", o.ID, o.RunID)
		}
	}
}

// waits tells whether a run waits truthfully: it says so, and a question is open.
func waits(j agent.Journal) bool {
	return j.Run.Status == agent.AwaitingConfirmation &&
		slices.ContainsFunc(j.Confirmations, func(c agent.Confirmation) bool { return c.Status == agent.ConfirmationOpen })
}

// ends is I04: every run has ended or waits, and none failed because of us.
func (j *judge) ends() {
	for _, r := range j.all {
		switch {
		case r.Status == agent.Failed:
			j.wrong("I04", "the run %s FAILED: %s %s", r.ID, r.ErrorCode, r.ErrorMessage)
		case r.CancelReason != "" && r.Status == agent.Succeeded:
			j.wrong("I04", "the run %s SUCCEEDED after somebody asked to cancel it", r.ID)
		case r.Status == agent.Cancelled && r.FinishReason != agent.ByUser:
			j.wrong("I04", "the run %s was CANCELLED by nobody: %s", r.ID, r.FinishReason)
		case !r.Status.Final() && !waits(j.journals[r.ID]):
			j.wrong("I04", "the run %s is %s and nothing is open", r.ID, r.Status)
		}
	}
}

// answers is I05: what was answered holds.
func (j *judge) answers() {
	t := j.w.tally
	for id := range t.accepted {
		if journal, there := j.journals[id]; !there || len(journal.Messages) == 0 || journal.Messages[0].Role != agent.User {
			j.wrong("I05", "the run %s was accepted, and it or its message is not there", id)
		}
	}
	for id, status := range t.runs {
		if got := j.journals[id].Run.Status; got != agent.Cancelled {
			j.wrong("I05", "the cancel of the run %s was answered with %s, and it is %s", id, status, got)
		}
	}
	for _, o := range j.orders {
		if told, ok := t.orders[o.ID]; ok && string(o.Status) != told {
			j.wrong("I05", "the order %s was said to be %s, and it is %s", o.ID, told, o.Status)
		}
	}
	for _, journal := range j.journals {
		for _, c := range journal.Confirmations {
			if told, ok := t.decided[c.ID]; ok && string(c.Status) != told {
				j.wrong("I05", "the question %s was said to be %s, and it is %s", c.ID, told, c.Status)
			}
			j.outcome(journal, c)
		}
	}
}

// outcome compares a question's end with its order's and its call's.
func (j *judge) outcome(journal agent.Journal, c agent.Confirmation) {
	if c.Tool != "place_order" || c.ReplacedBy != "" {
		return
	}
	o, ordered := j.orders[c.InvocationID]
	if !ordered {
		j.wrong("I05", "the question %s is about an order that is not there", c.ID)
		return
	}
	at := slices.IndexFunc(journal.Invocations, func(i agent.Invocation) bool { return i.ID == c.InvocationID })
	inv := journal.Invocations[at]
	sold := o.Status == order.Confirmed || o.Status == order.Cancelled
	switch {
	case c.Status == agent.ConfirmationOpen:
	case c.Status != agent.ConfirmationConfirmed && sold:
		j.wrong("I05", "the question %s is %s, and its order %s is %s", c.ID, c.Status, o.ID, o.Status)
	case inv.Status == capability.Succeeded && !sold:
		j.wrong("I05", "the call %s SUCCEEDED, and its order %s is %s (%s)", inv.ID, o.ID, o.Status, o.Reason)
	case !inv.Status.Final() && journal.Run.Status.Final():
		j.wrong("I05", "the call %s is %s, and its run has ended", inv.ID, inv.Status)
	}
}

// gaps is I06 in one statement, so that it can look beside the running program.
func (j *judge) gaps(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT printf('the journal of %s has %d events from %d to %d, and its head is %d', r.id,
			count(e.seq), coalesce(min(e.seq), 0), coalesce(max(e.seq), 0), r.head)
		FROM runs r LEFT JOIN run_events e ON e.run_n = r.n GROUP BY r.n
		HAVING count(e.seq) <> r.head OR coalesce(max(e.seq), 0) <> r.head OR (r.head > 0 AND min(e.seq) <> 1)
		UNION ALL
		SELECT printf('the run %s is in state %d and has %d ends', r.id, r.state, count(e.seq))
		FROM runs r LEFT JOIN run_events e ON e.run_n = r.n AND e.type = 'run_ended' GROUP BY r.n
		HAVING count(e.seq) <> (r.state >= 10) OR (r.state >= 10 AND max(e.seq) <> r.head)`)
	if err == nil {
		var found []string
		if found, err = column(rows); err == nil {
			for _, f := range found {
				j.wrong("I06", "%s", f)
			}
		}
	}
	j.check("I06", err)
}

// journal is I07 and the calls' part of I08: runs of a conversation go one after another, and each call
// has one result.
func (j *judge) journal() {
	before := map[string]agent.Run{}
	for _, r := range j.all {
		conversation := r.UserID + " " + r.ThreadID
		if last, ok := before[conversation]; ok && !r.StartedAt.IsZero() && (last.EndedAt.IsZero() || r.StartedAt.Before(last.EndedAt)) {
			j.wrong("I07", "the run %s began while %s of the same conversation was at work", r.ID, last.ID)
		}
		before[conversation] = r
		results := map[string]int{}
		for _, e := range j.events[r.ID] {
			switch e.Type {
			case agent.CallEnded:
				results[callOf(e)]++
			case agent.RunEnded:
				if told := endOf(e); told != r.Status.String() {
					j.wrong("I05", "the stream of %s ends with %s, and the run is %s", r.ID, told, r.Status)
				}
			}
		}
		for _, inv := range j.journals[r.ID].Invocations {
			if want := map[bool]int{true: 1}[inv.Status.Final()]; results[inv.ID] != want {
				j.wrong("I08", "the call %s is %s and has %d results", inv.ID, inv.Status, results[inv.ID])
			}
		}
	}
}

// audit is the last part of I08: each call that has ended is in the audit once. That a person had it tried
// again is a record of its own.
func (j *judge) audit(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT printf('the call %s is %s and has %d audit records', i.id, i.status, count(a.n))
		FROM invocations i LEFT JOIN audit_log a ON a.invocation_id = i.id
			AND NOT (a.status = 'INDETERMINATE' AND a.stage = 'confirm') GROUP BY i.id HAVING count(a.n) <> i.final`)
	if err == nil {
		var found []string
		found, err = column(rows)
		for _, f := range found {
			j.wrong("I08", "%s", f)
		}
	}
	j.check("I08", err)
}

// logs finds what no process may say of itself.
func (j *judge) logs() {
	for _, p := range j.w.processes() {
		for _, word := range []string{"DATA RACE", "panicked", "goroutine "} {
			if at := strings.Index(p.log.String(), word); at >= 0 {
				j.wrong("log", "%s: %.2000s", word, p.log.String()[at:])
			}
		}
	}
}

// turns is the model's part of I08: what is stored as said is what the model gave, whole.
func (j *judge) turns() {
	for id, journal := range j.journals {
		for _, m := range journal.Messages {
			if m.Role == agent.Assistant && !m.Abandoned && m.Text != "" && !j.w.model.gave(m.Text) {
				j.wrong("I08", "the run %s says %q, which the model never gave", id, m.Text)
			}
		}
	}
}

// watchers is I09.
func (j *judge) watchers() {
	for _, wa := range j.w.tally.watchers {
		if journal, ok := j.journals[wa.run]; ok {
			if err := wa.judge(journal.Run, j.events[wa.run]); err != nil {
				j.wrong("I09", "a watcher of %s, after %d reconnects: %v", wa.run, wa.reconnects, err)
			}
		}
	}
}

// effects is I10: an effect without a key happens at most once, and once more for each time that a person
// said "try again"; and one that is said to have happened did.
func (j *judge) effects() {
	rang := j.w.kitchen.effects()
	for id, n := range rang {
		if most := 1 + j.w.tally.retries[id]; n > most {
			j.wrong("I10", "the bell of %s rang %d times, and may %d times", id, n, most)
		}
	}
	for _, journal := range j.journals {
		for _, inv := range journal.Invocations {
			if inv.Name == "ring_bell" && inv.Status == capability.Succeeded && rang[inv.ID] == 0 {
				j.wrong("I10", "the bell of %s is said to have rung, and did not", inv.ID)
			}
		}
	}
}
