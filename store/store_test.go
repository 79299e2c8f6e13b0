package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Tx(ctx, func(tx *store.Tx) error {
		cancel()
		_, err := tx.ExecContext(ctx, `INSERT INTO things VALUES ('between', 1)`)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	if got := count(t, db); got != 0 {
		t.Errorf("got %d rows, want 0", got)
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

// hold keeps the writer busy until release is called, so that what comes meanwhile is one group.
func hold(t *testing.T, db *store.DB) (release func()) {
	t.Helper()
	began, end := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.Tx(t.Context(), func(*store.Tx) error { close(began); <-end; return nil }); err != nil {
			t.Errorf("hold: %v", err)
		}
	})
	<-began
	return func() { close(end); wg.Wait() }
}

// TestTx_Group: what waits is committed together, and what is wrong with one part harms no other.
func TestTx_Group(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
		release := hold(t, db)
		gone, leave := context.WithCancel(t.Context())
		wrong := errors.New("wrong")
		errs := map[string]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		part := func(name string, ctx context.Context, fn func(*store.Tx) error) {
			wg.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						mu.Lock()
						errs[name] = errors.New("panic")
						mu.Unlock()
					}
				}()
				err := db.Tx(ctx, fn)
				mu.Lock()
				errs[name] = err
				mu.Unlock()
			})
			synctest.Wait() // in this order
		}
		write := func(tx *store.Tx, id string) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO things VALUES (?, 1)`, id)
			return err
		}
		part("a", t.Context(), func(tx *store.Tx) error { return write(tx, "a") })
		part("wrong", t.Context(), func(tx *store.Tx) error { return errors.Join(write(tx, "b"), wrong) })
		part("gone", gone, func(tx *store.Tx) error { return write(tx, "c") })
		part("panics", t.Context(), func(tx *store.Tx) error { _ = write(tx, "d"); panic("bug") })
		part("twice", t.Context(), func(tx *store.Tx) error { return write(tx, "a") })
		part("e", t.Context(), func(tx *store.Tx) error { return write(tx, "e") })
		leave()
		synctest.Wait()
		before := db.Commits()
		release()
		wg.Wait()
		if got := db.Commits() - before; got != 2 { // the one that was held, and the group
			t.Errorf("got %d commits, want 2", got)
		}
		if errs["a"] != nil || errs["e"] != nil || !errors.Is(errs["wrong"], wrong) || !store.IsUnique(errs["twice"]) ||
			!errors.Is(errs["gone"], context.Canceled) || errs["panics"] == nil {
			t.Errorf("got %v", errs)
		}
		if got := count(t, db); got != 2 {
			t.Errorf("got %d rows, want a and e", got)
		}
	})
}

// TestTx_RefusalRestsOnTheCommit: what a part is refused for may be what another one has just written. So it is
// told when that is committed, and when that was not to be, the part is tried again.
func TestTx_RefusalRestsOnTheCommit(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"committed": false, "broken": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
				release := hold(t, db)
				gone, leave := context.WithCancel(t.Context())
				defer leave()
				var wg sync.WaitGroup
				inTurn := func(do func()) { wg.Go(do); synctest.Wait() }
				inTurn(func() { _ = insert(gone, db, "a") })
				var refused error
				heard := false
				inTurn(func() { refused = insert(t.Context(), db, "a"); heard = true })
				last := make(chan struct{})
				inTurn(func() {
					_ = db.Tx(t.Context(), func(tx *store.Tx) error {
						<-last
						if !broken {
							return nil
						}
						leave()
						_, err := tx.ExecContext(t.Context(), `ROLLBACK`)
						return err
					})
				})
				release()
				synctest.Wait()
				if heard {
					t.Errorf("told %v before the commit", refused)
				}
				close(last)
				wg.Wait()
				if store.IsUnique(refused) == broken || (broken && refused != nil) {
					t.Errorf("got %v", refused)
				}
				if got := count(t, db); got != 1 {
					t.Errorf("got %d rows, want 1", got)
				}
			})
		})
	}
}

// TestTx_BrokenGroup: SQLite itself ends the transaction when the database is full; whoever was in the group
// and fits is written all the same.
func TestTx_BrokenGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "a.db"), first)
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			var pages int
			if err := tx.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
				return err
			}
			return tx.QueryRowContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+2)).Scan(&pages)
		})
		if err != nil {
			t.Fatal(err)
		}
		release := hold(t, db)
		sizes := []int{10, 100_000, 10}
		errs := make([]error, len(sizes))
		var wg sync.WaitGroup
		for i, size := range sizes {
			wg.Go(func() {
				errs[i] = db.Tx(t.Context(), func(tx *store.Tx) error {
					_, err := tx.ExecContext(t.Context(), `INSERT INTO things VALUES (?, 1)`, strings.Repeat(string(rune('a'+i)), size))
					return err
				})
			})
			synctest.Wait()
		}
		release()
		wg.Wait()
		if errs[0] != nil || errs[1] == nil || errs[2] != nil {
			t.Errorf("got %v, want only the large one refused", errs)
		}
		if got := count(t, db); got != 2 {
			t.Errorf("got %d rows, want 2", got)
		}
	})
}

func TestTx_Closed(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), migrations(first))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := insert(t.Context(), db, "a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want %v", err, store.ErrClosed)
	}
}
