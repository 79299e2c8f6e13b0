package rundb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store"
)

const runColumns = `id, client_run_id, user_id, thread_id, trace_id, state, finish_reason, error_code,
	error_message, model, input_tokens, output_tokens, skills, tools, modern, active_ms, cancel_reason,
	head, created_at, started_at, ended_at, origin, epoch, mode, client, continues`

func scanRun(row scanner) (agent.Run, error) {
	var r agent.Run
	var skills, tools, client string
	var active, created, started, ended int64
	err := row.Scan(&r.ID, &r.ClientRunID, &r.UserID, &r.ThreadID, &r.TraceID, &r.Status, &r.FinishReason,
		&r.ErrorCode, &r.ErrorMessage, &r.Model, &r.Usage.Input, &r.Usage.Output, &skills, &tools, &r.Modern,
		&active, &r.CancelReason, &r.Head, &created, &started, &ended, &r.Origin, &r.Epoch, &r.Mode, &client, &r.Continues)
	if err != nil {
		return agent.Run{}, err
	}
	r.Active = time.Duration(active) * time.Millisecond
	r.CreatedAt, r.StartedAt, r.EndedAt = moment(created), moment(started), moment(ended)
	if err := fromJSON(skills, &r.Skills); err != nil {
		return agent.Run{}, err
	}
	if err := fromJSON(client, &r.Client); err != nil {
		return agent.Run{}, err
	}
	return r, fromJSON(tools, &r.Tools)
}

// CreateRun stores conversation, what was said or answered, and PENDING run together.
func (db *DB) CreateRun(ctx context.Context, r agent.Run, title string, input agent.Message, answered ...agent.Answered) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		if err := newInput(ctx, tx, r.InputKey); err != nil {
			return err
		}
		if input.ID == "" && len(answered) == 0 {
			return agent.ErrNothingSaid
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO conversations (user_id, id, title, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT (user_id, id) DO UPDATE SET updated_at = excluded.updated_at`,
			r.UserID, r.ThreadID, title, stamp(r.CreatedAt), stamp(r.CreatedAt))
		if err != nil {
			return fmt.Errorf("insert conversation: %w", err)
		}
		if err := noneOpen(ctx, tx, r.UserID, r.ThreadID); err != nil {
			return err
		}
		n, err := insertRun(ctx, tx, r)
		if err != nil {
			return err
		}
		for _, a := range answered {
			if err := saveAnswered(ctx, tx, a, r.ID); err != nil {
				return err
			}
		}
		if input.ID == "" {
			return nil
		}
		err = insertMessage(ctx, tx, n, input)
		if store.IsUnique(err) {
			return agent.ErrMessageExists
		}
		return err
	})
}

// insertRun stores a PENDING run and gives its number.
func insertRun(ctx context.Context, tx *store.Tx, r agent.Run) (int64, error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO runs (id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, input_key, mode, created_at, client, continues)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.ClientRunID, r.UserID, r.ThreadID, r.TraceID, agent.Pending, r.Modern, r.Origin, r.InputKey, cmp.Or(r.Mode, capability.ModeDefault),
		stamp(r.CreatedAt), clientColumn(r.Client), r.Continues)
	if err != nil {
		return 0, fmt.Errorf("insert run: %w", err)
	}
	return res.LastInsertId()
}

// clientColumn is empty for a client that tells nothing of itself, as most do.
func clientColumn(c agent.Client) string {
	if len(c.Tools) == 0 && len(c.Context) == 0 {
		return ""
	}
	return toJSON(c)
}

// newInput refuses an input that a run exists of. Inputs without a key are all new.
func newInput(ctx context.Context, tx *store.Tx, key string) error {
	if key == "" {
		return nil
	}
	var same agent.SameInputError
	err := tx.QueryRowContext(ctx, `SELECT id FROM runs WHERE input_key = ? AND input_key <> ''`, key).Scan(&same.RunID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for the same input: %w", err)
	}
	return &same
}

// noneOpen refuses an input while a question of its conversation is open (F-24).
func noneOpen(ctx context.Context, tx *store.Tx, userID, threadID string) error {
	var open int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM confirmations c JOIN runs r ON r.n = c.run_n
		WHERE c.status = 'OPEN' AND r.user_id = ? AND r.thread_id = ?`, userID, threadID).Scan(&open)
	if err == nil && open > 0 {
		return agent.ErrConfirmationOpen
	}
	return err
}

// PendingRuns lists the ids of a conversation's PENDING runs, oldest first.
func (db *DB) PendingRuns(ctx context.Context, userID, threadID string) ([]string, error) {
	return collect(ctx, db.Read(), func(row scanner) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM runs WHERE user_id = ? AND thread_id = ? AND state = 0 ORDER BY n`, userID, threadID)
}

// Run gives one of a user's runs.
func (db *DB) Run(ctx context.Context, userID, runID string) (agent.Run, error) {
	r, err := scanRun(db.Read().QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ? AND user_id = ?`, runID, userID))
	return r, notFound(err)
}

// RunByLabel finds a run by the client's label.
func (db *DB) RunByLabel(ctx context.Context, userID, clientRunID string) (agent.Run, error) {
	found, err := collect(ctx, db.Read(), scanRun,
		`SELECT `+runColumns+` FROM runs WHERE user_id = ? AND client_run_id = ? LIMIT 2`, userID, clientRunID)
	switch {
	case err != nil:
		return agent.Run{}, err
	case len(found) == 0:
		return agent.Run{}, agent.ErrNotFound
	case len(found) > 1:
		return agent.Run{}, agent.ErrAmbiguous
	}
	return found[0], nil
}

// Runs lists a user's runs, newest first.
func (db *DB) Runs(ctx context.Context, userID, threadID string, p agent.Page) ([]agent.Run, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanRun, `SELECT n, `+runColumns+` FROM runs
		WHERE user_id = ? AND (? = '' OR thread_id = ?) AND n < ? ORDER BY n DESC LIMIT ?`, userID, threadID, threadID, before)
}

// RunsOfTrace lists a user's newest runs of one chain, oldest first.
func (db *DB) RunsOfTrace(ctx context.Context, userID, traceID string, limit int) ([]agent.Run, error) {
	found, err := collect(ctx, db.Read(), scanRun, `SELECT `+runColumns+` FROM runs
		WHERE user_id = ? AND trace_id = ? ORDER BY n DESC LIMIT ?`, userID, traceID, limit)
	slices.Reverse(found)
	return found, err
}

// OpenRuns lists all users' runs that have not ended, oldest first.
func (db *DB) OpenRuns(ctx context.Context) ([]agent.Run, error) {
	return collect(ctx, db.Read(), scanRun, `SELECT `+runColumns+` FROM runs WHERE state < 10 ORDER BY n`)
}

// RequestCancel records the wish while the run is open, and for what it has put into the background; the first reason
// stands.
func (db *DB) RequestCancel(ctx context.Context, runID string, why agent.FinishReason) (bool, error) {
	var open bool
	err := db.End(ctx, func(tx *store.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE runs SET cancel_reason = CASE cancel_reason WHEN '' THEN ? ELSE cancel_reason END
			WHERE id = ? AND state < 10`, why, runID)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if open = n > 0; err != nil || !open {
			return err
		}
		return cancelTasksOf(ctx, tx, runID, why)
	})
	return open, err
}
