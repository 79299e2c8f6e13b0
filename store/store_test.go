package store_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"agentmesh/store"
)

const first = `CREATE TABLE things (id TEXT PRIMARY KEY, n INTEGER NOT NULL CHECK (n >= 0));
CREATE TRIGGER things_kept BEFORE DELETE ON things BEGIN SELECT RAISE(ABORT, 'kept'); END;`

func migrations(steps ...string) fstest.MapFS {
	names := []string{"0001_things.sql", "0002_more.sql", "0003_again.sql"}
	folder := fstest.MapFS{}
	for i, sql := range steps {
		folder[names[i]] = &fstest.MapFile{Data: []byte(sql)}
	}
	return folder
}

func open(t *testing.T, path string, steps ...string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path, migrations(steps...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func insert(ctx context.Context, db *store.DB, id string) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO things VALUES (?, 1)`, id)
		return err
	})
}

func count(t *testing.T, db *store.DB) int {
	t.Helper()
	var n int
	if err := db.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM things`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpen_Settings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder #1?", "data 100%.db")
	db := open(t, path, first)
	for place, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600} {
		info, err := os.Stat(place)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %o, want %o", filepath.Base(place), got, want)
		}
	}
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"}
	for pragma, value := range want {
		var got string
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got)
		})
		if err != nil || got != value {
			t.Errorf("%s: got %q, %v, want %q", pragma, got, err, value)
		}
	}
	if _, err := db.Read().ExecContext(t.Context(), `INSERT INTO things VALUES ('x', 1)`); err == nil {
		t.Error("a reading connection could write")
	}
}

func TestOpen_FileInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, first)
	_, err := store.Open(t.Context(), path, migrations(first))
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v, want an error that says which file is in use", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, first)
}

// TestOpen_OtherProcess starts this test binary again as the process that holds the file.
func TestOpen_OtherProcess(t *testing.T) {
	path := os.Getenv("STORE_TEST_HOLD")
	if path != "" {
		open(t, path, first)
		os.Stdout.WriteString("open\n")
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		return
	}
	t.Parallel()
	path = filepath.Join(t.TempDir(), "a.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestOpen_OtherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "STORE_TEST_HOLD="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "open" {
	}
	if _, err := store.Open(t.Context(), path, migrations(first)); err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("got %v, want in use", err)
	}
	if err := cmd.Process.Kill(); err != nil { // a crash gives the lock back
		t.Fatal(err)
	}
	_ = stdin.Close()
	_ = cmd.Wait()
	open(t, path, first)
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	second := `ALTER TABLE things ADD COLUMN note TEXT`
	path := filepath.Join(t.TempDir(), "a.db")
	old := open(t, path, first)
	if err := insert(t.Context(), old, "a"); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	broken := migrations(first, second+`; INSERT INTO nowhere VALUES (1)`)
	if _, err := store.Open(t.Context(), path, broken); err == nil || !strings.Contains(err.Error(), "0002_more.sql") {
		t.Fatalf("broken migration: got %v, want its name", err)
	}
	upgraded := open(t, path, first, second) // the broken one left nothing behind
	if got := count(t, upgraded); got != 1 {
		t.Errorf("got %d rows, want 1", got)
	}
	fresh := open(t, filepath.Join(t.TempDir(), "b.db"), first, second)
	a, errA := upgraded.Schema(t.Context())
	b, errB := fresh.Schema(t.Context())
	if errA != nil || errB != nil || a != b || !strings.Contains(a, "things_kept") {
		t.Errorf("got upgraded schema\n%s(%v), fresh\n%s(%v)", a, errA, b, errB)
	}
	if err := upgraded.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), path, migrations(first)); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("newer database: got %v, want a refusal", err)
	}
}

func TestMigrate_Names(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"2_x.sql": "NNNN_name.sql", "0002_x.sql": "want number 0001", "notes.txt": "NNNN_name.sql"} {
		_, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), fstest.MapFS{name: {Data: []byte("SELECT 1")}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestTx_RollsBack(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
	wrong := errors.New("wrong")
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.ExecContext(t.Context(), `INSERT INTO things VALUES ('a', 1)`); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got %v, want %v", err, wrong)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Tx(t.Context(), func(tx *store.Tx) error {
			_, _ = tx.ExecContext(t.Context(), `INSERT INTO things VALUES ('b', 1)`)
			panic("bug")
		})
	}()
	if got := count(t, db); got != 0 {
		t.Errorf("got %d rows, want 0", got)
	}
	if err := insert(t.Context(), db, "c"); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestTx_CancelledInTheMiddle(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
	endless := `INSERT INTO things WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' || i, 1 FROM n`
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := db.Tx(ctx, func(tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, endless)
			return err
		})
		cancel()
		if err == nil {
			t.Fatal("got no error from a cancelled statement")
		}
		between, cancel := context.WithCancel(t.Context())
		err = db.Tx(between, func(tx *store.Tx) error {
			_, err := tx.ExecContext(between, `INSERT INTO things VALUES ('between', 1)`)
			cancel()
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before commit: got %v", err)
		}
		if got := count(t, db); got != 0 {
			t.Errorf("got %d rows, want 0", got)
		}
	}
	if err := insert(t.Context(), db, "a"); err != nil {
		t.Errorf("the writer is not well: %v", err)
	}
}

func TestTx_WaitsForItsTurn(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
	err := db.Tx(t.Context(), func(*store.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		return insert(ctx, db, "a") // a second writer gives up when its context does
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestTx_ManyWriters(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
	if err := insert(t.Context(), db, "a"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			err := db.Tx(t.Context(), func(tx *store.Tx) error {
				var n int
				if err := tx.QueryRowContext(t.Context(), `SELECT n FROM things`).Scan(&n); err != nil {
					return err
				}
				_, err := tx.ExecContext(t.Context(), `UPDATE things SET n = ?`, n+1)
				return err
			})
			if err != nil {
				t.Errorf("write: %v", err)
			}
			if got := count(t, db); got != 1 {
				t.Errorf("got %d rows, want 1", got)
			}
		})
	}
	wg.Wait()
	var n int
	if err := db.Read().QueryRowContext(t.Context(), `SELECT n FROM things`).Scan(&n); err != nil || n != 51 {
		t.Errorf("got %d, %v, want 51", n, err)
	}
}

func TestIsUnique(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
	if err := insert(t.Context(), db, "a"); err != nil {
		t.Fatal(err)
	}
	if err := insert(t.Context(), db, "a"); !store.IsUnique(err) {
		t.Errorf("got %v, want a unique violation", err)
	}
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO things VALUES ('b', -1)`)
		return err
	})
	if err == nil || store.IsUnique(err) || store.IsUnique(nil) {
		t.Errorf("got %v, want a check violation that is not unique", err)
	}
}

func TestDB_InABubble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path, first)
		for _, id := range []string{"a", "b"} {
			if err := insert(t.Context(), db, id); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			time.Sleep(time.Hour) // of the bubble: the database does not hold its clock
			if got := time.Since(began); got != time.Hour {
				t.Errorf("got %s, want 1h", got)
			}
		}
		if got := count(t, db); got != 2 {
			t.Errorf("got %d rows, want 2", got)
		}
	})
}
