package store

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"agentmesh/app/platform/fault"
)

// The room that is kept for bad days, in bytes: the reserve is what the ends of some dozen runs take; only
// when so much more is free is the disk no longer called full.
const (
	reserveSize = 1 << 20
	reserveMore = 3 << 20
	// roomAgain is the pause between two looks whether there is room again.
	roomAgain = time.Second
)

// IsFull tells whether an error says that the disk is full.
func IsFull(err error) bool { return fault.CodeOf(err) == fault.StorageFull }

func errFull(cause error) error {
	return fault.Wrap(cause, fault.StorageFull, "the disk is full: nothing can be written until there is room again")
}

// classify gives what the disk or another program does to us a code and words of ours.
func classify(err error) error {
	var e sqlite3.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && (e.Code == sqlite3.ErrFull || e.SystemErrno == syscall.ENOSPC):
		return errFull(err)
	case errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked):
		return errBusy(err)
	case errors.Is(err, context.DeadlineExceeded): // of who waited for its turn; nothing was written
		return errBusy(err)
	}
	return err
}

func errBusy(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "another program keeps the database from being written: try again in a moment")
}

// room is a file that holds a place on the disk. It is given up when the disk is full, so that what ends
// something can still be written; until there is room again, nothing else is tried.
type room struct {
	path  string
	full  atomic.Bool
	using sync.RWMutex // read: what ends something is being written
	next  atomic.Int64 // when to look for room again, in nanoseconds
}

// openRoom makes the reserve. On a disk that is full already there is none; a database of which a crash may
// lose the last moments has none either.
func openRoom(path string, d Durability) *room {
	r := &room{path: path + ".reserve"}
	if d != SurvivesPowerCut {
		r.path = ""
		return r
	}
	if info, err := os.Stat(r.path); err != nil || info.Size() < reserveSize {
		_ = r.make(reserveSize)
	}
	return r
}

// make takes so much of the disk, or nothing, and keeps the reserve of it. What is written is random: some
// file systems store the same bytes once, or none that are zero.
func (r *room) make(size int) error {
	raw := make([]byte, size)
	_, _ = rand.Read(raw)
	file, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = file.Truncate(reserveSize)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(r.path)
	}
	return err
}

// giveUp lets the disk have the reserve.
func (r *room) giveUp() {
	if r.path == "" || r.full.Load() {
		return
	}
	r.next.Store(time.Now().Add(roomAgain).UnixNano()) // first: who looks at once would make what is removed here
	if r.full.Swap(true) {
		return
	}
	_ = os.Remove(r.path)
}

// isFull tells whether the disk is full. From time to time it looks whether there is room again.
func (r *room) isFull() bool {
	if !r.full.Load() {
		return false
	}
	now, due := time.Now(), r.next.Load()
	if now.UnixNano() < due || !r.next.CompareAndSwap(due, now.Add(roomAgain).UnixNano()) || !r.using.TryLock() {
		return true
	}
	defer r.using.Unlock()
	if r.make(reserveSize+reserveMore) == nil {
		r.full.Store(false)
	}
	return r.full.Load()
}

// End is Tx for what ends something and takes little room: on a full disk it is written into the reserve.
func (db *DB) End(ctx context.Context, fn func(*Tx) error) error {
	db.room.using.RLock()
	defer db.room.using.RUnlock()
	err := classify(db.writer.do(ctx, fn))
	if IsFull(err) {
		db.room.giveUp()
		err = classify(db.writer.do(ctx, fn))
	}
	return err
}
