package rundb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/store"
)

// Append writes a step, whole or not at all.
func (db *DB) Append(ctx context.Context, s agent.Step) error {
	queued := false
	var err error
	if s.ModelCalls, err = db.packer.requests(s.ModelCalls); err != nil {
		return err
	}
	write := db.Tx
	if s.To.Final() {
		write = db.End
	}
	err = write(ctx, func(tx *store.Tx) error {
		n, err := db.advance(ctx, tx, s)
		if err != nil {
			return err
		}
		queued, err = writeStep(ctx, tx, n, s)
		return err
	})
	if queued && err == nil {
		db.tellQueued()
	}
	return err
}

// place is how far a run has come.
type place struct {
	n           int64
	state       agent.Status
	head, epoch int64
	cancelled   string
}

// advance is the compare-and-set: it comes first, so a refused step has written nothing. It gives the
// run's number.
func (db *DB) advance(ctx context.Context, tx *store.Tx, s agent.Step) (int64, error) {
	var at place
	err := tx.QueryRowContext(ctx, `SELECT n, state, head, epoch, cancel_reason FROM runs WHERE id = ?`, s.RunID).
		Scan(&at.n, &at.state, &at.head, &at.epoch, &at.cancelled)
	if err != nil {
		return 0, notFound(err)
	}
	to := s.To
	if to == agent.Keep {
		to = at.state
	}
	if !at.fits(s, to) {
		return 0, agent.ErrStale
	}
	if to != at.state && !at.state.CanBecome(to) {
		return 0, fault.New(fault.Internal, "a run cannot go from %s to %s", at.state, to)
	}
	if at.state == agent.Pending && to == agent.Running {
		if err := firstInLine(ctx, tx, s.RunID, at.n); err != nil {
			return 0, err
		}
	}
	return at.n, updateRun(ctx, tx, at, to, s)
}

// fits tells whether a step may be written here: not by a worker whose lease is another's by now, and of a run that
// somebody has cancelled no success, and nothing that would go on in the background.
func (at place) fits(s agent.Step, to agent.Status) bool {
	epoch := s.Epoch
	if s.Lease != nil {
		epoch = s.Lease.Epoch - 1
	}
	return slices.Contains(s.From, at.state) && (s.Head == 0 || s.Head == at.head) &&
		(epoch == at.epoch || (s.Epoch == 0 && s.Lease == nil)) && (at.cancelled == "" || (to != agent.Succeeded && len(s.Tasks) == 0))
}

// firstInLine refuses to begin a run while an earlier one of its conversation is open.
func firstInLine(ctx context.Context, tx *store.Tx, runID string, n int64) error {
	var earlier int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM runs r, runs me WHERE me.id = ? AND r.user_id = me.user_id
		AND r.thread_id = me.thread_id AND r.n < ? AND r.state < 10`, runID, n).Scan(&earlier)
	if err == nil && earlier > 0 {
		return agent.ErrBusy
	}
	return err
}

func updateRun(ctx context.Context, tx *store.Tx, at place, to agent.Status, s agent.Step) error {
	started, ended := int64(0), int64(0)
	if at.state == agent.Pending && to == agent.Running {
		started = stamp(s.At)
	}
	if to.Final() {
		ended = stamp(s.At)
	}
	_, err := tx.ExecContext(ctx, `UPDATE runs SET state = ?, finish_reason = ?, error_code = ?, error_message = ?,
		model = CASE ? WHEN '' THEN model ELSE ? END, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
		active_ms = active_ms + ?, head = head + ?, started_at = started_at + ?, ended_at = ? WHERE n = ?`,
		to, s.Finish, s.ErrorCode, s.ErrorMessage, s.Model, s.Model, s.Usage.Input, s.Usage.Output,
		s.Active.Milliseconds(), len(s.Events), started, ended, at.n)
	if store.IsUnique(err) {
		return agent.ErrBusy
	}
	if err == nil && s.Lease != nil { // the step that begins a run
		_, err = tx.ExecContext(ctx, `UPDATE runs SET skills = ?, tools = ?, owner = ?, epoch = ?, lease_until = ? WHERE n = ?`,
			toJSON(s.Skills), toJSON(s.Tools), s.Lease.Owner, s.Lease.Epoch, stamp(s.Lease.Until), at.n)
	}
	return err
}

// writeStep writes what goes with a step; it tells whether there is something to deliver or to settle.
func writeStep(ctx context.Context, tx *store.Tx, n int64, s agent.Step) (queued bool, err error) {
	if err := tellOnce(ctx, tx, s.RunID, s.Told); err != nil { // before the hints: what was told of is no mistake
		return false, err
	}
	if err := insertEvents(ctx, tx, n, s.Events); err != nil {
		return false, err
	}
	if err := insertSaid(ctx, tx, n, s.Events); err != nil {
		return false, err
	}
	for _, inv := range s.Invocations {
		if err := saveInvocation(ctx, tx, n, inv); err != nil {
			return false, err
		}
	}
	for _, c := range s.Confirmations {
		if err := insertConfirmation(ctx, tx, n, c); err != nil {
			return false, err
		}
	}
	for _, c := range s.Closed {
		if _, err := closeConfirmation(ctx, tx, c.ID, decisionOf(c)); err != nil {
			return false, err
		}
	}
	for _, g := range s.Grants {
		if err := insertGrant(ctx, tx, g); err != nil {
			return false, err
		}
	}
	for _, c := range s.ModelCalls {
		if err := insertModelCall(ctx, tx, n, c); err != nil {
			return false, err
		}
	}
	for _, v := range s.Summaries {
		if err := insertSummary(ctx, tx, n, v); err != nil {
			return false, err
		}
	}
	for _, r := range s.Records {
		if err := insertRecord(ctx, tx, r); err != nil {
			return false, err
		}
	}
	for _, t := range s.Tasks {
		if err := insertTask(ctx, tx, n, t, s.TaskLease); err != nil {
			return false, err
		}
	}
	if queued, err = applyChanges(ctx, tx, s.Changes); err != nil || queued {
		return queued, err
	}
	return leftOpen(ctx, tx, s.Invocations)
}

// insertSaid writes the messages that a step's events tell of.
func insertSaid(ctx context.Context, tx *store.Tx, n int64, events []agent.Event) error {
	t, err := agent.TranscriptOf(events)
	if err != nil {
		return err
	}
	for _, m := range t.Said() {
		if err := insertMessage(ctx, tx, n, m); err != nil {
			return err
		}
	}
	return nil
}

// leftOpen tells whether a call has ended whose order has no outcome yet.
func leftOpen(ctx context.Context, tx *store.Tx, ended []agent.Invocation) (bool, error) {
	for _, inv := range ended {
		var n int
		if !inv.Status.Final() {
			continue
		}
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM orders WHERE invocation_id = ? AND status = 'PLACING'`, inv.ID).Scan(&n)
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, nil
}

