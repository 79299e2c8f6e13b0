package rundb

import (
	"context"
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
		if err := saveAnswered(ctx, tx, n, a, next.ID); err != nil {
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
		// Answers that came before this one are told of by the same run.
		_, err = tx.ExecContext(ctx, `UPDATE invocations SET answered_run = ? WHERE run_n = ? AND answered_run <> ''`, next.ID, n)
		if err != nil {
			return fmt.Errorf("answer a call: %w", err)
		}
		_, err = insertRun(ctx, tx, next)
		began = err == nil
		return err
	})
	return began, err
}

// saveAnswered stores a result with its audit record, once.
func saveAnswered(ctx context.Context, tx *store.Tx, runN int64, a agent.Answered, byRun string) error {
	if err := saveInvocation(ctx, tx, runN, a.Invocation); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE invocations SET answer_id = ?, answered_run = ? WHERE id = ?`, a.Invocation.AnswerID, byRun, a.Invocation.ID)
	if err != nil {
		return fmt.Errorf("save the answer of %s: %w", a.Invocation.ID, err)
	}
	return insertRecord(ctx, tx, a.Record)
}
