//go:build unix

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// lockFile takes the lock of a database for this process. The kernel gives it back when the process ends
// in whatever way; the file stays, because removing it would let two processes lock two files.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		if err = file.Truncate(0); err == nil {
			_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
		}
	} else if errors.Is(err, syscall.EWOULDBLOCK) {
		owner, _ := io.ReadAll(io.LimitReader(file, 32))
		err = fmt.Errorf("the file is in use by process %s: stop that one first, or choose another folder",
			strings.TrimSpace(string(owner)))
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
