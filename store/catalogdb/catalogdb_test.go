package catalogdb_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSchema_Golden(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), must(fs.Sub(os.DirFS("."), "migrations")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	got, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "schema.sql")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
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

func must(f fs.FS, err error) fs.FS {
	if err != nil {
		panic(err)
	}
	return f
}

func TestOpen_SeedsOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	clock := newClock()
	db := openAt(t, path, clock)
	reserve(t, db, request("k", "anna", line("food-001", 3)))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, clock)
	if got := stock(t, db, "food-001"); got != 37 {
		t.Errorf("got %d, want the stock that was left: 37", got)
	}
	got, err := db.Reservation(t.Context(), "k")
	wantState(t, got, err, catalog.Held)
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	checkBooks(t, db)
}

func TestOpen_InUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	openAt(t, path, newClock())
	if _, err := store.Open(t.Context(), path, must(fs.Sub(os.DirFS("."), "migrations"))); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}

func TestDish(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	d, err := db.Dish(t.Context(), "food-001")
	if err != nil || d.Name != "水煮牛肉" || d.PriceFen != 3200 || !d.Spicy || len(d.Weekdays) != 7 {
		t.Errorf("got %+v, %v", d, err)
	}
	_, err = db.Dish(t.Context(), "nope")
	wantCode(t, err, fault.NotFound)
}

// TestSeed_IsACanteen checks what the demo's menu promises.
func TestSeed_IsACanteen(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	dishes, err := db.Dishes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(dishes) < 24 {
		t.Errorf("got %d dishes, want at least 24", len(dishes))
	}
	for _, d := range dishes {
		switch {
		case d.Description == "" || d.DescriptionEn == "" || len(d.Tags) == 0 || len(d.Weekdays) == 0 || d.Category.Words() == nil:
			t.Errorf("%s is incomplete: %+v", d.ID, d)
		case d.Stock < 20 || d.Stock > 60 || d.PriceFen <= 0 || d.PriceFen > 10000:
			t.Errorf("%s: got stock %d, price %d", d.ID, d.Stock, d.PriceFen)
		case d.Vegetarian && (d.Category == catalog.Meat || d.Category == catalog.Seafood):
			t.Errorf("%s is %s and vegetarian", d.ID, d.Category)
		case !slices.IsSorted(d.Weekdays) || d.Weekdays[0] < 1 || d.Weekdays[len(d.Weekdays)-1] > 7:
			t.Errorf("%s: got weekdays %v", d.ID, d.Weekdays)
		}
	}
	for weekday := 1; weekday <= 7; weekday++ {
		var spicy, mild, vegetarian int
		categories := map[catalog.Category]bool{}
		for _, d := range dishes {
			if !d.On(weekday) {
				continue
			}
			categories[d.Category] = true
			if d.Vegetarian {
				vegetarian++
			}
			if d.Spicy {
				spicy++
			} else {
				mild++
			}
		}
		if spicy+mild < 8 || spicy == 0 || mild == 0 || vegetarian == 0 || len(categories) != 7 {
			t.Errorf("weekday %d: got %d spicy, %d mild, %d vegetarian, %d categories", weekday, spicy, mild, vegetarian, len(categories))
		}
	}
	peanuts := slices.IndexFunc(dishes, func(d catalog.Dish) bool { return d.Name == "宫保鸡丁" })
	if peanuts < 0 || !slices.Contains(dishes[peanuts].Allergens, "花生") {
		t.Error("宫保鸡丁 does not warn of peanuts")
	}
}
