package rundb

import (
	"context"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/schedule"
	"agentmesh/store"
)

const scheduleColumns = `id, user_id, name, cron, time_zone, message, conversation, enabled, due_at, created_at, updated_at FROM schedules`

func scanSchedule(row scanner) (schedule.Schedule, error) {
	var s schedule.Schedule
	var due, created, updated int64
	err := row.Scan(&s.ID, &s.UserID, &s.Name, &s.Cron, &s.TimeZone, &s.Message, &s.Conversation, &s.Enabled, &due, &created, &updated)
	s.DueAt, s.CreatedAt, s.UpdatedAt = moment(due), moment(created), moment(updated)
	return s, err
}

const fireColumns = `s.id, s.user_id, f.due_at, f.status, f.reason, f.run_id, f.thread_id, f.message, f.at FROM fires f JOIN schedules s ON s.n = f.schedule_n`

func scanFire(row scanner) (schedule.Fire, error) {
	var f schedule.Fire
	var due, at int64
	err := row.Scan(&f.ScheduleID, &f.UserID, &due, &f.Status, &f.Reason, &f.RunID, &f.ThreadID, &f.Message, &at)
	f.DueAt, f.At = moment(due), moment(at)
	return f, err
}

// CreateSchedule stores a schedule, unless its user has so many already.
func (db *DB) CreateSchedule(ctx context.Context, s schedule.Schedule, most int) (bool, error) {
	return db.changed(ctx, `INSERT INTO schedules (id, user_id, name, cron, time_zone, message, conversation, enabled, due_at, created_at, updated_at)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM schedules WHERE user_id = ?) < ?`,
		s.ID, s.UserID, s.Name, s.Cron, s.TimeZone, s.Message, s.Conversation, s.Enabled, stamp(s.DueAt), stamp(s.CreatedAt), stamp(s.UpdatedAt),
		s.UserID, most)
}

// changed makes one change, and tells whether it met a row.
func (db *DB) changed(ctx context.Context, statement string, args ...any) (bool, error) {
	var met bool
	err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		met, err = execMet(ctx, tx, statement, args...)
		return err
	})
	return met, err
}

func execMet(ctx context.Context, tx *store.Tx, statement string, args ...any) (bool, error) {
	res, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// SaveSchedule changes a schedule.
func (db *DB) SaveSchedule(ctx context.Context, s schedule.Schedule) error {
	met, err := db.changed(ctx, `UPDATE schedules SET name = ?, cron = ?, time_zone = ?, message = ?, conversation = ?, enabled = ?, due_at = ?, updated_at = ?
		WHERE id = ? AND user_id = ?`, s.Name, s.Cron, s.TimeZone, s.Message, s.Conversation, s.Enabled, stamp(s.DueAt), stamp(s.UpdatedAt), s.ID, s.UserID)
	if err == nil && !met {
		err = agent.ErrNotFound
	}
	return err
}

// DeleteSchedule drops a schedule with its fires.
func (db *DB) DeleteSchedule(ctx context.Context, userID, id string) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM fires WHERE schedule_n = (SELECT n FROM schedules WHERE id = ? AND user_id = ?)`, id, userID)
		if err != nil {
			return fmt.Errorf("delete fires: %w", err)
		}
		met, err := execMet(ctx, tx, `DELETE FROM schedules WHERE id = ? AND user_id = ?`, id, userID)
		if err == nil && !met {
			err = agent.ErrNotFound
		}
		return err
	})
}

// Schedule gives one of a user's schedules.
func (db *DB) Schedule(ctx context.Context, userID, id string) (schedule.Schedule, error) {
	s, err := scanSchedule(db.Read().QueryRowContext(ctx, `SELECT `+scheduleColumns+` WHERE id = ? AND user_id = ?`, id, userID))
	return s, notFound(err)
}

// Schedules lists a user's schedules, newest first.
func (db *DB) Schedules(ctx context.Context, userID string, p agent.Page) ([]schedule.Schedule, string, error) {
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scanSchedule, `SELECT n, `+scheduleColumns+` WHERE user_id = ? AND n < ? ORDER BY n DESC LIMIT ?`, userID, before)
}

// Fires lists the newest fires of a schedule, newest first.
func (db *DB) Fires(ctx context.Context, scheduleID string, limit int) ([]schedule.Fire, error) {
	return collect(ctx, db.Read(), scanFire, `SELECT `+fireColumns+` WHERE s.id = ? ORDER BY f.due_at DESC LIMIT ?`, scheduleID, limit)
}

// DueSchedules lists the schedules of all users that are due by a time.
func (db *DB) DueSchedules(ctx context.Context, by time.Time) ([]schedule.Schedule, error) {
	return collect(ctx, db.Read(), scanSchedule, `SELECT `+scheduleColumns+` WHERE due_at > 0 AND due_at <= ? ORDER BY due_at, n`, stamp(by))
}

// NextDue gives the earliest due time of all.
func (db *DB) NextDue(ctx context.Context) (time.Time, error) {
	var due int64
	err := db.Read().QueryRowContext(ctx, `SELECT coalesce(min(due_at), 0) FROM schedules WHERE due_at > 0`).Scan(&due)
	return moment(due), err
}

// ClaimDue moves a schedule to its next due time and writes the fires with it, if it is as it was read.
func (db *DB) ClaimDue(ctx context.Context, s schedule.Schedule, next time.Time, fires []schedule.Fire) (bool, error) {
	var won bool
	err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		won, err = execMet(ctx, tx, `UPDATE schedules SET due_at = ? WHERE id = ? AND due_at = ? AND updated_at = ?`,
			stamp(next), s.ID, stamp(s.DueAt), stamp(s.UpdatedAt))
		if err != nil || !won {
			return err
		}
		for _, f := range fires {
			if _, err := insertFire(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	return won, err
}

func insertFire(ctx context.Context, tx *store.Tx, f schedule.Fire) (bool, error) {
	return execMet(ctx, tx, `INSERT INTO fires (schedule_n, due_at, status, reason, run_id, thread_id, message, at)
		SELECT n, ?, ?, ?, ?, ?, ?, ? FROM schedules WHERE id = ? ON CONFLICT DO NOTHING`,
		stamp(f.DueAt), f.Status, f.Reason, f.RunID, f.ThreadID, f.Message, stamp(f.At), f.ScheduleID)
}

// InsertFire writes a fire that nobody waited for, once.
func (db *DB) InsertFire(ctx context.Context, f schedule.Fire) (bool, error) {
	var made bool
	err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		made, err = insertFire(ctx, tx, f)
		return err
	})
	return made, err
}

// OpenFires lists fires whose runs are not made yet, as far as is known.
func (db *DB) OpenFires(ctx context.Context) ([]schedule.Fire, error) {
	return collect(ctx, db.Read(), scanFire, `SELECT `+fireColumns+` WHERE f.status = 'DUE' ORDER BY f.due_at`)
}

// CloseFire writes what became of a fire that is Due.
func (db *DB) CloseFire(ctx context.Context, f schedule.Fire) error {
	_, err := db.changed(ctx, `UPDATE fires SET status = ?, reason = ?, run_id = ?
		WHERE schedule_n = (SELECT n FROM schedules WHERE id = ?) AND due_at = ? AND status = 'DUE'`,
		f.Status, f.Reason, f.RunID, f.ScheduleID, stamp(f.DueAt))
	return err
}
