package rundb

import (
	"context"
	"errors"
	"fmt"

	"agentmesh/agent"
	"agentmesh/store"
)

const confirmationColumns = `c.id, r.id, r.user_id, r.thread_id, c.invocation_id, c.call_id, c.tool, c.args, c.args_digest,
	c.summary, c.warnings, c.status, c.reason, c.edited, c.replaced_by, c.decided_by, c.decided_via, c.decided_at, c.created_at, c.deadline,
	c.kind, c.attempt, c.answer, c.because, c.suggestions, c.remembered FROM confirmations c JOIN runs r ON r.n = c.run_n`

func scanConfirmation(row scanner) (agent.Confirmation, error) {
	var c agent.Confirmation
	var args, summary, warnings, edited, attempt, suggestions string
	var decided, created, deadline int64
	err := row.Scan(&c.ID, &c.RunID, &c.UserID, &c.ThreadID, &c.InvocationID, &c.CallID, &c.Tool, &args, &c.ArgsDigest,
		&summary, &warnings, &c.Status, &c.Reason, &edited, &c.ReplacedBy, &c.DecidedBy, &c.DecidedVia, &decided, &created, &deadline,
		&c.Kind, &attempt, &c.Answer, &c.Because, &suggestions, &c.Remembered)
	if err != nil {
		return agent.Confirmation{}, err
	}
	c.Args, c.CreatedAt, c.Deadline = []byte(args), moment(created), moment(deadline)
	if summary != "" {
		c.Summary = []byte(summary)
	}
	if warnings != "" {
		c.Warnings = []byte(warnings)
	}
	if decided != 0 {
		at := moment(decided)
		c.DecidedAt = &at
	}
	if c.Kind == agent.AskOutcome {
		c.Answers = agent.Replies()
	}
	return c, errors.Join(fromJSON(edited, &c.Edited), fromJSON(attempt, &c.Attempt), fromJSON(suggestions, &c.Suggestions))
}

func insertConfirmation(ctx context.Context, tx *store.Tx, runN int64, c agent.Confirmation) error {
	attempt, suggestions := "", ""
	if c.Attempt != nil {
		attempt = toJSON(c.Attempt)
	}
	if len(c.Suggestions) > 0 {
		suggestions = toJSON(c.Suggestions)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest,
			summary, warnings, status, created_at, deadline, kind, attempt, because, suggestions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, runN, c.InvocationID, c.CallID, c.Tool, string(c.Args), c.ArgsDigest, string(c.Summary), string(c.Warnings),
		c.Status, stamp(c.CreatedAt), stamp(c.Deadline), c.Kind, attempt, c.Because, suggestions)
	if err != nil {
		return fmt.Errorf("insert confirmation: %w", err)
	}
	return nil
}

// closeConfirmation is the compare-and-set of a decision; it tells whether this call closed the question.
func closeConfirmation(ctx context.Context, tx *store.Tx, id string, d agent.Decision) (bool, error) {
	edited := ""
	if d.Edited != nil {
		edited = toJSON(d.Edited)
	}
	res, err := tx.ExecContext(ctx, `UPDATE confirmations SET status = ?, reason = ?, edited = ?, replaced_by = ?, answer = ?, remembered = ?,
			decided_by = ?, decided_via = ?, decided_at = ? WHERE id = ? AND status = 'OPEN'`,
		d.Status, d.Reason, edited, d.ReplacedBy, d.Answer, d.Remember, d.By, d.Via, stamp(d.At), id)
	if err != nil {
		return false, fmt.Errorf("close confirmation %s: %w", id, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func decisionOf(c agent.Confirmation) agent.Decision {
	d := agent.Decision{Status: c.Status, Reason: c.Reason, By: c.DecidedBy, Via: c.DecidedVia}
	if c.DecidedAt != nil {
		d.At = *c.DecidedAt
	}
	return d
}

// Decide closes a question, once, and writes the step with it. When no other question of the run is open,
// and the step opens none, the run goes on.
func (db *DB) Decide(ctx context.Context, id string, d agent.Decision, s agent.Step) (agent.Confirmation, bool, error) {
	won, queued := false, false
	write := db.End
	if d.Status == agent.ConfirmationConfirmed {
		write = db.Tx // a yes begins something
	}
	err := write(ctx, func(tx *store.Tx) (err error) {
		s := s // this may run again, when other questions are open
		if won, err = closeConfirmation(ctx, tx, id, d); err != nil || !won {
			return err
		}
		var others int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM confirmations WHERE status = 'OPEN'
			AND run_n = (SELECT run_n FROM confirmations WHERE id = ?)`, id).Scan(&others)
		if err != nil {
			return err
		}
		if others == 0 && len(s.Confirmations) == 0 {
			s.To = agent.Running
		}
		n, err := db.advance(ctx, tx, s)
		if err != nil {
			return err
		}
		queued, err = writeStep(ctx, tx, n, s)
		return err
	})
	if err != nil {
		return agent.Confirmation{}, false, err
	}
	if queued {
		db.tellQueued()
	}
	c, err := scanConfirmation(db.Read().QueryRowContext(ctx, `SELECT `+confirmationColumns+` WHERE c.id = ?`, id))
	return c, won, notFound(err)
}

// Confirmation gives one of a user's questions.
func (db *DB) Confirmation(ctx context.Context, userID, id string) (agent.Confirmation, error) {
	c, err := scanConfirmation(db.Read().QueryRowContext(ctx, `SELECT `+confirmationColumns+` WHERE c.id = ? AND r.user_id = ?`, id, userID))
	return c, notFound(err)
}

// OpenQuestions is OpenConfirmations of one user, in parts.
func (db *DB) OpenQuestions(ctx context.Context, userID string, p agent.Page) ([]agent.Confirmation, string, error) {
	after, err := oldestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanConfirmation, `SELECT c.n, `+confirmationColumns+`
		WHERE c.status = 'OPEN' AND r.user_id = ? AND c.n > ? ORDER BY c.n LIMIT ?`, userID, after)
}

// OpenConfirmations lists open questions, oldest first.
func (db *DB) OpenConfirmations(ctx context.Context, userID string) ([]agent.Confirmation, error) {
	return collect(ctx, db.Read(), scanConfirmation, `SELECT `+confirmationColumns+`
		WHERE c.status = 'OPEN' AND (? = '' OR r.user_id = ?) ORDER BY c.n`, userID, userID)
}
