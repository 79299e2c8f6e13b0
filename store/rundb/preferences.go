package rundb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/store"
)

const preferenceColumns = `p.id, p.user_id, p.statement, p.kind, p.run_id, p.created_at FROM preferences p`

func scanPreference(row scanner) (agent.Preference, error) {
	var p agent.Preference
	var created int64
	err := row.Scan(&p.ID, &p.UserID, &p.Statement, &p.Kind, &p.RunID, &created)
	p.CreatedAt = moment(created)
	return p, err
}

// Remember stores a preference and its words. The same statement again gives the stored one.
func (db *DB) Remember(ctx context.Context, p agent.Preference) (agent.Preference, error) {
	stored := p
	err := db.Tx(ctx, func(tx *store.Tx) error {
		found, err := scanPreference(tx.QueryRowContext(ctx, `SELECT `+preferenceColumns+`
			WHERE p.user_id = ? AND p.statement = ? AND p.forgotten_at = 0`, p.UserID, p.Statement))
		if err == nil {
			stored = found
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO preferences (id, user_id, statement, kind, run_id, created_at)
			VALUES (?, ?, ?, ?, ?, ?)`, p.ID, p.UserID, p.Statement, p.Kind, p.RunID, stamp(p.CreatedAt))
		if err != nil {
			return err
		}
		n, err := res.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO preference_words (rowid, words) VALUES (?, ?)`, n, indexWords(p.Statement))
		return err
	})
	if err != nil {
		return agent.Preference{}, fmt.Errorf("remember preference: %w", err)
	}
	return stored, nil
}

// Preferences lists a user's active preferences, newest first.
func (db *DB) Preferences(ctx context.Context, userID string, p agent.Page) ([]agent.Preference, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanPreference, `SELECT p.n, `+preferenceColumns+`
		WHERE p.user_id = ? AND p.forgotten_at = 0 AND p.n < ? ORDER BY p.n DESC LIMIT ?`, userID, before)
}

// Preference gives one of a user's active preferences.
func (db *DB) Preference(ctx context.Context, userID, id string) (agent.Preference, error) {
	p, err := scanPreference(db.Read().QueryRowContext(ctx, `SELECT `+preferenceColumns+`
		WHERE p.user_id = ? AND p.id = ? AND p.forgotten_at = 0`, userID, id))
	return p, notFound(err)
}

// Recall finds preferences that hold every word of the query, or else any of them.
func (db *DB) Recall(ctx context.Context, userID, query string, limit int) ([]agent.Preference, error) {
	if query == "" {
		return collect(ctx, db.Read(), scanPreference, `SELECT `+preferenceColumns+`
			WHERE p.user_id = ? AND p.forgotten_at = 0 ORDER BY p.n DESC LIMIT ?`, userID, limit)
	}
	words := queryWords(query)
	if len(words) == 0 {
		return []agent.Preference{}, nil
	}
	found, err := db.search(ctx, userID, match(words, "AND"), limit)
	if err == nil && len(found) == 0 && len(words) > 1 {
		found, err = db.search(ctx, userID, match(words, "OR"), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("recall preferences: %w", err)
	}
	return found, nil
}

func (db *DB) search(ctx context.Context, userID, fts string, limit int) ([]agent.Preference, error) {
	return collect(ctx, db.Read(), scanPreference, `SELECT `+preferenceColumns+` JOIN preference_words w ON w.rowid = p.n
		WHERE preference_words MATCH ? AND p.user_id = ? AND p.forgotten_at = 0 ORDER BY w.rank, p.n DESC LIMIT ?`, fts, userID, limit)
}

// Forget takes preferences out of use.
func (db *DB) Forget(ctx context.Context, userID string, ids []string, at time.Time) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			_, err := tx.ExecContext(ctx, `UPDATE preferences SET forgotten_at = ? WHERE user_id = ? AND id = ? AND forgotten_at = 0`,
				stamp(at), userID, id)
			if err != nil {
				return fmt.Errorf("forget preference %s: %w", id, err)
			}
		}
		return nil
	})
}
