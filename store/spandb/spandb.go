// Package spandb keeps a module's spans in a SQLite file of their own. A span is an explanation and no
// record: writing one never holds a request up, and what a power cut or a full disk takes is lost
// (docs/adr/0004). It must not know what a span is about.
package spandb

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The limits of what is kept.
const (
	// MaxSpans is how many spans of one trace are given at most, the first ones.
	MaxSpans = 2000

	maxPending = 4096                   // spans that wait to be written; more are lost
	batchTime  = 200 * time.Millisecond // how long a span waits for others
	writeTime  = 5 * time.Second
	pruneRows  = 1000 // in one transaction
)

// DB is one module's spans.
type DB struct {
	db     *store.DB
	wake   chan struct{} // holds one signal: something is pending
	stop   context.CancelFunc
	writer sync.WaitGroup

	writing sync.Mutex // held while a batch is on its way
	mu      sync.Mutex // guards what follows
	pending []span.Span
	lost    int
}

var _ span.Recorder = (*DB)(nil)

// Open opens or creates the file at path. Old spans go by Prune alone.
func Open(ctx context.Context, path string) (*DB, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db, err := store.OpenAs(ctx, path, folder, store.SurvivesProcess)
	if err != nil {
		return nil, err
	}
	d := &DB{db: db, wake: make(chan struct{}, 1)}
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	d.writer.Go(func() { d.work(ctx) })
	return d, nil
}

// Check looks for damage in a file of spans that exists, also beside the process that owns it.
func Check(ctx context.Context, path string) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	db, err := store.OpenReader(ctx, path, folder)
	if err != nil {
		return err
	}
	return errors.Join(db.Check(ctx), db.Close())
}

// Record keeps a span for the next batch. When more come than can be written, the newest are lost, and
// the log says how many.
func (d *DB) Record(s span.Span) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) >= maxPending {
		d.lost++
		return
	}
	d.pending = append(d.pending, s)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Close writes what is pending and closes the file.
func (d *DB) Close() error {
	d.stop()
	d.writer.Wait()
	return d.db.Close()
}

// work writes what was recorded, some time after the first of it, and at the end what is left.
func (d *DB) work(ctx context.Context) {
	beyond := context.WithoutCancel(ctx)
	defer d.flush(beyond)
	for {
		select {
		case <-d.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(batchTime):
		case <-ctx.Done():
			return
		}
		d.flush(beyond)
	}
}

// Prune drops the spans that began before a time, and counts them; a dry one only counts.
func (d *DB) Prune(ctx context.Context, before time.Time, dry bool) (int, error) {
	if dry {
		var n int
		if err := d.db.Read().QueryRowContext(ctx, `SELECT count(*) FROM spans WHERE started_at < ?`, before.UnixMicro()).Scan(&n); err != nil {
			return 0, fmt.Errorf("count old spans: %w", err)
		}
		return n, nil
	}
	for all := 0; ; {
		n, err := d.drop(ctx, before)
		all += n
		if err != nil || n == 0 {
			return all, err
		}
	}
}

func (d *DB) drop(ctx context.Context, before time.Time) (n int, err error) {
	err = d.db.Tx(ctx, func(tx *store.Tx) error {
		gone, err := tx.ExecContext(ctx, `DELETE FROM spans WHERE n IN (SELECT n FROM spans WHERE started_at < ? LIMIT ?)`, before.UnixMicro(), pruneRows)
		if err != nil {
			return err
		}
		rows, err := gone.RowsAffected()
		n = int(rows)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("drop old spans: %w", err)
	}
	return n, nil
}

// Compact gives the room of what was dropped back to the disk.
func (d *DB) Compact(ctx context.Context) error { return d.db.Compact(ctx) }

// Checkpoint empties the file's WAL.
func (d *DB) Checkpoint(ctx context.Context) error { return d.db.Checkpoint(ctx) }

// flush writes what is pending; when it returns, all that was recorded before is in the file, or lost.
func (d *DB) flush(ctx context.Context) {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	batch, lost := d.pending, d.lost
	d.pending, d.lost = nil, 0
	d.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	if err := d.db.Tx(ctx, func(tx *store.Tx) error { return insert(ctx, tx, batch) }); err != nil {
		flow.Log(ctx).Warn().Err(err).Int("spans", len(batch)).Msg("spans lost: they could not be written")
	}
	if lost > 0 {
		flow.Log(ctx).Warn().Int("spans", lost).Msg("spans lost: too many came at once")
	}
}

func insert(ctx context.Context, tx *store.Tx, batch []span.Span) error {
	for _, s := range batch {
		attributes, err := json.Marshal(s.Attributes)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO spans
			(trace_id, id, parent_id, run_id, module, kind, name, started_at, ended_at, error, attributes, user_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, s.TraceID, s.ID, s.ParentID, s.RunID, s.Module, s.Kind, s.Name,
			s.Start.UnixMicro(), s.End.UnixMicro(), s.Error, string(attributes), s.UserID)
		if err != nil {
			return err
		}
	}
	return nil
}

// Spans gives the spans of a trace that were recorded so far, at most MaxSpans, oldest first.
func (d *DB) Spans(ctx context.Context, traceID string) ([]span.Span, error) {
	d.flush(context.WithoutCancel(ctx)) // the batch is everybody's
	rows, err := d.db.Read().QueryContext(ctx, `SELECT trace_id, id, parent_id, run_id, module, kind, name, started_at, ended_at, error, attributes, user_id
		FROM spans WHERE trace_id = ? ORDER BY n LIMIT ?`, traceID, MaxSpans)
	if err != nil {
		return nil, fmt.Errorf("read spans: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []span.Span
	for rows.Next() {
		var s span.Span
		var start, end int64
		var attributes string
		err := rows.Scan(&s.TraceID, &s.ID, &s.ParentID, &s.RunID, &s.Module, &s.Kind, &s.Name, &start, &end, &s.Error, &attributes, &s.UserID)
		if err != nil {
			return nil, fmt.Errorf("read spans: %w", err)
		}
		s.Start, s.End = time.UnixMicro(start).UTC(), time.UnixMicro(end).UTC()
		if err := json.Unmarshal([]byte(attributes), &s.Attributes); err != nil {
			return nil, fmt.Errorf("read attributes of span %s: %w", s.ID, err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
