// Package storetest proves, for tests only, that a database of every earlier version becomes one of the
// last. It must not know any table: each database brings what its versions wrote, and what that means.
package storetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"agentmesh/store"
)

// Versions are the versions of a database. In the test's folder are its migrations (migrations/), the
// schema that they lead to (testdata/schema.sql), and for each version the rows that a program of that
// version wrote (testdata/written/NNNN.sql).
type Versions struct {
	// Open opens the file with the package's own means, which migrate it, and checks what holds whatever is
	// in it.
	Open func(t *testing.T, path string)
	// Means checks, for each version from 1, that what it wrote still means the same.
	Means []func(t *testing.T, path string)
}

// Test makes a database of each version: every program up to it opened it and wrote its rows. The last
// program must bring it to the schema of a new one, and understand all rows. A migration without rows of
// its version fails.
func (v Versions) Test(t *testing.T) {
	t.Helper()
	all := os.DirFS("migrations")
	names, err := fs.Glob(all, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("got %d migrations, %v", len(names), err)
	}
	if len(v.Means) != len(names) {
		t.Fatalf("got checks for %d versions, want one for each of the %d migrations", len(v.Means), len(names))
	}
	for n := range len(names) + 1 {
		t.Run(fmt.Sprintf("from_version_%d", n), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "upgraded.db")
			for k := range n + 1 {
				write(t, path, First(t, all, k), k)
			}
			v.Open(t, path)
			wantSchema(t, path, all)
			for _, check := range v.Means[:n] {
				check(t, path)
			}
		})
	}
}

// First gives only the first n of a folder's migrations.
func First(t *testing.T, all fs.FS, n int) fs.FS {
	t.Helper()
	entries, err := fs.ReadDir(all, ".")
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, e := range entries[:n] {
		text, err := fs.ReadFile(all, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = &fstest.MapFile{Data: text}
	}
	return out
}

// write lets a program of a version open the database and write.
func write(t *testing.T, path string, migrations fs.FS, version int) {
	t.Helper()
	db, err := store.Open(t.Context(), path, migrations)
	if err != nil {
		t.Fatal(err)
	}
	if version > 0 {
		text, errRead := os.ReadFile(filepath.Join("testdata", "written", fmt.Sprintf("%04d.sql", version)))
		if errRead != nil {
			t.Fatalf("a migration comes with rows that a program of its version writes: %v", errRead)
		}
		err = db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.ExecContext(t.Context(), string(text))
			return err
		})
	}
	if err != nil {
		t.Fatalf("rows of version %d: %v", version, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantSchema compares the schema with the golden one.
func wantSchema(t *testing.T, path string, all fs.FS) {
	t.Helper()
	db, err := store.OpenReader(t.Context(), path, all)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	got, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the upgraded schema is not that of a new database:\n%s", got)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