// insertEvents numbers the events; the run's head already counts them.
func insertEvents(ctx context.Context, tx *store.Tx, n int64, events []agent.Event) error {
	for i, e := range events {
		_, err := tx.ExecContext(ctx, `INSERT INTO run_events (run_n, seq, type, data, at)
			SELECT n, head - ? + ?, ?, ?, ? FROM runs WHERE n = ?`,
			len(events), i+1, e.Type, string(e.Data), stamp(e.At), n)
		if err != nil {
			return fmt.Errorf("insert event %s: %w", e.Type, err)
		}
	}
	return nil
}

// Events lists a run's events after a number.
func (db *DB) Events(ctx context.Context, runID string, after int64) ([]agent.Event, error) {
	events, err := collect(ctx, db.Read(), func(row scanner) (agent.Event, error) {
		e := agent.Event{RunID: runID}
		var data string
		var at int64
		err := row.Scan(&e.Seq, &e.Type, &data, &at)
		e.Data, e.At = []byte(data), moment(at)
		return e, err
	}, `SELECT seq, type, data, at FROM run_events WHERE run_n = (SELECT n FROM runs WHERE id = ?) AND seq > ? ORDER BY seq`, runID, after)
	if err != nil || len(events) > 0 {
		return events, err
	}
	var head int64
	if err := db.Read().QueryRowContext(ctx, `SELECT head FROM runs WHERE id = ?`, runID).Scan(&head); err != nil {
		return events, notFound(err)
	}
	if head > max(after, 0) {
		return nil, db.eventsGone(ctx, runID)
	}
	return events, nil
}

// eventsGone tells a run whose events were pruned from one whose next event came just now.
func (db *DB) eventsGone(ctx context.Context, runID string) error {
	var left int
	err := db.Read().QueryRowContext(ctx, `SELECT count(*) FROM run_events WHERE run_n = (SELECT n FROM runs WHERE id = ?)`, runID).Scan(&left)
	if err == nil && left == 0 {
		return agent.ErrEventsGone
	}
	return err
}

// Journal gives all that a run resumes from, as of one moment.
func (db *DB) Journal(ctx context.Context, runID string) (agent.Journal, error) {
	ctx = context.WithoutCancel(ctx) // a few rows: listening for an end of ctx would cost more than the reading
	tx, err := db.Read().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return agent.Journal{}, err
	}
	defer func() { _ = tx.Rollback() }()
	var j agent.Journal
	if j.Run, err = scanRun(tx.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, runID)); err != nil {
		return agent.Journal{}, notFound(err)
	}
	j.Messages, err = collect(ctx, tx, scanMessage, `SELECT `+messageColumns+` WHERE r.id = ? ORDER BY m.n`, runID)
	if err != nil {
		return agent.Journal{}, fmt.Errorf("read messages: %w", err)
	}
	j.Invocations, err = collect(ctx, tx, scanInvocation, `SELECT `+invocationColumns+` WHERE r.id = ? ORDER BY i.round, i.position`, runID)
	if err != nil {
		return agent.Journal{}, fmt.Errorf("read invocations: %w", err)
	}
	j.Confirmations, err = collect(ctx, tx, scanConfirmation, `SELECT `+confirmationColumns+` WHERE r.id = ? ORDER BY c.n`, runID)
	if err != nil {
		return agent.Journal{}, fmt.Errorf("read confirmations: %w", err)
	}
	if j.Untold, err = untold(ctx, tx, j.Run.UserID, j.Run.ThreadID); err != nil || j.Run.Origin != agent.ByTask {
		return j, err
	}
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM runs r JOIN runs this ON this.user_id = r.user_id AND this.thread_id = r.thread_id
		WHERE this.id = ?1 AND r.origin = ?2 AND r.n <= this.n AND r.n > coalesce((SELECT o.n FROM runs o
			WHERE o.user_id = this.user_id AND o.thread_id = this.thread_id AND o.n < this.n
			AND EXISTS (SELECT 1 FROM messages m WHERE m.run_n = o.n AND m.role = ?3) ORDER BY o.n DESC LIMIT 1), 0)`,
		runID, agent.ByTask, agent.User).Scan(&j.Tellings)
	if err != nil {
		return j, fmt.Errorf("count the runs that tell of tasks: %w", err)
	}
	return j, nil
}
