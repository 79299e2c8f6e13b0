package rundb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"agentmesh/agent"
	"agentmesh/store"
)

// Waiting lists the calls of ended runs of a conversation that wait for somebody outside, oldest first.
func (db *DB) Waiting(ctx context.Context, userID, threadID string) ([]agent.Invocation, error) {
	return collect(ctx, db.Read(), scanInvocation, `SELECT `+invocationColumns+`
		WHERE i.status = 'INPUT_REQUIRED' AND r.user_id = ? AND r.thread_id = ? AND r.state >= 10 ORDER BY r.n, i.round, i.position`, userID, threadID)
}

// AnsweredFor lists the calls that were answered with the input of a run.
func (db *DB) AnsweredFor(ctx context.Context, runID string) ([]agent.Invocation, error) {
	return collect(ctx, db.Read(), scanInvocation, `SELECT `+invocationColumns+`
		WHERE i.answered_run = ? AND i.answered_run <> '' ORDER BY r.n, i.round, i.position`, runID)
}

// Answer stores the result of a call that somebody else made: into its run, if that is open, or with the run that
// goes on from there, once no other call of it waits outside.
func (db *DB) Answer(ctx context.Context, a agent.Answered, next agent.Run) (began bool, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) error {
		var n int64
		var state agent.Status
		if err := tx.QueryRowContext(ctx, `SELECT n, state FROM runs WHERE id = ?`, a.Invocation.RunID).Scan(&n, &state); err != nil {
			return notFound(err)
		}
		if err := saveAnswered(ctx, tx, a, next.ID); err != nil {
			return err
		}
		if !state.Final() {
			_, err := tx.ExecContext(ctx, `UPDATE runs SET head = head + 1 WHERE n = ?`, n)
			if err != nil {
				return fmt.Errorf("answer a call: %w", err)
			}
			return insertEvents(ctx, tx, n, []agent.Event{a.Event})
		}
		var left int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM invocations WHERE run_n = ? AND status = 'INPUT_REQUIRED'`, n).Scan(&left)
		if err != nil || left > 0 {
			return err
		}
		inLine, err := goesOnInLine(ctx, tx, a.Invocation.RunID)
		if err != nil {
			return err
		}
		// Answers that came before this one are told of by the same run.
		_, err = tx.ExecContext(ctx, `UPDATE invocations SET answered_run = ? WHERE run_n = ? AND answered_run <> ''`, cmp.Or(inLine, next.ID), n)
		if err != nil {
			return fmt.Errorf("answer a call: %w", err)
		}
		if inLine != "" {
			return nil
		}
		_, err = insertRun(ctx, tx, next)
		began = err == nil
		return err
	})
	return began, err
}

// goesOnInLine lets the next run that has not begun go on from a run, and gives its id: a person has said something
// meanwhile, and what they get is about both. It is empty when no run is in line, or the first one goes on from elsewhere.
func goesOnInLine(ctx context.Context, tx *store.Tx, runID string) (string, error) {
	var id string
	err := tx.QueryRowContext(ctx, `UPDATE runs SET continues = ?1 WHERE continues = '' AND n = (SELECT min(p.n) FROM runs p JOIN runs this
		ON this.user_id = p.user_id AND this.thread_id = p.thread_id WHERE this.id = ?1 AND p.state = ?2) RETURNING id`, runID, agent.Pending).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for a run in line: %w", err)
	}
	return id, nil
}

// saveAnswered stores a result with its audit record, once: ErrStale when the call waits no more, or is gone.
func saveAnswered(ctx context.Context, tx *store.Tx, a agent.Answered, byRun string) error {
	inv := a.Invocation
	met, err := execMet(ctx, tx, `UPDATE invocations SET status = ?, final = ?, result = ?, receipt = ?, ended_at = ?, answer_id = ?, answered_run = ?
		WHERE id = ? AND status = 'INPUT_REQUIRED'`,
		inv.Status, inv.Status.Final(), string(inv.Result), toJSON(inv.Receipt), stamp(inv.EndedAt), inv.AnswerID, byRun, inv.ID)
	switch {
	case err != nil:
		return fmt.Errorf("save the answer of %s: %w", inv.ID, err)
	case !met:
		return agent.ErrStale
	}
	return insertRecord(ctx, tx, a.Record)
}
