package catalogdb_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/mesh"
	"agentmesh/mcp"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

// module is the whole catalog, database to client, with the module on a pipe of the mesh.
// asOperator sends the operator's key.
type asOperator struct {
	key  string
	base *http.Transport
}

func (o asOperator) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set(mesh.HeaderOperator, o.key)
	return o.base.RoundTrip(out)
}

type module struct {
	db     *catalogdb.DB
	client *mcp.Client // with the internal key
	shop   *mcp.Client // with the operator's
	*catalog.Module
}

func start(t *testing.T, now func() time.Time) *module {
	t.Helper()
	db, err := catalogdb.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), catalogdb.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	network := mesh.NewNetwork("secret")
	m := catalog.New(db, catalog.Options{Location: time.FixedZone("CST", 8*3600), Now: now, CanWrite: network.HasKey, CanOperate: network.IsOperator})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: m.Handler()}
	listener := network.Listen(m.Name())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(listener) }()
	hc := &http.Client{Transport: network.Transport()}
	client := mcp.NewClient(network.BaseURL(m.Name())+catalog.Path, hc)
	oc := &http.Client{Transport: asOperator{network.OperatorKey(), &http.Transport{DialContext: network.DialContext}}}
	shop := mcp.NewClient(network.BaseURL(m.Name())+catalog.Path, oc)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
		hc.CloseIdleConnections()
		oc.Transport.(asOperator).base.CloseIdleConnections()
		_ = srv.Close()
		<-done
		if err := m.Stop(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &module{db: db, client: client, shop: shop, Module: m}
}

func (m *module) call(t *testing.T, name string, args any) catalog.Reservation {
	t.Helper()
	raw, err := m.client.CallTool(t.Context(), name, args)
	if err != nil {
		t.Fatal(err)
	}
	var out catalog.Reservation
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wanted(key string, lines ...catalog.Wanted) map[string]any {
	return map[string]any{"key": key, "owner": "anna", "lines": lines, "ttlSeconds": 900}
}

func TestWire_AnOrder(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	if err := m.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	held := m.call(t, "reserve_stock", wanted("run-1/0/1/1", line("food-001", 2)))
	if held.State != catalog.Held || held.ExpiresAt.IsZero() || len(held.Lines) != 1 {
		t.Errorf("got %+v, want HELD", held)
	}
	for _, step := range []struct {
		tool string
		want catalog.State
	}{
		{"get_reservation", catalog.Held},
		{"commit_reservation", catalog.Committed},
		{"commit_reservation", catalog.Committed},
		{"release_reservation", catalog.Committed},
		{"return_stock", catalog.Returned},
		{"return_stock", catalog.Returned},
	} {
		if got := m.call(t, step.tool, map[string]any{"key": "run-1/0/1/1"}); got.State != step.want {
			t.Errorf("%s: got %s, want %s", step.tool, got.State, step.want)
		}
	}
	if got := m.call(t, "deduct_stock", map[string]any{"dishId": "food-001", "quantity": 1}); got.State != catalog.Committed {
		t.Errorf("deduct_stock: got %+v", got)
	}
	_, err := m.client.CallTool(t.Context(), "reserve_stock", wanted("run-1/0/1/1", line("food-001", 3)))
	wantCode(t, err, fault.Conflict)
	_, err = m.client.CallTool(t.Context(), "commit_reservation", map[string]any{"key": "nope"})
	wantCode(t, err, fault.NotFound)
	checkBooks(t, m.db)
}

func TestWire_BoundsAreRefused(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	for _, quantity := range []any{0, -1, 2.5, 100000000, 21, "1"} {
		_, err := m.client.CallTool(t.Context(), "reserve_stock", map[string]any{
			"key": "k", "owner": "anna", "ttlSeconds": 900, "lines": []any{map[string]any{"dishId": "food-001", "quantity": quantity}},
		})
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("quantity %v: got %v, want invalid", quantity, err)
		}
	}
	_, err := m.client.CallTool(t.Context(), "reserve_stock", wanted("k"))
	wantCode(t, err, fault.Invalid)
	checkBooks(t, m.db)
}

