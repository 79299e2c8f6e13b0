package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// folderOf makes the folder of a program that was killed: databases with a run of that name and that many
// portions of a dish, still in the WAL.
func folderOf(t *testing.T, name string, portions int) string {
	t.Helper()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), name)
	runs, err := rundb.Open(t.Context(), filepath.Join(from, runFile))
	if err != nil {
		t.Fatal(err)
	}
	dishes, err := catalogdb.Open(t.Context(), filepath.Join(from, catalogFile), catalogdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := agent.Run{ID: name, UserID: "ann", ThreadID: "t1", CreatedAt: time.Now()}
	err = runs.CreateRun(t.Context(), r, name, agent.Message{ID: name, Role: agent.User, Text: "早", CreatedAt: time.Now()})
	_, errE := dishes.Edit(t.Context(), []catalog.Edit{{ID: "food-001", Stock: &portions}}, false)
	if err := errors.Join(err, errE); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil { // as a kill at this moment leaves it
		t.Fatal(err)
	}
	if err := errors.Join(runs.Close(), dishes.Close()); err != nil {
		t.Fatal(err)
	}
	return to
}

// holds tells which of the folders this one's content is, or what is mixed.
func holds(t *testing.T, dir string) string {
	t.Helper()
	runs, err := rundb.Open(t.Context(), filepath.Join(dir, runFile))
	if err != nil {
		t.Fatal(err)
	}
	dishes, err := catalogdb.Open(t.Context(), filepath.Join(dir, catalogFile), catalogdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = runs.Close(), dishes.Close() }()
	open, err := runs.OpenRuns(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("got %+v, %v, want one run", open, err)
	}
	d, err := dishes.Dish(t.Context(), "food-001")
	if err := errors.Join(err, runs.Invariant(t.Context()), dishes.Invariant(t.Context())); err != nil {
		t.Error(err)
	}
	return open[0].ID + " " + strconv.Itoa(d.Stock)
}

// TestRestore_KilledAtEachStep: after a kill between any two steps the next start has all of the backup, and
// what was there is aside, whole.
func TestRestore_KilledAtEachStep(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "b.tar")
	from := Config{Data: folderOf(t, "new", 7)}
	if _, err := from.backup(t.Context(), backup, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	for k := 0; ; k++ {
		dir := folderOf(t, "old", 5)
		next := filepath.Join(dir, stagedNext)
		m, err := stage(t.Context(), backup, next, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := planFor(dir, m)
		if k == 0 {
			if got := holds(t, dir); got != "old 5" {
				t.Errorf("killed before it was decided: got %s", got)
			}
		}
		if err := p.decide(dir); err != nil {
			t.Fatal(err)
		}
		moves := p.moves(dir)
		for _, step := range moves[:k] {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
		}
		if err := finishRestore(dir); err != nil {
			t.Fatal(err)
		}
		for _, folder := range []struct{ path, want string }{{dir, "new 7"}, {filepath.Join(dir, p.Aside), "old 5"}} {
			if got := holds(t, folder.path); got != folder.want {
				t.Errorf("killed after %d of %d steps: got %s in %s, want %s", k, len(moves), got, folder.path, folder.want)
			}
		}
		if exists(filepath.Join(dir, stagedFolder)) {
			t.Errorf("killed after %d steps: the plan is still there", k)
		}
		if k == len(moves) {
			return
		}
	}
}

// TestRestore_Killed kills the command itself, wherever it is.
func TestRestore_Killed(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "b.tar")
	from := Config{Data: folderOf(t, "new", 7)}
	if _, err := from.backup(t.Context(), backup, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if m, _, err := (&Config{Data: folderOf(t, "old", 5)}).restore(t.Context(), backup, true, nil); err != nil || len(m.Files) != 2 {
		t.Fatalf("got %+v, %v", m, err)
	}
	took := 4 * time.Since(began) // and the start of a process
	seen := map[string]int{}
	const kills = 12
	for k := range kills {
		dir := folderOf(t, "old", 5)
		ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(k)/kills)
		cmd := exec.CommandContext(ctx, os.Args[0], "restore", backup, "--data", dir, "--force") // killed when the time is over
		cmd.Env = []string{"AGENTMESH_TEST_MAIN=1", "PATH=" + os.Getenv("PATH")}
		_ = cmd.Run()
		cancel()
		if err := finishRestore(dir); err != nil {
			t.Fatal(err)
		}
		seen[holds(t, dir)]++
	}
	if seen["old 5"]+seen["new 7"] != kills {
		t.Errorf("got %v, want all of the old or all of the new", seen)
	}
	t.Log(seen)
}

// TestRestore_OfWhatIsBeingRestored: the refusal names the process that is at it, not one that has long gone, and does not
// say that nothing runs.
func TestRestore_OfWhatIsBeingRestored(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, "old", 5)
	lock := filepath.Join(dir, runFile+".lock")
	if err := os.WriteFile(lock, []byte("999999999\n"), 0o600); err != nil { // left by an earlier process
		t.Fatal(err)
	}
	release, err := own(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	_, err = own(dir)
	if want := fmt.Sprintf("process %d", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want that %s is at it", err, want)
	}
}

// TestRestore_OfANewerDatabase: what a later program wrote is refused before anything is touched.
func TestRestore_OfANewerDatabase(t *testing.T) {
	t.Parallel()
	from := folderOf(t, "new", 7)
	db, err := sql.Open("sqlite3", filepath.Join(from, catalogFile))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	m := manifest{Format: manifestFormat, Files: []entry{{Name: catalogFile, Schema: 99}}}
	if err := m.Files[0].measure(from); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "b.tar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.write(file, from, false), file.Close()); err != nil {
		t.Fatal(err)
	}
	dir := folderOf(t, "old", 5)
	_, _, err = (&Config{Data: dir}).restore(t.Context(), file.Name(), true, nil)
	if !errors.Is(err, store.ErrNewVersion) {
		t.Errorf("got %v, want that it is too new", err)
	}
	if got := holds(t, dir); got != "old 5" || exists(filepath.Join(dir, stagedNext)) {
		t.Errorf("got %s, want it untouched", got)
	}
}

// TestPlan_KeepsKeys: a backup without keys takes none away.
func TestPlan_KeepsKeys(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, "old", 5)
	if err := os.WriteFile(filepath.Join(dir, keyFile), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := planFor(dir, manifest{Files: []entry{{Name: runFile}}})
	raw, _ := json.Marshal(p)
	if text := fmt.Sprint(string(raw)); strings.Contains(text, keyFile) || !strings.Contains(text, catalogFile) {
		t.Errorf("got %s, want the keys left where they are", text)
	}
}
