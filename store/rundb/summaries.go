package rundb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"agentmesh/agent"
	"agentmesh/store"
)

func insertSummary(ctx context.Context, tx *store.Tx, runN int64, v agent.Summary) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO summaries (run_n, covers_n, text, messages, before_tokens, after_tokens, created_at)
		VALUES (?, (SELECT n FROM runs WHERE id = ?), ?, ?, ?, ?, ?)`, runN, v.Covers, v.Text, v.Messages, v.Before, v.After, stamp(v.At))
	if err != nil {
		return fmt.Errorf("insert summary: %w", err)
	}
	return nil
}

// Past gives the newest summary of a conversation and the messages of successful runs after it, with those of the runs that
// one continues wherever they are.
func (db *DB) Past(ctx context.Context, userID, threadID, continues string, limit int) (agent.Past, error) {
	out, covers, err := db.newestSummary(ctx, userID, threadID)
	if err != nil {
		return out, fmt.Errorf("read the summary: %w", err)
	}
	newest, err := collect(ctx, db.Read(), scanMessage, `WITH RECURSIVE before(id) AS (VALUES (?1)
			UNION SELECT c.continues FROM runs c JOIN before b ON c.id = b.id WHERE c.continues != '')
		SELECT `+messageColumns+` WHERE r.user_id = ?2 AND r.thread_id = ?3 AND (r.n > ?4 OR r.id IN before)
			AND ((r.state = 10 AND NOT m.abandoned) OR (r.state > 10 AND m.role = 'hint'))
		ORDER BY m.run_n DESC, m.n DESC LIMIT ?5`, continues, userID, threadID, covers, limit)
	if err != nil {
		return out, fmt.Errorf("read messages: %w", err)
	}
	if out.Messages, err = db.withResults(ctx, newest); err != nil {
		return out, err
	}
	if out.GoesOn, err = db.goesOn(ctx, userID, threadID); err != nil {
		return out, err
	}
	err = db.Read().QueryRowContext(ctx, `SELECT c.input_tokens, c.estimated_tokens FROM runs r JOIN model_calls c ON c.run_n = r.n
		WHERE r.user_id = ? AND r.thread_id = ? AND c.input_tokens > 0 AND c.estimated_tokens > 0
		ORDER BY r.n DESC, c.started_at DESC LIMIT 1`, userID, threadID).Scan(&out.Reported, &out.Guessed)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return out, fmt.Errorf("read usage: %w", err)
	}
	return out, nil
}

// goesOn tells which runs of a conversation continue which.
func (db *DB) goesOn(ctx context.Context, userID, threadID string) (map[string]string, error) {
	type link struct{ run, before string }
	links, err := collect(ctx, db.Read(), func(row scanner) (l link, err error) { return l, row.Scan(&l.run, &l.before) },
		`SELECT id, continues FROM runs WHERE user_id = ? AND thread_id = ? AND continues != ''`, userID, threadID)
	if err != nil {
		return nil, fmt.Errorf("read which runs go on: %w", err)
	}
	out := map[string]string{}
	for _, l := range links {
		out[l.run] = l.before
	}
	return out, nil
}

func (db *DB) newestSummary(ctx context.Context, userID, threadID string) (out agent.Past, covers int64, err error) {
	var at int64
	v := &out.Summary
	err = db.Read().QueryRowContext(ctx, `SELECT s.covers_n, r.id, c.id, s.text, s.messages, s.before_tokens, s.after_tokens, s.created_at
		FROM summaries s JOIN runs r ON r.n = s.run_n JOIN runs c ON c.n = s.covers_n
		WHERE r.user_id = ? AND r.thread_id = ? ORDER BY s.covers_n DESC, s.n DESC LIMIT 1`, userID, threadID).
		Scan(&covers, &v.RunID, &v.Covers, &v.Text, &v.Messages, &v.Before, &v.After, &at)
	v.At = moment(at)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return out, covers, err
}

// ResultOf gives the result of a call of a conversation, in the words that a prompt has of it.
func (db *DB) ResultOf(ctx context.Context, userID, threadID, id string) ([]byte, error) {
	inv, err := scanInvocation(db.Read().QueryRowContext(ctx, `SELECT `+invocationColumns+`
		WHERE r.user_id = ?1 AND r.thread_id = ?2 AND ?3 IN (i.id, i.call_id, i.answer_id) AND i.final
		ORDER BY i.id = ?3 DESC, i.answer_id = ?3 DESC, r.n DESC, i.round DESC, i.position DESC LIMIT 1`, userID, threadID, id))
	return []byte(agent.AnswerWords(inv.Receipt.Stage, inv.Result)), notFound(err)
}
