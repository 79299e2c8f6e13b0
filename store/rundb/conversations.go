package rundb

import (
	"context"
	"fmt"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/store"
)

const conversationColumns = `id, user_id, title, created_at, updated_at FROM conversations`

func scanConversation(row scanner) (agent.Conversation, error) {
	var c agent.Conversation
	var created, updated int64
	err := row.Scan(&c.ID, &c.UserID, &c.Title, &created, &updated)
	c.CreatedAt, c.UpdatedAt = moment(created), moment(updated)
	return c, err
}

// Conversation gives one of a user's conversations.
func (db *DB) Conversation(ctx context.Context, userID, id string) (agent.Conversation, error) {
	c, err := scanConversation(db.Read().QueryRowContext(ctx, `SELECT `+conversationColumns+` WHERE user_id = ? AND id = ?`, userID, id))
	return c, notFound(err)
}

// Conversations lists a user's conversations, last used first.
func (db *DB) Conversations(ctx context.Context, userID string, p agent.Page) ([]agent.Conversation, string, error) {
	updated, id, err := numberAnd(p, "")
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanConversation, `SELECT updated_at || '.' || id, `+conversationColumns+`
		WHERE user_id = ? AND (updated_at, id) < (?, ?) ORDER BY updated_at DESC, id DESC LIMIT ?`, userID, updated, id)
}

// RenameConversation gives a conversation another title.
func (db *DB) RenameConversation(ctx context.Context, userID, id, title string) (c agent.Conversation, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) error {
		c, err = scanConversation(tx.QueryRowContext(ctx, `UPDATE conversations SET title = ? WHERE user_id = ? AND id = ?
			RETURNING id, user_id, title, created_at, updated_at`, title, userID, id))
		return notFound(err)
	})
	return c, err
}

// DeleteConversation removes a conversation with its runs and all that they hold.
func (db *DB) DeleteConversation(ctx context.Context, userID, id string) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		if err := settled(ctx, tx, userID, id); err != nil {
			return err
		}
		for _, table := range []string{"tasks", "run_events", "messages", "invocations", "model_calls", "confirmations", "summaries"} {
			_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE run_n IN
				(SELECT n FROM runs WHERE user_id = ? AND thread_id = ?)`, userID, id)
			if err != nil {
				return fmt.Errorf("delete from %s: %w", table, err)
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE user_id = ? AND thread_id = ?`, userID, id); err != nil {
			return fmt.Errorf("delete runs: %w", err)
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM conversations WHERE user_id = ? AND id = ?`, userID, id)
		if err != nil {
			return fmt.Errorf("delete conversation: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return agent.ErrNotFound
	})
}

// settled refuses to delete what is still at work: an open run, and an order whose outcome is found by way of its
// invocation.
func settled(ctx context.Context, tx *store.Tx, userID, id string) error {
	var open, placing, behind int
	err := tx.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM runs WHERE user_id = ? AND thread_id = ? AND state < 10),
		(SELECT count(*) FROM orders WHERE user_id = ? AND thread_id = ? AND status = 'PLACING'),
		(SELECT count(*) FROM tasks WHERE user_id = ? AND thread_id = ? AND ended_at = 0)`, userID, id, userID, id, userID, id).Scan(&open, &placing, &behind)
	switch {
	case err != nil:
		return err
	case open > 0:
		return fault.New(fault.Conflict, "a run of this conversation has not ended: cancel it first")
	case behind > 0:
		return fault.New(fault.Conflict, "a task of this conversation still runs in the background: cancel it first")
	case placing > 0:
		return fault.New(fault.Conflict, "an order of this conversation has no outcome yet: try again in a moment")
	}
	return nil
}
