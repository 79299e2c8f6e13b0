package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentmesh/store"
)

// TestSnapshot_IsOneMoment: what is written while it is held is not in the copy, and the copy is one file.
func TestSnapshot_IsOneMoment(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "数据 100%#?")
	path, to := filepath.Join(dir, "a.db"), filepath.Join(dir, "份.db")
	db := open(t, path, first)
	if err := insert(t.Context(), db, "before"); err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenSnapshot(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := insert(t.Context(), db, "after"); err != nil {
		t.Errorf("write beside a snapshot: %v", err)
	}
	if err := s.Copy(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if version, err := store.Inspect(t.Context(), to); err != nil || version != 1 {
		t.Errorf("got version %d, %v, want 1", version, err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "份.db*"))
	if !slices.Equal(names, []string{to}) {
		t.Errorf("got %q, want one file", names)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the mode 600", info, err)
	}
	if got := count(t, open(t, to, first)); got != 1 {
		t.Errorf("got %d rows, want what was there at the moment", got)
	}
	if got := count(t, db); got != 2 {
		t.Errorf("got %d rows in the original, want 2", got)
	}
	if err := s.Copy(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that is there: got %v", err)
	}
	if _, err := store.OpenSnapshot(t.Context(), filepath.Join(dir, "none.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}
