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

const invocationColumns = `i.id, r.id, r.user_id, i.message_id, i.call_id, i.round, i.position, i.name, i.args, i.proposed, i.status,
	i.result, i.receipt, i.created_at, i.ended_at, i.attempts, i.began_at, i.task_id, i.answer_id FROM invocations i JOIN runs r ON r.n = i.run_n`

func scanInvocation(row scanner) (agent.Invocation, error) {
	var inv agent.Invocation
	var args, proposed, result, receipt string
	var created, ended, began int64
	err := row.Scan(&inv.ID, &inv.RunID, &inv.UserID, &inv.MessageID, &inv.CallID, &inv.Round, &inv.Position,
		&inv.Name, &args, &proposed, &inv.Status, &result, &receipt, &created, &ended, &inv.Attempts, &began, &inv.TaskID, &inv.AnswerID)
	if err != nil {
		return agent.Invocation{}, err
	}
	inv.Args, inv.CreatedAt, inv.EndedAt, inv.BeganAt = []byte(args), moment(created), moment(ended), moment(began)
	if proposed != "" {
		inv.Proposed = []byte(proposed)
	}
	if result != "" {
		inv.Result = []byte(result)
	}
	return inv, fromJSON(receipt, &inv.Receipt)
}

// saveInvocation inserts an invocation, or advances one that has no result yet; a result never changes.
func saveInvocation(ctx context.Context, tx *store.Tx, runN int64, inv agent.Invocation) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, proposed,
			status, final, result, receipt, created_at, ended_at, attempts, began_at, task_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET args = excluded.args, proposed = excluded.proposed, status = excluded.status, final = excluded.final, result = excluded.result,
			receipt = excluded.receipt, ended_at = excluded.ended_at, attempts = excluded.attempts, began_at = excluded.began_at,
			task_id = excluded.task_id WHERE final = 0`,
		inv.ID, runN, inv.MessageID, inv.CallID, inv.Round, inv.Position, inv.Name, string(inv.Args), string(inv.Proposed),
		inv.Status, inv.Status.Final(), string(inv.Result), toJSON(inv.Receipt), stamp(inv.CreatedAt), stamp(inv.EndedAt),
		inv.Attempts, stamp(inv.BeganAt), inv.TaskID)
	if err != nil {
		return fmt.Errorf("save invocation %s: %w", inv.ID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(agent.ErrStale, err)
	}
	return nil
}

// Finished gives the stored outcome of an invocation, if it has one.
func (db *DB) Finished(ctx context.Context, userID, invocationID string) (capability.Finished, bool, error) {
	inv, err := scanInvocation(db.Read().QueryRowContext(ctx, `SELECT `+invocationColumns+`
		WHERE i.id = ? AND r.user_id = ? AND i.final`, invocationID, userID))
	if errors.Is(err, sql.ErrNoRows) {
		return capability.Finished{}, false, nil
	}
	return capability.Finished{Args: inv.Args, Result: inv.Result, Receipt: inv.Receipt}, err == nil, err
}

func insertModelCall(ctx context.Context, tx *store.Tx, runN int64, c agent.ModelCall) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO model_calls (id, run_n, round, model, request, input_tokens, output_tokens,
			finish, error, started_at, duration_ms, estimated_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, runN, c.Round, c.Model, column(c.Request), c.Usage.Input, c.Usage.Output, c.Finish, c.Error,
		stamp(c.StartedAt), c.Duration.Milliseconds(), c.Estimated)
	if err != nil {
		return fmt.Errorf("insert model call: %w", err)
	}
	return nil
}

// ModelCalls lists a run's model rounds in order.
func (db *DB) ModelCalls(ctx context.Context, runID string) ([]agent.ModelCall, error) {
	return collect(ctx, db.Read(), func(row scanner) (agent.ModelCall, error) {
		c := agent.ModelCall{RunID: runID}
		var request []byte
		var started, took int64
		err := row.Scan(&c.ID, &c.Round, &c.Model, &request, &c.Usage.Input, &c.Usage.Output, &c.Finish, &c.Error, &started, &took, &c.Estimated)
		if err == nil && len(request) > 0 {
			c.Request, err = unpack(request)
		}
		c.StartedAt, c.Duration = moment(started), time.Duration(took)*time.Millisecond
		return c, err
	}, `SELECT id, round, model, request, input_tokens, output_tokens, finish, error, started_at, duration_ms, estimated_tokens
		FROM model_calls WHERE run_n = (SELECT n FROM runs WHERE id = ?) ORDER BY started_at, round`, runID)
}
