package catalogdb_test

import (
	"testing"

	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
	"agentmesh/store/storetest"
)

// TestUpgrade: a database of each earlier version becomes one of this one, and what is in it means the same.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	v := storetest.Versions{Open: func(t *testing.T, path string) {
		db := openAt(t, path, newClock())
		checkBooks(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}}
	for _, check := range []func(*testing.T, *catalogdb.DB){meansHolds, meansGroups, meansEdits} {
		v.Means = append(v.Means, func(t *testing.T, path string) {
			db := openAt(t, path, newClock())
			check(t, db)
			checkBooks(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	v.Test(t)
}

// meansHolds: a hold can still be edited and committed, under the keys and groups of today; what was sold
// can come back; a release that came before its hold keeps that from being made.
func meansHolds(t *testing.T, db *catalogdb.DB) {
	all := stock(t, db, "food-001")
	got, err := db.Commit(t.Context(), "inv-1/1")
	wantState(t, got, err, catalog.Committed)
	if got := reserve(t, db, alternative("inv-1", "2", line("food-001", 1))); got.Reason != catalog.ReasonGroupCommitted {
		t.Errorf("an edit after the commit: got %+v, want it refused: both are of one invocation", got)
	}
	got, err = db.Return(t.Context(), "inv-2/1")
	wantState(t, got, err, catalog.Returned)
	if got := stock(t, db, "food-001"); got != all+2 {
		t.Errorf("got %d in stock, want 2 more than %d", got, all)
	}
	if got := reserve(t, db, request("inv-3/1", "anna", line("food-001", 1))); got.State != catalog.Released {
		t.Errorf("a hold after its release: got %+v", got)
	}
}

func meansGroups(t *testing.T, db *catalogdb.DB) {
	all := stock(t, db, "food-001")
	got, err := db.Commit(t.Context(), "inv-4/1")
	wantState(t, got, err, catalog.Committed)
	if got := stock(t, db, "food-001"); got != all+2 {
		t.Errorf("got %d in stock, want what the larger alternative held beyond the smaller", got)
	}
}

func meansEdits(t *testing.T, db *catalogdb.DB) {
	d, err := db.Dish(t.Context(), "food-001")
	if err != nil || d.PriceFen != 3500 {
		t.Errorf("got %+v, %v", d, err)
	}
	edit(t, db, catalog.Edit{ID: "food-001", Add: ptr(1)})
	if got := stock(t, db, "food-001"); got != d.Stock+1 {
		t.Errorf("got %d in stock after one more came, want %d", got, d.Stock+1)
	}
}
