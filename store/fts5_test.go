//go:build !sqlite_fts5

package store_test

import (
	"path/filepath"
	"strings"
	"testing"

	"agentmesh/store"
)

// TestOpen_WithoutFTS5 is for whoever forgets the build tag: the sentence must say which one.
func TestOpen_WithoutFTS5(t *testing.T) {
	t.Parallel()
	_, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), migrations(first))
	if err == nil || !strings.Contains(err.Error(), "-tags sqlite_fts5") {
		t.Errorf("got %v, want an error that names the tag", err)
	}
}
