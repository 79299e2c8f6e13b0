package rundb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store"
)

// OpenShared is Open for a file that other processes may have open as well: it takes no lock of the file, and
// the leases of the runs alone keep them apart.
func OpenShared(ctx context.Context, path string) (*DB, error) {
	return openWith(ctx, path, store.OpenShared)
}

// leased are the rows of one table that a process can have a lease of, and those on which there is something to do.
type leased struct{ table, working, open string }

func leasedRuns() leased  { return leased{"runs", "state IN (1, 2)", "state < 10"} }
func leasedTasks() leased { return leased{"tasks", "ended_at = 0", "ended_at = 0"} }

// Claim takes a run that has begun for a process, if nobody else's lease is on it.
func (db *DB) Claim(ctx context.Context, runID, owner string, now, until time.Time) (agent.Lease, error) {
	return db.claim(ctx, leasedRuns(), runID, owner, now, until)
}

// ClaimTask takes a running task for a process, if nobody else's lease is on it.
func (db *DB) ClaimTask(ctx context.Context, taskID, owner string, now, until time.Time) (agent.Lease, error) {
	return db.claim(ctx, leasedTasks(), taskID, owner, now, until)
}

func (db *DB) claim(ctx context.Context, of leased, id, owner string, now, until time.Time) (agent.Lease, error) {
	lease := agent.Lease{ID: id, Owner: owner, Until: until}
	err := db.End(ctx, func(tx *store.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE `+of.table+` SET owner = ?, epoch = epoch + 1, lease_until = ?
			WHERE id = ? AND `+of.working+` AND (owner = ? OR lease_until <= ?) RETURNING epoch`,
			owner, stamp(until), id, owner, stamp(now)).Scan(&lease.Epoch)
		if errors.Is(err, sql.ErrNoRows) {
			return agent.ErrStale
		}
		return err
	})
	if err != nil {
		return agent.Lease{}, fmt.Errorf("claim %s of %s: %w", id, of.table, err)
	}
	return lease, nil
}

// Renew prolongs leases of runs that still hold. It lists the runs whose lease is another's by now or that have ended,
// and those that somebody wants cancelled.
func (db *DB) Renew(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	return db.renew(ctx, leasedRuns(), leases, until)
}

// RenewTasks is Renew for tasks.
func (db *DB) RenewTasks(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	return db.renew(ctx, leasedTasks(), leases, until)
}

func (db *DB) renew(ctx context.Context, of leased, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	err = db.End(ctx, func(tx *store.Tx) error {
		lost, cancelled = nil, nil
		for _, l := range leases {
			var why string
			err := tx.QueryRowContext(ctx, `UPDATE `+of.table+` SET lease_until = ? WHERE id = ? AND epoch = ? AND owner = ? AND `+of.open+`
				RETURNING cancel_reason`, stamp(until), l.ID, l.Epoch, l.Owner).Scan(&why)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				lost = append(lost, l.ID)
			case err != nil:
				return fmt.Errorf("renew lease of %s: %w", l.ID, err)
			case why != "":
				cancelled = append(cancelled, l.ID)
			}
		}
		return nil
	})
	return lost, cancelled, err
}

// Release gives a lease of a run up, so that any process may claim it at once.
func (db *DB) Release(ctx context.Context, l agent.Lease) error {
	return db.release(ctx, leasedRuns(), l)
}

// ReleaseTask is Release for a task.
func (db *DB) ReleaseTask(ctx context.Context, l agent.Lease) error {
	return db.release(ctx, leasedTasks(), l)
}

func (db *DB) release(ctx context.Context, of leased, l agent.Lease) error {
	err := db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE `+of.table+` SET owner = '', lease_until = 0 WHERE id = ? AND epoch = ? AND owner = ?`, l.ID, l.Epoch, l.Owner)
		return err
	})
	if err != nil {
		return fmt.Errorf("release %s of %s: %w", l.ID, of.table, err)
	}
	return nil
}

// ReleaseDead drops all leases when the file is this process's alone: whoever had them is dead.
func (db *DB) ReleaseDead(ctx context.Context) error {
	if !db.Exclusive() {
		return nil
	}
	return db.End(ctx, func(tx *store.Tx) error {
		for _, of := range []leased{leasedRuns(), leasedTasks()} {
			_, err := tx.ExecContext(ctx, `UPDATE `+of.table+` SET owner = '', lease_until = 0 WHERE `+of.open+` AND lease_until > 0`)
			if err != nil {
				return fmt.Errorf("release %s of dead processes: %w", of.table, err)
			}
		}
		return nil
	})
}

// Orphans lists the runs that nobody works on: RUNNING without a lease that holds, AWAITING_CONFIRMATION without
// one though a call can go on or the run was cancelled, and PENDING since before a time with no other run of their
// conversation before them.
func (db *DB) Orphans(ctx context.Context, now, since time.Time) ([]string, error) {
	return collect(ctx, db.Read(), func(row scanner) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM runs r WHERE state < 10 AND ((state = 1 AND lease_until <= ?)
			OR (state = 2 AND lease_until <= ? AND (cancel_reason <> '' OR EXISTS (SELECT 1 FROM invocations i
				WHERE i.run_n = r.n AND i.final = 0 AND i.status NOT IN (?, ?, ?))))
			OR (state = 0 AND created_at < ? AND NOT EXISTS (SELECT 1 FROM runs p
				WHERE p.user_id = r.user_id AND p.thread_id = r.thread_id AND p.n < r.n AND p.state < 10))) ORDER BY n`,
		stamp(now), stamp(now), capability.Asking, capability.Offloaded, capability.InputRequired, stamp(since))
}
