package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestLostDatabase: orders without their stock, or the reverse, are noticed, and no start hides it.
func TestLostDatabase(t *testing.T) {
	t.Parallel()
	for missing, beside := range map[string]string{"catalog.db": "orchestrator.db", "orchestrator.db": "catalog.db"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			dir, _ := backedUp(t)
			if err := os.Remove(filepath.Join(dir, missing)); err != nil {
				t.Fatal(err)
			}
			words := missing + " is missing beside " + beside
			status, seen, text := examine(t, "--data", dir)
			if status == 0 || !slices.Contains(seen, "problem databases") {
				t.Errorf("doctor: got %d", status)
			}
			wantWords(t, "doctor", text, words, "agentmesh restore FILE --force")
			wantWords(t, "serve", wantRun(t, 1, "serve", "--listen", "127.0.0.1:0", "--data", dir), words, "agentmesh restore FILE --force", "make an empty file")
			if exists(filepath.Join(dir, missing)) {
				t.Error("serve made a new one")
			}
			writeFile(t, filepath.Join(dir, missing), "")
			meshtest.Start(t, meshtest.Options{Dir: dir})
			if info, err := os.Stat(filepath.Join(dir, missing)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("got %v, %v, want the new one for its owner alone", info.Mode(), err)
			}
		})
	}
}

// TestLostDatabase_InterruptedFirstStart: a catalog without orders is what it leaves, and no loss.
func TestLostDatabase_InterruptedFirstStart(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	m.Stop()
	for _, name := range []string{"orchestrator.db", "orchestrator.db.lock"} {
		if err := os.Remove(filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, seen, text := examine(t, "--data", m.Dir); slices.Contains(seen, "problem databases") {
		t.Errorf("doctor:\n%s", text)
	}
	meshtest.Start(t, meshtest.Options{Dir: m.Dir})
}

// TestDamagedDatabaseSaysWhatToDo: whatever command meets a file that is none, its words name the way out.
func TestDamagedDatabaseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orchestrator.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "catalog.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"prune"}, {"backup", filepath.Join(t.TempDir(), "b.tgz")}} {
		var out bytes.Buffer
		if status := app.Run(append(args, "--data", dir), &out, &out); status != 1 || !strings.Contains(out.String(), "agentmesh restore FILE --force") {
			t.Errorf("%s: %d %s, want the way out", args[0], status, out.String())
		}
	}
}
