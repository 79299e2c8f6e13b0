package rundb

import (
	"context"
	"fmt"
	"time"

	"agentmesh/store"
)

// pruneRows is about how many rows go in one transaction: so long other writers wait.
const pruneRows = 300

// Cutoffs are the times before which things go; the zero time keeps them for ever.
type Cutoffs struct {
	Events time.Time // what is only needed to tell again how an ended run went
	Audit  time.Time // audit records, and the cards of decided questions
}

// Pruned counts what went, or would go.
type Pruned struct {
	Events     int `json:"events"`     // of ended runs
	Requests   int `json:"requests"`   // to models, as recorded with ended runs
	Deliveries int `json:"deliveries"` // of the outbox, made
	Audit      int `json:"audit"`
	Cards      int `json:"cards"` // what decided questions showed
}

// sweep is one kind of thing that goes.
type sweep struct {
	before time.Time
	pick   string // lists places, and how many rows go with each; takes a place, a time and a limit
	drop   []drop
}

// drop takes away what is at a place, and counts it.
type drop struct {
	statement string
	into      *int
}

// Prune drops what is older than its cutoff, oldest first, in transactions of some hundred rows. Orders,
// conversations and preferences stay, and so does everything of a run that is open, or whose order or task has no
// outcome yet. A dry one only counts.
func (db *DB) Prune(ctx context.Context, c Cutoffs, dry bool) (Pruned, error) {
	var out Pruned
	for _, s := range sweeps(c, &out) {
		if s.before.IsZero() {
			continue
		}
		if err := db.sweep(ctx, s, dry); err != nil {
			return out, fmt.Errorf("prune: %w", err)
		}
	}
	return out, nil
}

// unsettled is an order of the run that has no outcome.
const unsettled = `EXISTS (SELECT 1 FROM orders o WHERE o.run_id = r.id AND o.status = 'PLACING')`

// atWork is a task that the run has put into the background, and that runs.
const atWork = `EXISTS (SELECT 1 FROM tasks t WHERE t.run_n = r.n AND t.ended_at = 0)`

func sweeps(c Cutoffs, out *Pruned) []sweep {
	return []sweep{
		{c.Events, `SELECT r.n, (SELECT count(*) FROM run_events WHERE run_n = r.n), (SELECT count(*) FROM model_calls WHERE run_n = r.n AND request <> '')
			FROM runs r WHERE r.n > ? AND r.state >= 10 AND r.ended_at < ? AND NOT ` + unsettled + ` AND NOT ` + atWork + `
			AND (EXISTS (SELECT 1 FROM run_events WHERE run_n = r.n) OR EXISTS (SELECT 1 FROM model_calls WHERE run_n = r.n AND request <> ''))
			ORDER BY r.n LIMIT ?`, []drop{
			{`DELETE FROM run_events WHERE run_n = ?`, &out.Events},
			{`UPDATE model_calls SET request = '' WHERE run_n = ? AND request <> ''`, &out.Requests},
		}},
		{c.Events, `SELECT b.n, 1 FROM outbox b WHERE b.n > ? AND b.done_at > 0 AND b.done_at < ?
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.invocation_id = substr(b.okey, 1, instr(b.okey, '/') - 1) AND o.status = 'PLACING')
			ORDER BY b.n LIMIT ?`, []drop{{`DELETE FROM outbox WHERE n = ? AND done_at > 0`, &out.Deliveries}}},
		{c.Audit, `SELECT a.n, 1 FROM audit_log a LEFT JOIN runs r ON r.id = a.run_id WHERE a.n > ? AND a.at < ?
			AND (r.id IS NULL OR (r.state >= 10 AND NOT ` + unsettled + `)) ORDER BY a.n LIMIT ?`, []drop{{`DELETE FROM audit_log WHERE n = ?`, &out.Audit}}},
		{c.Audit, `SELECT c.n, 1 FROM confirmations c JOIN runs r ON r.n = c.run_n WHERE c.n > ? AND c.status <> 'OPEN' AND c.decided_at < ?
			AND c.summary || c.warnings <> '' AND r.state >= 10 AND NOT ` + unsettled + ` ORDER BY c.n LIMIT ?`, []drop{
			{`UPDATE confirmations SET summary = '', warnings = '' WHERE n = ? AND status <> 'OPEN'`, &out.Cards},
		}},
	}
}

// spot is where rows go, and how many of each drop.
type spot struct {
	n    int64
	rows []int
}

func (db *DB) sweep(ctx context.Context, s sweep, dry bool) error {
	for after := int64(0); ; {
		found, err := collect(ctx, db.Read(), func(row scanner) (spot, error) {
			p := spot{rows: make([]int, len(s.drop))}
			into := []any{&p.n}
			for i := range p.rows {
				into = append(into, &p.rows[i])
			}
			return p, row.Scan(into...)
		}, s.pick, after, stamp(s.before), pruneRows)
		if err != nil || len(found) == 0 {
			return err
		}
		after = found[len(found)-1].n
		for len(found) > 0 {
			n := batch(found)
			if err := db.dropAll(ctx, s.drop, found[:n], dry); err != nil {
				return err
			}
			found = found[n:]
		}
	}
}

// batch tells how many places make about one transaction's rows, at least one.
func batch(found []spot) int {
	rows := 0
	for i, p := range found {
		for _, n := range p.rows {
			rows += n
		}
		if rows > pruneRows && i > 0 {
			return i
		}
	}
	return len(found)
}

func (db *DB) dropAll(ctx context.Context, drops []drop, places []spot, dry bool) error {
	if !dry {
		err := db.drop(ctx, drops, places)
		if store.IsFull(err) { // the WAL fills the disk: in the file there is room
			if err = db.Checkpoint(ctx); err == nil {
				err = db.drop(ctx, drops, places)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, p := range places {
		for i, d := range drops {
			*d.into += p.rows[i]
		}
	}
	return nil
}

// drop takes rows away, on a full disk too: that is what makes room.
func (db *DB) drop(ctx context.Context, drops []drop, places []spot) error {
	return db.End(ctx, func(tx *store.Tx) error {
		for _, p := range places {
			for _, d := range drops {
				if _, err := tx.ExecContext(ctx, d.statement, p.n); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Oldest tells when the run ended whose events are the oldest, and when the oldest audit record was written;
// the zero time when there is none. What Prune keeps whatever its age, of runs that are open or whose orders have
// no outcome, does not count.
func (db *DB) Oldest(ctx context.Context) (events, audit time.Time, err error) {
	var e, a int64
	err = db.Read().QueryRowContext(ctx, `SELECT
		coalesce((SELECT min(r.ended_at) FROM runs r WHERE r.state >= 10 AND NOT `+unsettled+` AND EXISTS (SELECT 1 FROM run_events WHERE run_n = r.n)), 0),
		coalesce((SELECT min(a.at) FROM audit_log a LEFT JOIN runs r ON r.id = a.run_id WHERE r.id IS NULL OR (r.state >= 10 AND NOT `+unsettled+`)), 0)`).Scan(&e, &a)
	if err != nil {
		return events, audit, fmt.Errorf("look for the oldest: %w", err)
	}
	return moment(e), moment(a), nil
}
