package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/store"
	"agentmesh/store/storetest"
)

// bulky writes a row of some size.
func bulky(ctx context.Context, db *store.DB, id string, bytes int) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO bulk VALUES (?, randomblob(?))`, id, bytes)
		return err
	})
}

const bulk = `CREATE TABLE bulk (id TEXT PRIMARY KEY, content BLOB)`

// ended writes a small row as an end.
func ended(ctx context.Context, db *store.DB, id string) error {
	return db.End(ctx, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO things VALUES (?, 1)`, id)
		return err
	})
}

func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if !store.IsFull(err) || fault.Status(fault.CodeOf(err)) != 507 || !strings.HasPrefix(fault.MessageOf(err), "the disk is full") {
		t.Errorf("%s: got %v, want that the disk is full", what, err)
	}
}

// TestFull_ByPages: what SQLite calls full is a full disk, also without one.
func TestFull_ByPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path, first, bulk)
		pages := func(limit int) {
			t.Helper()
			err := db.End(t.Context(), func(tx *store.Tx) error {
				_, err := tx.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, limit))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		pages(20)
		wantFull(t, "too much", bulky(t.Context(), db, "a", 200_000))
		wantFull(t, "at once after it", insert(t.Context(), db, "b"))
		wantFull(t, "ping", db.Ping(t.Context()))
		if err := ended(t.Context(), db, "c"); err != nil {
			t.Errorf("an end: %v", err)
		}
		if got := count(t, db); got != 1 {
			t.Errorf("got %d rows, want the end alone", got)
		}
		pages(1_000_000)
		time.Sleep(2 * time.Second)
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("ping with room: %v", err)
		}
		if err := bulky(t.Context(), db, "a", 200_000); err != nil {
			t.Errorf("with room: %v", err)
		}
	})
}

// TestFull_Disk: on a disk without room ends are written into the reserve, everything else is refused, reads
// go on; with room everything goes on, and the reserve is there again.
func TestFull_Disk(t *testing.T) {
	t.Parallel()
	disk := storetest.SmallDisk(t, 12<<20)
	path := filepath.Join(disk.Dir, "a.db")
	db := open(t, path, first, bulk)
	if info, err := os.Stat(path + ".reserve"); err != nil || info.Size() < 1<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("got the reserve %v, %v", info, err)
	}
	disk.Fill()
	for i := 0; ; i++ {
		if err := insert(t.Context(), db, fmt.Sprint("before", i)); err != nil {
			wantFull(t, "a write", err)
			break
		}
		if i > 1000 {
			t.Fatal("the disk is full and everything is written")
		}
	}
	before := count(t, db)
	wantFull(t, "at once after it", insert(t.Context(), db, "refused"))
	wantFull(t, "ping", db.Ping(t.Context()))
	const ends = 50
	for i := range ends {
		if err := ended(t.Context(), db, fmt.Sprint("end", i)); err != nil {
			t.Fatalf("end %d: %v", i, err)
		}
	}
	if got := count(t, db); got != before+ends {
		t.Errorf("got %d rows, want %d", got, before+ends)
	}
	for i := 0; ; i++ {
		if err := ended(t.Context(), db, fmt.Sprint("further", i)); err != nil {
			wantFull(t, "an end beyond the reserve", err)
			t.Logf("%d small ends fit", ends+i)
			break
		}
		if i > 1000 {
			t.Fatal("the reserve has no end")
		}
	}
	disk.Empty()
	for end := time.Now().Add(10 * time.Second); db.Ping(t.Context()) != nil; {
		if time.Now().After(end) {
			t.Fatal("there is room, and it is not seen")
		}
	}
	if err := insert(t.Context(), db, "after"); err != nil {
		t.Errorf("with room: %v", err)
	}
	if info, err := os.Stat(path + ".reserve"); err != nil || info.Size() != 1<<20 {
		t.Errorf("got the reserve %v, %v", info, err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLocked: who writes while another program has the lock waits, and is then told so; afterwards everything
// goes on, and nothing was written twice.
func TestLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, first)
	if err := insert(t.Context(), db, "before"); err != nil {
		t.Fatal(err)
	}
	unlock := storetest.Lock(t, path)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			err := insert(t.Context(), db, fmt.Sprint("locked", i))
			if fault.CodeOf(err) != fault.Unavailable || !strings.HasPrefix(fault.MessageOf(err), "another program keeps") {
				t.Errorf("got %v, want that another program has it", err)
			}
		})
	}
	if got := count(t, db); got != 1 {
		t.Errorf("got %d rows, want reads as always", got)
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if err := insert(short, db, "short"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("who has no time: got %v", err)
	}
	all.Wait()
	unlock()
	for i := range 3 {
		if err := insert(t.Context(), db, fmt.Sprint("locked", i)); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	if got := count(t, db); got != 4 {
		t.Errorf("got %d rows, want 4", got)
	}
}
