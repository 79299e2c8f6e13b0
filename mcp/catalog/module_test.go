package catalog_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp"
	"agentmesh/mcp/catalog"
)

// fakeStore answers what a test tells it to; stock is tested on the real database, in store/catalogdb.
type fakeStore struct {
	catalog.Store
	dishes      []catalog.Dish
	reserveFunc func(catalog.Request) (catalog.Reservation, error)
	deductFunc  func(catalog.Request) (catalog.Reservation, error)
	expires     atomic.Int64
}

func (f *fakeStore) Dishes(context.Context) ([]catalog.Dish, error) { return f.dishes, nil }

func (f *fakeStore) Dish(_ context.Context, id string) (catalog.Dish, error) {
	for _, d := range f.dishes {
		if d.ID == id {
			return d, nil
		}
	}
	return catalog.Dish{}, fault.New(fault.NotFound, "no dish has the id %q", id)
}

func (f *fakeStore) Reserve(_ context.Context, r catalog.Request) (catalog.Reservation, error) {
	return f.reserveFunc(r)
}

func (f *fakeStore) Deduct(_ context.Context, r catalog.Request) (catalog.Reservation, error) {
	return f.deductFunc(r)
}

func (f *fakeStore) Expire(context.Context, time.Time) (int, error) {
	f.expires.Add(1)
	return 0, nil
}

func (f *fakeStore) Ping(context.Context) error { return context.DeadlineExceeded }

func menu() []catalog.Dish {
	everyDay := []int{1, 2, 3, 4, 5, 6, 7}
	return []catalog.Dish{
		{ID: "food-001", Name: "水煮牛肉", NameEn: "Sichuan boiled beef", Category: catalog.Meat, PriceFen: 3200, Stock: 5, Spicy: true, Tags: []string{"川菜", "Sichuan"}, Weekdays: everyDay},
		{ID: "food-002", Name: "番茄炒蛋", NameEn: "Tomato and scrambled eggs", Category: catalog.Vegetable, PriceFen: 1400, Vegetarian: true, Tags: []string{"西红柿"}, Weekdays: []int{7}},
		{ID: "food-003", Name: "清蒸鲈鱼", NameEn: "Steamed sea bass", Category: catalog.Seafood, Description: "清淡不油", Weekdays: []int{1}},
		{ID: "food-004", Name: "地三鲜", NameEn: "Eggplant and potato", Category: catalog.Vegetable, Vegetarian: true, Weekdays: []int{7}},
	}
}