func TestWire_Oversell(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	sellDownTo(t, m.db, "food-001", 5)
	var held, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			args := wanted("key-"+strconv.Itoa(i), line("food-001", 1))
			args["owner"] = "owner-" + strconv.Itoa(i)
			switch got := m.call(t, "reserve_stock", args); got.State {
			case catalog.Held:
				held.Add(1)
			case catalog.Refused:
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	if held.Load() != 5 || refused.Load() != 15 || stock(t, m.db, "food-001") != 0 {
		t.Errorf("got %d held, %d refused, want 5 and 15", held.Load(), refused.Load())
	}
	checkBooks(t, m.db)
}

func TestWire_PublicEndpointReadsOnly(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	public := mcp.NewClient(srv.URL+catalog.Path, srv.Client())
	t.Cleanup(func() { _ = public.Close() })
	names := func(c *mcp.Client) string {
		tools, err := c.ListTools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, tool := range tools {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	if got, want := names(public), "get_food_item list_menu_by_day search_food_catalog"; got != want {
		t.Errorf("got public tools %q, want %q", got, want)
	}
	if got := strings.Fields(names(m.client)); len(got) != 9 {
		t.Errorf("got tools %q with the key, want nine", got)
	}
	for tool, args := range map[string]any{
		"deduct_stock": map[string]any{"dishId": "food-001", "quantity": 1}, catalog.ToolShelves: map[string]any{},
		catalog.ToolEdit: catalog.Edits{Dishes: []catalog.Edit{{ID: "food-001", Stock: ptr(0)}}},
	} {
		_, err := public.CallTool(t.Context(), tool, args)
		wantCode(t, err, fault.NotFound)
	}
	if got := stock(t, m.db, "food-001"); got != 40 {
		t.Errorf("got %d, want nothing deducted", got)
	}
}

// The operator's tools over the wire: the whole list, and every mistake in one answer.
func TestWire_Operator(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	m.call(t, "reserve_stock", wanted("k", line("food-001", 2)))
	raw, err := m.shop.CallTool(t.Context(), catalog.ToolEdit, catalog.Edits{Dishes: []catalog.Edit{{ID: "food-001", Add: ptr(5), Tags: []string{}}}})
	var done catalog.Changes
	if err := errors.Join(err, json.Unmarshal(raw, &done)); err != nil || done.Changes[0].Held != 2 || len(done.Changes[0].Fields) != 2 {
		t.Fatalf("got %s, %v", raw, err)
	}
	raw, err = m.shop.CallTool(t.Context(), catalog.ToolShelves, map[string]any{})
	var list catalog.Shelves
	if err := errors.Join(err, json.Unmarshal(raw, &list)); err != nil || len(list.Shelves) < 24 {
		t.Fatalf("got %s, %v", raw, err)
	}
	if s := list.Shelves[0]; s.ID != "food-001" || s.Stock != 45 || s.Held != 2 || s.Price != "32.00" || len(s.Tags) != 0 {
		t.Errorf("got %+v", s)
	}
	_, err = m.shop.CallTool(t.Context(), catalog.ToolEdit, catalog.Edits{Dishes: []catalog.Edit{{ID: "food-001", Stock: ptr(1)}, {ID: "x"}}})
	wantCode(t, err, fault.Invalid)
	if text := fault.MessageOf(err); !strings.Contains(text, "dish 1 (food-001): stock") || !strings.Contains(text, "dish 2 (x)") {
		t.Errorf("got %q, want both mistakes", text)
	}
	// Neither does the mesh's own work, nor is the mesh the operator.
	_, err = m.shop.CallTool(t.Context(), "reserve_stock", wanted("k2", line("food-001", 1)))
	wantCode(t, err, fault.NotFound)
	_, err = m.client.CallTool(t.Context(), catalog.ToolShelves, map[string]any{})
	wantCode(t, err, fault.NotFound)
	checkBooks(t, m.db)
}

// TestWire_SweeperInABubble runs the whole module, database and all, on a clock that does not wait.
func TestWire_SweeperInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := start(t, time.Now)
		if got := m.call(t, "reserve_stock", wanted("k", line("food-001", 2))); got.State != catalog.Held {
			t.Fatalf("got %+v", got)
		}
		time.Sleep(15*time.Minute - time.Second)
		if got := stock(t, m.db, "food-001"); got != 38 {
			t.Errorf("before the time: got %d, want 38", got)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got := stock(t, m.db, "food-001"); got != 40 {
			t.Errorf("after the time: got %d, want 40", got)
		}
		if got := m.call(t, "commit_reservation", map[string]any{"key": "k"}); got.State != catalog.Expired {
			t.Errorf("got %s, want EXPIRED", got.State)
		}
		checkBooks(t, m.db)
	})
}

// TestWire_SearchOfTheRealMenu checks queries as models and people write them.
func TestWire_SearchOfTheRealMenu(t *testing.T) {
	t.Parallel()
	m := start(t, newClock().now)
	for query, want := range map[string]string{
		"水煮牛肉": "水煮牛肉", "boiled beef": "水煮牛肉", "不辣的鱼": "清蒸鲈鱼", "辣的虾": "香辣虾", "素汤": "番茄豆腐汤", "vegetarian soup": "番茄豆腐汤",
		"清淡": "白切鸡", "甜品": "芒果布丁", "noodles": "葱油拌面", "豆腐": "麻婆豆腐", "西红柿鸡蛋": "番茄炒蛋", "有没有饺子": "猪肉白菜水饺", "peanuts": "宫保鸡丁",
	} {
		raw, err := m.client.CallTool(t.Context(), "search_food_catalog", map[string]any{"query": query})
		if err != nil || !strings.Contains(string(raw), `"name":"`+want+`"`) {
			t.Errorf("%s: got %.200s, %v, want %s in it", query, raw, err, want)
		}
	}
	raw, err := m.client.CallTool(t.Context(), "search_food_catalog", map[string]any{"query": "不辣", "limit": 50})
	if err != nil || strings.Contains(string(raw), `"spicy":true`) || !strings.Contains(string(raw), `"spicy":false`) {
		t.Errorf("不辣: got %.200s, %v", raw, err)
	}
}
