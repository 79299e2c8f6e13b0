package rundb

import (
	"context"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store"
)

// Audit writes the record of a call that was made outside a run's journal.
func (db *DB) Audit(ctx context.Context, r capability.Record) error {
	return db.Tx(ctx, func(tx *store.Tx) error { return insertRecord(ctx, tx, r) })
}

func insertRecord(ctx context.Context, tx *store.Tx, r capability.Record) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO audit_log (at, user_id, thread_id, run_id, trace_id, invocation_id, capability,
			kind, source, status, stage, code, input, output, args_digest, proposed_digest, duration_ms, rule)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		stamp(r.At), r.UserID, r.ThreadID, r.RunID, r.TraceID, r.InvocationID, r.Capability, r.Kind, r.Source,
		r.Status, r.Stage, r.Code, r.Input, r.Output, r.ArgsDigest, r.ProposedDigest, r.Duration.Milliseconds(), r.Rule)
	if err != nil {
		return fmt.Errorf("insert audit record: %w", err)
	}
	return nil
}

// Records lists those of a user's audit records that are selected, newest first; of one run, oldest first.
func (db *DB) Records(ctx context.Context, userID string, s capability.Selection, p agent.Page) ([]capability.Record, string, error) {
	scan := func(row scanner) (capability.Record, error) {
		var r capability.Record
		var at, took int64
		err := row.Scan(&at, &r.UserID, &r.ThreadID, &r.RunID, &r.TraceID, &r.InvocationID, &r.Capability, &r.Kind,
			&r.Source, &r.Status, &r.Stage, &r.Code, &r.Input, &r.Output, &r.ArgsDigest, &r.ProposedDigest, &took, &r.Rule)
		r.At, r.Duration = moment(at), time.Duration(took)*time.Millisecond
		return r, err
	}
	const query = `SELECT n, at, user_id, thread_id, run_id, trace_id, invocation_id, capability, kind, source, status,
		stage, code, input, output, args_digest, proposed_digest, duration_ms, rule FROM audit_log WHERE user_id = ?
		AND (? = '' OR capability = ?) AND (? = '' OR status = ?) AND (? = '' OR stage = ?) `
	wanted := []any{userID, s.Capability, s.Capability, s.Status, s.Status, s.Stage, s.Stage}
	if s.RunID != "" {
		after, err := oldestFirst(p)
		if err != nil {
			return nil, "", err
		}
		return paged(ctx, db.Read(), p, scan, query+`AND run_id = ? AND n > ? ORDER BY n LIMIT ?`, append(wanted, s.RunID, after)...)
	}
	before, err := newestFirst(p)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, db.Read(), p, scan, query+`AND n < ? ORDER BY n DESC LIMIT ?`, append(wanted, before)...)
}
