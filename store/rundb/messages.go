package rundb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"agentmesh/agent"
	"agentmesh/store"
)

const messageColumns = `m.id, r.id, r.user_id, r.thread_id, r.state, m.role, m.text, m.calls, m.abandoned, m.created_at, m.reasoning
	FROM messages m JOIN runs r ON r.n = m.run_n`

func scanMessage(row scanner) (agent.Message, error) {
	var m agent.Message
	var calls string
	var created int64
	err := row.Scan(&m.ID, &m.RunID, &m.UserID, &m.ThreadID, &m.RunStatus, &m.Role, &m.Text, &calls, &m.Abandoned, &created, &m.Reasoning)
	if err != nil {
		return agent.Message{}, err
	}
	m.CreatedAt = moment(created)
	return m, fromJSON(calls, &m.Calls)
}

func insertMessage(ctx context.Context, tx *store.Tx, runN int64, m agent.Message) error {
	calls := ""
	if len(m.Calls) > 0 {
		calls = toJSON(m.Calls)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at, reasoning)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, m.ID, runN, m.Role, m.Text, calls, m.Abandoned, stamp(m.CreatedAt), m.Reasoning)
	if err != nil {
		return fmt.Errorf("insert message: %w", err)
	}
	return nil
}

// History lists the newest messages of a conversation, oldest first, each call's result straight after
// its answer and in the order of the calls. What the program told stays true whatever became of the run that it was
// told in.
func (db *DB) History(ctx context.Context, userID, threadID string, onlySuccessful bool, limit int) ([]agent.Message, error) {
	newest, err := collect(ctx, db.Read(), scanMessage, `SELECT `+messageColumns+`
		WHERE r.user_id = ? AND r.thread_id = ? AND (NOT ? OR (r.state = 10 AND NOT m.abandoned) OR (r.state > 10 AND m.role = 'hint'))
		ORDER BY m.run_n DESC, m.n DESC LIMIT ?`, userID, threadID, onlySuccessful, limit)
	if err != nil {
		return nil, err
	}
	return db.withResults(ctx, newest)
}

// Messages lists the newest messages of a conversation, then older ones, each part like a History.
func (db *DB) Messages(ctx context.Context, userID, threadID string, p agent.Page) ([]agent.Message, string, error) {
	run, rest, err := numberAnd(p, "0")
	if err != nil {
		return nil, "", err
	}
	message, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, "", noPlace()
	}
	if _, err := db.Conversation(ctx, userID, threadID); err != nil {
		return nil, "", err
	}
	newest, next, err := paged(ctx, db.Read(), p, scanMessage, `SELECT m.run_n || '.' || m.n, `+messageColumns+`
		WHERE r.user_id = ? AND r.thread_id = ? AND (m.run_n, m.n) < (?, ?)
		ORDER BY m.run_n DESC, m.n DESC LIMIT ?`, userID, threadID, run, message)
	if err != nil {
		return nil, "", err
	}
	out, err := db.withResults(ctx, newest)
	return out, next, err
}

// withResults turns messages, newest first, into a history. Calls are shown as they run.
func (db *DB) withResults(ctx context.Context, newest []agent.Message) ([]agent.Message, error) {
	slices.Reverse(newest)
	out := []agent.Message{}
	for _, m := range newest {
		if len(m.Calls) == 0 {
			out = append(out, m)
			continue
		}
		calls, err := collect(ctx, db.Read(), scanInvocation, `SELECT `+invocationColumns+`
			WHERE i.message_id = ? ORDER BY i.position`, m.ID)
		if err != nil {
			return nil, fmt.Errorf("read calls: %w", err)
		}
		out = append(out, m.AsRun(calls))
		for _, inv := range calls {
			if !inv.Status.Settled() {
				continue
			}
			out = append(out, agent.Message{
				ID: cmp.Or(inv.AnswerID, inv.ID), UserID: m.UserID, ThreadID: m.ThreadID, RunID: m.RunID, RunStatus: m.RunStatus,
				Role: agent.Tool, ToolCallID: inv.CallID, Text: inv.Words(), CreatedAt: inv.EndedAt,
			})
		}
	}
	return out, nil
}
