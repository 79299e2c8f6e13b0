package catalogdb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

func ptr[T any](v T) *T { return &v }

func edit(t *testing.T, db *catalogdb.DB, edits ...catalog.Edit) []catalog.Change {
	t.Helper()
	changes, err := db.Edit(t.Context(), edits, false)
	if err != nil {
		t.Fatalf("edit: %v", err)
	}
	return changes
}

// A hold keeps its portions and its price whatever the operator does meanwhile.
func TestEdit_UnderAHold(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	held := reserve(t, db, request("k", "ann", line("food-001", 2)))
	_, err := db.Edit(t.Context(), []catalog.Edit{{ID: "food-001", Stock: ptr(1)}}, false)
	wantCode(t, err, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), "2 that are held") {
		t.Errorf("got %v, want how many are held", err)
	}
	edit(t, db, catalog.Edit{ID: "food-001", Stock: ptr(2), Price: ptr("99.00"), Name: ptr("别的菜"), Weekdays: []int{}})
	if got := stock(t, db, "food-001"); got != 0 {
		t.Errorf("for sale: got %d, want 0", got)
	}
	checkBooks(t, db)
	got, err := db.Commit(t.Context(), "k")
	wantState(t, got, err, catalog.Committed)
	if got.Lines[0].UnitFen != held.Lines[0].UnitFen {
		t.Errorf("sold at %d, held at %d", got.Lines[0].UnitFen, held.Lines[0].UnitFen)
	}
	edit(t, db, catalog.Edit{ID: "food-001", Add: ptr(5)})
	if got := stock(t, db, "food-001"); got != 5 {
		t.Errorf("for sale: got %d, want 5", got)
	}
	got, err = db.Return(t.Context(), "k")
	wantState(t, got, err, catalog.Returned)
	checkBooks(t, db)
}

func TestEdit_AllOrNothing(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	before, err := db.Shelves(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good := catalog.Edit{ID: "food-001", Stock: ptr(7), PriceFen: ptr(int64(1))}
	if _, err := db.Edit(t.Context(), []catalog.Edit{good, {ID: "food-002", Stock: ptr(-1)}}, false); err == nil {
		t.Error("a mistake was taken")
	}
	if changes, err := db.Edit(t.Context(), []catalog.Edit{good}, true); err != nil || len(changes[0].Fields) != 2 {
		t.Errorf("dry: got %+v, %v", changes, err)
	}
	after, err := db.Shelves(t.Context())
	if err != nil || after[0].Stock != before[0].Stock || after[0].PriceFen != before[0].PriceFen {
		t.Errorf("got %+v, %v, want nothing changed", after[0], err)
	}
	checkBooks(t, db)
}

func TestEdit_AddsRenamesAndCounts(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	reserve(t, db, request("late", "ann", line("food-003", 3)))
	clock.move(time.Hour) // the hold is over, though nobody has swept it
	changes := edit(
		t, db,
		catalog.Edit{
			ID: "own-1", Name: ptr("番茄面"), NameEn: ptr("Tomato noodles"), Category: ptr(catalog.Staple), Price: ptr("12.00"), Stock: ptr(9), Weekdays: []int{1},
		},
		catalog.Edit{ID: "food-001", Name: ptr("米饭"), NameEn: ptr("Steamed rice")}, // these two change places
		catalog.Edit{ID: "food-002", Name: ptr("水煮牛肉"), NameEn: ptr("Sichuan boiled beef")},
		catalog.Edit{ID: "food-003", Stock: ptr(0)},
	)
	if !changes[0].Added || changes[1].Added || changes[3].Held != 0 {
		t.Errorf("got %+v", changes)
	}
	d, err := db.Dish(t.Context(), "own-1")
	if err != nil || d.Stock != 9 || d.PriceFen != 1200 || d.Allergens == nil {
		t.Errorf("got %+v, %v", d, err)
	}
	if d, err := db.Dish(t.Context(), "food-002"); err != nil || d.Name != "水煮牛肉" {
		t.Errorf("got %+v, %v", d, err)
	}
	checkBooks(t, db)
}

// Many restocks beside many orders: each portion is counted once.
func TestEdit_BesideOrders(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { edit(t, db, catalog.Edit{ID: "food-001", Add: ptr(1)}) })
		wg.Go(func() {
			if _, err := db.Deduct(t.Context(), catalog.Request{Lines: []catalog.Wanted{line("food-001", 1)}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := stock(t, db, "food-001"); got != 40 {
		t.Errorf("got %d, want 40", got)
	}
	checkBooks(t, db)
}

func TestInvariant_HasTeeth(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"stock":            `UPDATE dishes SET available = available + 1 WHERE id = 'food-002'`,
		"price":            `UPDATE dishes SET price_fen = 1 WHERE id = 'food-001'`,
		"a lost sale":      `UPDATE reservations SET state = 'RELEASED'`,
		"an invented sale": `INSERT INTO stock_ledger (dish_id, delta, why, ts) VALUES ('food-002', -1, 'restock', 0)`,
	} {
		path := filepath.Join(t.TempDir(), "catalog.db")
		db := openAt(t, path, newClock())
		edit(t, db, catalog.Edit{ID: "food-001", Price: ptr("99.00"), Add: ptr(3)})
		if _, err := db.Deduct(t.Context(), catalog.Request{Lines: []catalog.Wanted{line("food-001", 1)}}); err != nil {
			t.Fatal(err)
		}
		checkBooks(t, db)
		raw, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		_ = raw.Close()
		if err := db.Invariant(t.Context()); err == nil {
			t.Errorf("%s: nothing was found", name)
		}
	}
}
