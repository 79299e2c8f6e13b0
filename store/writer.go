package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"agentmesh/app/platform/failpoint"
)

// maxGroup is how many transactions are committed together at most.
const maxGroup = 256

// ErrClosed says that a database was closed before it took a transaction.
var ErrClosed = errors.New("the database is closed")

// writer is the one that writes: a goroutine with a connection of its own. Whoever comes while it commits
// is in the next group, and nobody is waited for; so a commit's wait for the disk is shared when there is
// much to write, and short when there is little.
type writer struct {
	pool    *sql.DB
	conn    *sql.Conn
	jobs    chan *job
	stop    chan struct{}
	done    chan struct{}
	closing sync.Once
	commits atomic.Int64
}

// job is a transaction that somebody waits for.
type job struct {
	fn    func(*Tx) error
	ended func() error // why its caller's context has ended, or nil
	taken atomic.Bool  // by the writer, or by a caller who goes away
	end   chan error
	err   error // why it was refused, or nil
	panic any
}

func newWriter(ctx context.Context, pool *sql.DB) (*writer, error) {
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		pool: pool, conn: conn, jobs: make(chan *job), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go w.work(context.WithoutCancel(ctx))
	return w, nil
}

// close lets the group under way end.
func (w *writer) close() (err error) {
	w.closing.Do(func() {
		close(w.stop)
		<-w.done
		err = errors.Join(w.conn.Close(), w.pool.Close())
	})
	return err
}

func (w *writer) do(ctx context.Context, fn func(*Tx) error) error {
	j := &job{fn: fn, ended: ctx.Err, end: make(chan error, 1)}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	case <-w.stop:
		return ErrClosed
	}
	select {
	case err := <-j.end:
		return j.result(err)
	case <-ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("wait for the writer: %w", ctx.Err())
		}
		return j.result(<-j.end) // it is being written: how that ends is known in a moment
	}
}

func (j *job) result(err error) error {
	if j.panic != nil {
		panic(j.panic)
	}
	return err
}

// work serves until close. Its context never ends: what a statement has begun is done.
func (w *writer) work(ctx context.Context) {
	defer close(w.done)
	for {
		select {
		case first := <-w.jobs:
			w.write(ctx, w.group(first))
		case <-w.stop:
			return
		}
	}
}

// group takes whoever waits already.
func (w *writer) group(first *job) []*job {
	group := []*job{first}
	for len(group) < maxGroup {
		select {
		case next := <-w.jobs:
			group = append(group, next)
		default:
			return group
		}
	}
	return group
}

// write commits a group together. When something breaks that, each of it is written alone, so that what is
// wrong with one harms nobody else. Nobody hears before the commit, not even of a refusal: that may rest on what
// another one has just written.
func (w *writer) write(ctx context.Context, group []*job) {
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		w.refuse(group, fmt.Errorf("begin: %w", err))
		return
	}
	var tried []*job
	for i, j := range group {
		if !j.taken.CompareAndSwap(false, true) {
			continue
		}
		err, broken := w.part(ctx, j, len(group) > 1)
		if broken {
			_ = w.exec(ctx, "ROLLBACK") // SQLite may have done it already
			j.end <- err
			w.alone(ctx, append(tried, w.take(group[i+1:])...))
			return
		}
		j.err = err
		tried = append(tried, j)
	}
	if failpoint.On(failpoint.Early) {
		answer(tried)
	}
	if err := w.commit(ctx); err != nil {
		_ = w.exec(ctx, "ROLLBACK")
		if len(group) > 1 {
			w.alone(ctx, tried)
			return
		}
		for _, j := range tried {
			j.err = fmt.Errorf("commit: %w", err)
		}
	}
	answer(tried)
}

func answer(tried []*job) {
	for _, j := range tried {
		j.end <- j.err
	}
}

func (w *writer) commit(ctx context.Context) error {
	if err := failpoint.Hit(ctx, failpoint.StoreBefore); err != nil {
		return err
	}
	if err := w.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	w.commits.Add(1)
	_ = failpoint.Hit(ctx, failpoint.StoreAfter) // what is committed cannot fail
	return nil
}

// take gives those of a group whose callers still wait.
func (w *writer) take(group []*job) []*job {
	var taken []*job
	for _, j := range group {
		if j.taken.CompareAndSwap(false, true) {
			taken = append(taken, j)
		}
	}
	return taken
}

// alone writes each of a broken group in a transaction of its own.
func (w *writer) alone(ctx context.Context, group []*job) {
	for _, j := range group {
		j.end <- w.one(ctx, j)
	}
}

func (w *writer) one(ctx context.Context, j *job) error {
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := w.call(j)
	if err == nil {
		if err = w.commit(ctx); err == nil {
			return nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	_ = w.exec(ctx, "ROLLBACK")
	return err
}

// part runs one transaction of a group; when others are in it too, what it wrote before an error is taken
// back. It tells whether that broke the group.
func (w *writer) part(ctx context.Context, j *job, among bool) (err error, broken bool) {
	if !among {
		err = w.call(j)
		return err, err != nil
	}
	if err := w.exec(ctx, "SAVEPOINT part"); err != nil {
		return fmt.Errorf("begin: %w", err), true
	}
	err = w.call(j)
	if err != nil {
		broken = w.exec(ctx, "ROLLBACK TO part") != nil
	}
	return err, w.exec(ctx, "RELEASE part") != nil || broken
}

// call runs the caller's function. A panic is the caller's.
func (w *writer) call(j *job) (err error) {
	j.panic = nil // of an earlier try
	defer func() {
		if p := recover(); p != nil {
			j.panic, err = p, fmt.Errorf("panic: %v", p)
		}
	}()
	if err := j.fn(&Tx{w.conn}); err != nil {
		return err
	}
	return j.ended()
}

func (w *writer) refuse(group []*job, err error) {
	for _, j := range w.take(group) {
		j.end <- err
	}
}

func (w *writer) exec(ctx context.Context, statement string) error {
	_, err := w.conn.ExecContext(ctx, statement)
	return err
}
