package rundb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/store"
)

const taskColumns = `t.id, t.origin, t.user_id, t.thread_id, r.id, r.trace_id, t.invocation_id, i.call_id, i.name, i.args, t.state,
	i.result, t.delivered_run, t.cancel_reason, t.started_at, t.ended_at, t.epoch
	FROM tasks t JOIN runs r ON r.n = t.run_n JOIN invocations i ON i.id = t.invocation_id`

func scanTask(row scanner) (agent.Task, error) {
	var t agent.Task
	var args, result string
	var started, ended int64
	err := row.Scan(&t.ID, &t.Origin, &t.UserID, &t.ThreadID, &t.RunID, &t.TraceID, &t.InvocationID, &t.CallID, &t.Capability,
		&args, &t.Status, &result, &t.DeliveredRun, &t.CancelReason, &started, &ended, &t.Epoch)
	t.Args, t.StartedAt, t.EndedAt = []byte(args), moment(started), moment(ended)
	if t.Ended() {
		t.Result = []byte(result)
	}
	return t, err
}

// insertTask begins a task: the call that a step puts into the background.
func insertTask(ctx context.Context, tx *store.Tx, runN int64, t agent.Task, l agent.Lease) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO tasks (id, origin, user_id, thread_id, run_n, invocation_id, state, started_at, owner, epoch, lease_until)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, t.ID, t.Origin, t.UserID, t.ThreadID, runN, t.InvocationID, t.Status, stamp(t.StartedAt),
		l.Owner, l.Epoch, stamp(l.Until))
	if err != nil {
		return fmt.Errorf("insert task %s: %w", t.ID, err)
	}
	return nil
}

// tellOnce marks the tasks whose outcomes a run tells of, each unless another has told of it.
func tellOnce(ctx context.Context, tx *store.Tx, runID string, told []string) error {
	for _, id := range told {
		res, err := tx.ExecContext(ctx, `UPDATE tasks SET delivered_run = ? WHERE id = ? AND ended_at > 0 AND delivered_run = ''`, runID, id)
		if err != nil {
			return fmt.Errorf("tell of task %s: %w", id, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(agent.ErrStale, err)
		}
	}
	return nil
}

// cancelTasksOf records the wish to stop what a run has put into the background.
func cancelTasksOf(ctx context.Context, tx *store.Tx, runID string, why agent.FinishReason) error {
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET cancel_reason = ? WHERE run_n = (SELECT n FROM runs WHERE id = ?)
		AND ended_at = 0 AND cancel_reason = ''`, runStopped+why, runID)
	if err != nil {
		return fmt.Errorf("cancel tasks of %s: %w", runID, err)
	}
	return nil
}

// runStopped begins the reason of a task that was stopped together with its run.
const runStopped agent.FinishReason = "run_"

// Task gives one task, of anybody if no user is named.
func (db *DB) Task(ctx context.Context, userID, id string) (agent.Task, error) {
	t, err := scanTask(db.Read().QueryRowContext(ctx, `SELECT `+taskColumns+` WHERE t.id = ? AND ? IN ('', t.user_id)`, id, userID))
	return t, notFound(err)
}

// Tasks lists a user's tasks, newest first.
func (db *DB) Tasks(ctx context.Context, userID string, f agent.TaskFilter, p agent.Page) ([]agent.Task, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanTask, `SELECT t.n, `+taskColumns+` WHERE t.user_id = ? AND ? IN ('', t.thread_id)
		AND ? IN ('', t.state) AND t.n < ? ORDER BY t.n DESC LIMIT ?`, userID, f.ThreadID, f.Status, before)
}

// RunningTasks lists what runs in the background of a conversation, oldest first.
func (db *DB) RunningTasks(ctx context.Context, userID, threadID string) ([]agent.Task, error) {
	return collect(ctx, db.Read(), scanTask, `SELECT `+taskColumns+` WHERE t.user_id = ? AND t.thread_id = ? AND t.ended_at = 0 ORDER BY t.n`, userID, threadID)
}

// OrphanTasks lists the running tasks that nobody works on.
func (db *DB) OrphanTasks(ctx context.Context, now time.Time) ([]string, error) {
	return collect(ctx, db.Read(), func(row scanner) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM tasks WHERE ended_at = 0 AND lease_until <= ? ORDER BY n`, stamp(now))
}

