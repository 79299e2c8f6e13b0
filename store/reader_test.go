package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentmesh/store"
)

// A reader works beside the owner and sees what it wrote; alone too, and it changes nothing.
func TestOpenReader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	if _, err := store.OpenReader(t.Context(), path, migrations(first)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	owner := open(t, path, first)
	for _, id := range []string{"a", "b"} {
		if err := insert(t.Context(), owner, id); err != nil {
			t.Fatal(err)
		}
	}
	look := func(when string) {
		t.Helper()
		reader, err := store.OpenReader(t.Context(), path, migrations(first))
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer func() { _ = reader.Close() }()
		if got := count(t, reader); got != 2 {
			t.Errorf("%s: got %d rows, want 2", when, got)
		}
		if err := reader.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if _, err := reader.Read().ExecContext(t.Context(), `DELETE FROM things`); err == nil {
			t.Errorf("%s: the reader could write", when)
		}
	}
	look("beside the owner")
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	look("alone")
	open(t, path, first) // a reader leaves nothing that hinders the next owner
	if _, err := store.OpenReader(t.Context(), path, migrations(first, `SELECT 1`)); !errors.Is(err, store.ErrOldVersion) {
		t.Errorf("old database: got %v", err)
	}
	if _, err := store.OpenReader(t.Context(), path, migrations()); err == nil || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("new database: got %v", err)
	}
}

func TestCheck_FindsDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, first)
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO things WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT 'x' || i, 1 FROM n`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, errW := file.WriteAt(make([]byte, 20000), 3*4096)
	if err := errors.Join(errW, file.Close()); err != nil {
		t.Fatal(err)
	}
	reader, err := store.OpenReader(t.Context(), path, migrations(first))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := reader.Check(t.Context()); err == nil {
		t.Error("the damage was not found")
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	first, err := store.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Lock(path); !errors.Is(err, store.ErrInUse) {
		t.Errorf("got %v, want %v", err, store.ErrInUse)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := store.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
