package storetest

import (
	"database/sql"
	"testing"
)

// Lock keeps a database from being written, as another program would, until the function that it gives is
// called or the test ends.
func Lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	unlock = func() { _ = db.Close() }
	t.Cleanup(unlock)
	return unlock
}