// CancelTask records the wish to stop a task while it runs; the first reason stands.
func (db *DB) CancelTask(ctx context.Context, userID, id string, why agent.FinishReason) error {
	return db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tasks SET cancel_reason = ? WHERE id = ? AND user_id = ? AND ended_at = 0 AND cancel_reason = ''`, why, id, userID)
		if err != nil {
			return fmt.Errorf("cancel task %s: %w", id, err)
		}
		return nil
	})
}

// EndTask writes a task's outcome: state, result, records and changes together, and an event if its run is open.
func (db *DB) EndTask(ctx context.Context, e agent.TaskEnd) error {
	queued := false
	err := db.End(ctx, func(tx *store.Tx) error {
		runN, err := endTask(ctx, tx, e)
		if err != nil {
			return err
		}
		queued, err = writeStep(ctx, tx, runN, agent.Step{
			Invocations: []agent.Invocation{e.Invocation}, Records: e.Records, Changes: e.Changes,
		})
		return err
	})
	if queued && err == nil {
		db.tellQueued()
	}
	return err
}

// endTask is the compare-and-set. It gives the number of the task's run.
func endTask(ctx context.Context, tx *store.Tx, e agent.TaskEnd) (runN int64, err error) {
	err = tx.QueryRowContext(ctx, `UPDATE tasks SET state = ?, ended_at = ?, owner = '', lease_until = 0, delivered_run =
			CASE WHEN ? = 'CANCELLED' AND cancel_reason = ? THEN (SELECT id FROM runs WHERE n = run_n) ELSE '' END
		WHERE id = ? AND epoch = ? AND ended_at = 0 RETURNING run_n`,
		e.Status, stamp(e.At), e.Status, runStopped+agent.ByUser, e.Lease.ID, e.Lease.Epoch).Scan(&runN)
	if err != nil {
		if errors.Is(notFound(err), agent.ErrNotFound) {
			return 0, agent.ErrStale
		}
		return 0, fmt.Errorf("end task %s: %w", e.Lease.ID, err)
	}
	res, err := tx.ExecContext(ctx, `UPDATE runs SET head = head + 1 WHERE n = ? AND state < 10`, runN)
	if err != nil {
		return 0, fmt.Errorf("end task %s: %w", e.Lease.ID, err)
	}
	if open, err := res.RowsAffected(); err != nil || open == 0 {
		return runN, err
	}
	return runN, insertEvents(ctx, tx, runN, []agent.Event{e.Event})
}

// Untold lists the ended tasks of a conversation of which no run has told, in the order in which they ended.
func (db *DB) Untold(ctx context.Context, userID, threadID string) ([]agent.Task, error) {
	return untold(ctx, db.Read(), userID, threadID)
}

func untold(ctx context.Context, q queryer, userID, threadID string) ([]agent.Task, error) {
	found, err := collect(ctx, q, scanTask, `SELECT `+taskColumns+`
		WHERE t.user_id = ? AND t.thread_id = ? AND t.ended_at > 0 AND t.delivered_run = '' ORDER BY t.ended_at, t.n`, userID, threadID)
	if err != nil {
		return nil, fmt.Errorf("read untold tasks: %w", err)
	}
	return found, nil
}

// UntoldTalks lists a task of each conversation that has untold ones and no open run to tell of them.
func (db *DB) UntoldTalks(ctx context.Context) ([]agent.Task, error) {
	return collect(ctx, db.Read(), scanTask, `SELECT `+taskColumns+` WHERE t.n IN (SELECT min(n) FROM tasks u
			WHERE u.ended_at > 0 AND u.delivered_run = '' GROUP BY u.user_id, u.thread_id)
		AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.user_id = t.user_id AND o.thread_id = t.thread_id AND o.state < 10)`)
}

// CreateTelling stores a PENDING run that is to tell of ended tasks, if there are some and no other run of the
// conversation is open.
func (db *DB) CreateTelling(ctx context.Context, r agent.Run) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		var open, untold int
		err := tx.QueryRowContext(ctx, `SELECT
			(SELECT count(*) FROM runs WHERE user_id = ? AND thread_id = ? AND state < 10),
			(SELECT count(*) FROM tasks WHERE user_id = ? AND thread_id = ? AND ended_at > 0 AND delivered_run = '')`,
			r.UserID, r.ThreadID, r.UserID, r.ThreadID).Scan(&open, &untold)
		switch {
		case err != nil:
			return fmt.Errorf("create run to tell of tasks: %w", err)
		case open > 0:
			return agent.ErrBusy
		case untold == 0:
			return agent.ErrStale
		}
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET updated_at = ? WHERE user_id = ? AND id = ?`, stamp(r.CreatedAt), r.UserID, r.ThreadID)
		if err == nil {
			_, err = insertRun(ctx, tx, r)
		}
		return err
	})
}
