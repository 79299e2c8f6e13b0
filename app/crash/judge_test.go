package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/app"
	"agentmesh/capability"
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
	j.tasks(ctx)
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
