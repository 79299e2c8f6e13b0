package run_test

import (
	"database/sql"
	"testing"
)

// openRaw opens a database file beside the store, to leave in it what only a crash leaves. The driver is
// registered by the store.
func openRaw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	return db
}