func serve(t *testing.T, store catalog.Store) *mcp.Client {
	t.Helper()
	now := time.Date(2026, 11, 29, 4, 0, 0, 0, time.UTC) // a Sunday
	m := catalog.New(store, catalog.Options{
		Location: time.FixedZone("CST", 8*3600),
		Now:      func() time.Time { return now },
		CanWrite: func(*http.Request) bool { return true },
	})
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	client := mcp.NewClient(srv.URL+catalog.Path, srv.Client())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func call[T any](t *testing.T, c *mcp.Client, name string, args any) T {
	t.Helper()
	raw, err := c.CallTool(t.Context(), name, args)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

type found struct {
	Dishes []catalog.Dish
	Total  int
}

func TestSearch(t *testing.T) {
	t.Parallel()
	client := serve(t, &fakeStore{dishes: menu()})
	for _, c := range []struct{ query, category, want string }{
		{"", "", "001 002 003 004"},
		{"有什么菜", "", "001 002 003 004"},
		{"", "vegetable", "002 004"},
		{"水煮牛肉", "", "001"},
		{"牛肉", "", "001"},
		{"辣的", "", "001"},
		{"辣的牛肉", "", "001"},
		{"辣 牛肉", "", "001"},
		{"不辣的", "", "002 003 004"},
		{"不辣的牛肉", "", ""},
		{"not spicy", "", "002 003 004"},
		{"non-spicy vegetarian dishes", "", "002 004"},
		{"Spicy BEEF", "", "001"},
		{"西红柿鸡蛋", "", ""}, // nothing says 鸡 here
		{"西红柿炒蛋", "", "002"},
		{"egg", "", "002"}, // eggs, not eggplant
		{"tomatoes", "", "002"},
		{"蔬菜", "", "002 004"},
		{"seafood", "", "003"},
		{"川菜", "", "001"},
		{"素菜", "", "002 004"},
		{"披萨", "", ""},
		{"pizza", "", ""},
		{"？！", "", ""},
		{"牛肉 鲈鱼", "", ""},
		{"%", "", ""},
	} {
		args := map[string]any{"query": c.query}
		if c.category != "" {
			args["category"] = c.category
		}
		got := call[found](t, client, "search_food_catalog", args)
		var ids []string
		for _, d := range got.Dishes {
			ids = append(ids, strings.TrimPrefix(d.ID, "food-"))
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%q %s: got %q, want %q", c.query, c.category, got, c.want)
		}
		if got.Total != len(got.Dishes) || got.Dishes == nil {
			t.Errorf("%q: got total %d of %v", c.query, got.Total, got.Dishes)
		}
	}
}

func TestSearch_Limit(t *testing.T) {
	t.Parallel()
	client := serve(t, &fakeStore{dishes: menu()})
	if got := call[found](t, client, "search_food_catalog", map[string]any{"limit": 2}); len(got.Dishes) != 2 || got.Total != 4 {
		t.Errorf("got %d of %d, want 2 of 4", len(got.Dishes), got.Total)
	}
	for _, args := range []map[string]any{{"limit": 0}, {"limit": 51}, {"limit": 1.5}, {"category": "pizza"}, {"query": 7}, {"colour": "red"}} {
		if _, err := client.CallTool(t.Context(), "search_food_catalog", args); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%v: got %v, want invalid", args, err)
		}
	}
}

func TestItem(t *testing.T) {
	t.Parallel()
	client := serve(t, &fakeStore{dishes: menu()})
	raw, err := client.CallTool(t.Context(), "get_food_item", map[string]any{"id": "food-001"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"price":"32.00"`, `"priceFen":3200`, `"spicy":true`, `"allergens":[]`, `"stock":5`, `"weekdays":[1,2,3,4,5,6,7]`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("got %s, want %s in it", raw, want)
		}
	}
	_, err = client.CallTool(t.Context(), "get_food_item", map[string]any{"id": "nope"})
	if fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.MessageOf(err), "nope") {
		t.Errorf("got %v, want not_found that names the id", err)
	}
}

func TestMenu(t *testing.T) {
	t.Parallel()
	client := serve(t, &fakeStore{dishes: menu()})
	for word, want := range map[string]string{"": "2026-11-29 3", "周日": "2026-11-29 3", "下周一": "2026-11-30 2", "saturday": "2026-12-05 1"} {
		got := call[catalog.Menu](t, client, "list_menu_by_day", map[string]any{"day": word})
		if got := got.Date + " " + string(rune('0'+len(got.Dishes))); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
	_, err := client.CallTool(t.Context(), "list_menu_by_day", map[string]any{"day": "周八"})
	if fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.MessageOf(err), "tomorrow") {
		t.Errorf("got %v, want a sentence the model can act on", err)
	}
}

func TestStockTools_Arguments(t *testing.T) {
	t.Parallel()
	var got catalog.Request
	keep := func(r catalog.Request) (catalog.Reservation, error) {
		got = r
		return catalog.Reservation{Key: r.Key, State: catalog.Held, Lines: []catalog.Line{}}, nil
	}
	client := serve(t, &fakeStore{reserveFunc: keep, deductFunc: keep})
	call[catalog.Reservation](t, client, "reserve_stock", map[string]any{
		"key": "k", "owner": "anna", "ttlSeconds": 900, "lines": []any{map[string]any{"dishId": "food-001", "quantity": 2}},
	})
	if got.Key != "k" || got.Owner != "anna" || got.TTL != 15*time.Minute || len(got.Lines) != 1 || got.Lines[0] != (catalog.Wanted{DishID: "food-001", Quantity: 2}) {
		t.Errorf("reserve_stock: got %+v", got)
	}
	call[catalog.Reservation](t, client, "deduct_stock", map[string]any{"dishId": "food-001", "quantity": 3, "key": "d"})
	if got.Key != "d" || got.Owner != "" || got.Lines[0].Quantity != 3 {
		t.Errorf("deduct_stock: got %+v", got)
	}
}

func TestModule_Sweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{}
		m := catalog.New(store, catalog.Options{})
		if err := m.Stop(t.Context()); err != nil {
			t.Errorf("stop before start: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := m.Start(ctx); err != nil {
			t.Fatal(err)
		}
		cancel() // the start is over, the module is not
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := store.expires.Load(); got != 7 {
			t.Errorf("got %d sweeps in a minute, want one at the start and six", got)
		}
		if err := m.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Ready(t.Context()); err == nil {
			t.Error("ready although the store is not")
		}
	})
}
