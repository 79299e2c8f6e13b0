package rundb

import (
	"context"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store"
)

const grantColumns = `id, user_id, capability, args, confirmation_id, created_at FROM grants`

func scanGrant(row scanner) (agent.Grant, error) {
	var g agent.Grant
	var args string
	var created int64
	err := row.Scan(&g.ID, &g.UserID, &g.Capability, &args, &g.ConfirmationID, &created)
	if args != "" {
		g.Args = []byte(args)
	}
	g.CreatedAt = moment(created)
	return g, err
}

// insertGrant stores what a person allowed; what they have allowed already stays as it is.
func insertGrant(ctx context.Context, tx *store.Tx, g agent.Grant) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO grants (id, user_id, capability, args, confirmation_id, created_at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, capability, args) WHERE revoked_at = 0 DO NOTHING`,
		g.ID, g.UserID, g.Capability, string(g.Args), g.ConfirmationID, stamp(g.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert grant: %w", err)
	}
	return nil
}

// Granted gives a user's grants of a capability as rules.
func (db *DB) Granted(ctx context.Context, userID, name string) ([]capability.Rule, error) {
	found, err := collect(ctx, db.Read(), scanGrant,
		`SELECT `+grantColumns+` WHERE user_id = ? AND capability = ? AND revoked_at = 0 ORDER BY n`, userID, name)
	rules := make([]capability.Rule, 0, len(found))
	for _, g := range found {
		rules = append(rules, g.Rule())
	}
	return rules, err
}

// Grants lists a user's grants, newest first.
func (db *DB) Grants(ctx context.Context, userID string, p agent.Page) ([]agent.Grant, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanGrant,
		`SELECT n, `+grantColumns+` WHERE user_id = ? AND revoked_at = 0 AND n < ? ORDER BY n DESC LIMIT ?`, userID, before)
}

// Revoke takes a grant out of use.
func (db *DB) Revoke(ctx context.Context, userID, id string, at time.Time) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE grants SET revoked_at = ? WHERE user_id = ? AND id = ? AND revoked_at = 0`, stamp(at), userID, id)
		if err != nil {
			return fmt.Errorf("revoke grant %s: %w", id, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return agent.ErrNotFound
		}
		return nil
	})
}
