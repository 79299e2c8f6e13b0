package spandb_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"agentmesh/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSchema_Golden(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), os.DirFS("migrations"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	got, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "schema.sql")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the schema differs from %s (rewrite it with -update):\n%s", golden, got)
	}
}
