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

// Claim takes a run that has begun for a process, if nobody else's lease is on it.
func (db *DB) Claim(ctx context.Context, runID, owner string, now, until time.Time) (agent.Lease, error) {
	lease := agent.Lease{RunID: runID, Owner: owner, Until: until}
	err := db.End(ctx, func(tx *store.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE runs SET owner = ?, epoch = epoch + 1, lease_until = ?
			WHERE id = ? AND state IN (1, 2) AND (owner = ? OR lease_until <= ?) RETURNING epoch`,
			owner, stamp(until), runID, owner, stamp(now)).Scan(&lease.Epoch)
		if errors.Is(err, sql.ErrNoRows) {
			return agent.ErrStale
		}
		return err
	})
	if err != nil {
		return agent.Lease{}, fmt.Errorf("claim run %s: %w", runID, err)
	}
	return lease, nil
}

// Renew prolongs leases that still hold. It lists the runs whose lease is another's by now or that have ended,
// and those that somebody wants cancelled.
func (db *DB) Renew(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error) {
	err = db.End(ctx, func(tx *store.Tx) error {
		lost, cancelled = nil, nil
		for _, l := range leases {
			var why string
			err := tx.QueryRowContext(ctx, `UPDATE runs SET lease_until = ? WHERE id = ? AND epoch = ? AND owner = ? AND state < 10
				RETURNING cancel_reason`, stamp(until), l.RunID, l.Epoch, l.Owner).Scan(&why)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				lost = append(lost, l.RunID)
			case err != nil:
				return fmt.Errorf("renew lease of %s: %w", l.RunID, err)
			case why != "":
				cancelled = append(cancelled, l.RunID)
			}
		}
		return nil
	})
	return lost, cancelled, err
}

// Release gives a lease up, so that any process may claim the run at once.
func (db *DB) Release(ctx context.Context, l agent.Lease) error {
	err := db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE runs SET owner = '', lease_until = 0 WHERE id = ? AND epoch = ? AND owner = ?`, l.RunID, l.Epoch, l.Owner)
		return err
	})
	if err != nil {
		return fmt.Errorf("release run %s: %w", l.RunID, err)
	}
	return nil
}

// ReleaseDead drops all leases when the file is this process's alone: whoever had them is dead.
func (db *DB) ReleaseDead(ctx context.Context) error {
	if !db.Exclusive() {
		return nil
	}
	return db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE runs SET owner = '', lease_until = 0 WHERE state < 10 AND lease_until > 0`)
		if err != nil {
			return fmt.Errorf("release runs of dead processes: %w", err)
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
				WHERE i.run_n = r.n AND i.final = 0 AND i.status <> ?)))
			OR (state = 0 AND created_at < ? AND NOT EXISTS (SELECT 1 FROM runs p
				WHERE p.user_id = r.user_id AND p.thread_id = r.thread_id AND p.n < r.n AND p.state < 10))) ORDER BY n`,
		stamp(now), stamp(now), capability.Asking, stamp(since))
}
