package rundb_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"agentmesh/agent"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSchema_Golden(t *testing.T) {
	t.Parallel()
	got, err := open(t).Schema(t.Context())
	must(t, err)
	golden := filepath.Join("testdata", "schema.sql")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got != string(want) {
		t.Errorf("the schema differs from %s (rewrite it with -update):\n%s", golden, got)
	}
}

func TestOpen_KeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orchestrator.db")
	db := openAt(t, path)
	create(t, db, "anna", "t1", "run-1")
	must(t, db.Close())
	db = openAt(t, path)
	wantStatus(t, db, "anna", "run-1", agent.Pending)
}
