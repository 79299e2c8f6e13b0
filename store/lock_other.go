//go:build !unix

package store

import "os"

// HasLocks tells whether Lock keeps others out.
const HasLocks = false

// tryLock only creates the file: these systems have no flock, and SQLite's own locks still keep the data
// whole.
func tryLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
