package app_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestServe_RefusesANewerDatabase: what a later program wrote is left alone, and one sentence says so.
func TestServe_RefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"orchestrator.db", "catalog.db", filepath.Join("spans", "food.db")} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			dir, a := serving(t, nil)
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			execute(t, filepath.Join(dir, file), `PRAGMA user_version = 99`)
			status, out, errs := run("serve", "--data", dir, "--listen", "127.0.0.1:0")
			if status != 1 || out != "" || strings.Count(errs, "\n") != 1 {
				t.Errorf("got %d %q %q, want one line", status, out, errs)
			}
			wantWords(t, "the refusal", errs, filepath.Base(file), "it has version 99", "use a newer program, or restore an older copy")
		})
	}
}
