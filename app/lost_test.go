package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

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
