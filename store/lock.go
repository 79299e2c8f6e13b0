package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// ErrInUse says that another process has the lock of a file.
var ErrInUse = errors.New("the file is in use")

// Who looks whether a lock is free has it for a moment, and a command on a database for a little longer. That
// long they are waited for.
const (
	lockTime  = 45 * time.Millisecond
	ownerTime = 1500 * time.Millisecond
	lockPause = 15 * time.Millisecond
)

// Lock takes a file for this process until it is closed, or the process ends in whatever way; it is created
// for its owner alone. ErrInUse says that another process has it. Where HasLocks is false, nothing keeps
// others out.
func Lock(path string) (*os.File, error) { return lockWithin(path, lockTime) }

func lockWithin(path string, limit time.Duration) (*os.File, error) {
	for end := time.Now().Add(limit); ; time.Sleep(lockPause) {
		file, err := tryLock(path)
		if !errors.Is(err, ErrInUse) || time.Now().After(end) {
			return file, err
		}
	}
}

// Own takes the lock file of a database and writes into it whose it is. The file stays, because removing
// it would let two processes lock two files.
func Own(path string) (*os.File, error) {
	file, err := lockWithin(path, ownerTime)
	if errors.Is(err, ErrInUse) {
		owner, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%w by process %s: stop that one first, or choose another folder", err, strings.TrimSpace(string(owner)))
	}
	if err != nil {
		return nil, err
	}
	if err = file.Truncate(0); err == nil {
		_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
