package rundb

import (
	"context"

	"agentmesh/skills"
	"agentmesh/store"
)

// Installations lists a user's choices about skills.
func (db *DB) Installations(ctx context.Context, userID string) ([]skills.Installation, error) {
	return collect(ctx, db.Read(), func(row scanner) (skills.Installation, error) {
		i := skills.Installation{UserID: userID}
		var granted string
		var updated int64
		if err := row.Scan(&i.SkillID, &i.Version, &i.Installed, &i.Enabled, &granted, &updated); err != nil {
			return skills.Installation{}, err
		}
		i.UpdatedAt = moment(updated)
		return i, fromJSON(granted, &i.Granted)
	}, `SELECT skill_id, version, installed, enabled, granted, updated_at FROM skill_installations WHERE user_id = ?`, userID)
}

// SaveInstallation stores a user's choice about a skill.
func (db *DB) SaveInstallation(ctx context.Context, i skills.Installation) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO skill_installations (user_id, skill_id, version, installed, enabled, granted, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, skill_id) DO UPDATE SET version = excluded.version,
			installed = excluded.installed, enabled = excluded.enabled, granted = excluded.granted, updated_at = excluded.updated_at`,
			i.UserID, i.SkillID, i.Version, i.Installed, i.Enabled, toJSON(i.Granted), stamp(i.UpdatedAt))
		return err
	})
}
