//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// HasLocks tells whether Lock keeps others out.
const HasLocks = true

// tryLock takes a file, which it creates for its owner alone, for this process; ErrInUse says that another
// one has it. The kernel gives it back when the file is closed or the process ends in whatever way.
func tryLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
