package spandb_test

import (
	"testing"

	"agentmesh/store/storetest"
)

// TestUpgrade: a file of each earlier version becomes one of this one, and its spans are read as they were.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	v := storetest.Versions{Open: func(t *testing.T, path string) {
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
	}}
	for n, user := range []string{"", "anna"} {
		v.Means = append(v.Means, func(t *testing.T, path string) {
			db := open(t, path)
			defer func() { _ = db.Close() }()
			found := spansOf(t, db, trace)
			if len(found) <= n || found[n].UserID != user || found[n].Module != "food" || found[n].End.IsZero() {
				t.Errorf("got %+v", found)
			}
		})
	}
	v.Test(t)
}
