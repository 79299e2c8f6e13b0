package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// mustRun runs a command line that must succeed.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := run(args...)
	if status != 0 {
		t.Fatalf("agentmesh %s: %d %s%s", strings.Join(args, " "), status, out, errs)
	}
	return out
}

// The catalog's commands do the same through the running program and on the database of a stopped one.
func TestCatalogCommand(t *testing.T) {
	t.Parallel()
	for _, while := range []string{"running", "stopped", "split", "with a peer"} {
		t.Run(while, func(t *testing.T) {
			t.Parallel()
			var a *app.App
			var dir string
			switch while {
			case "split":
				dir, a = serving(t, func(c *app.Config) { c.Splits = []string{"mcp=:0"} })
			case "with a peer":
				_, catalog := serving(t, func(c *app.Config) { c.Modules, c.InternalKey = []string{"mcp"}, internalSecret })
				dir, a = serving(t, func(c *app.Config) {
					c.Modules, c.Peers, c.InternalKey = []string{"food"}, []string{"mcp=http://" + catalog.Addr()}, internalSecret
				})
			default:
				dir, a = serving(t, withKeys)
			}
			if while == "stopped" {
				if err := a.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			in := []string{"--data", dir}
			wantWords(t, "price", mustRun(t, append(in, "catalog", "price", "food-001", "33.5")...), "price: 32.00 → 33.50", "1 changed, 0 added")
			wantWords(t, "restock", mustRun(t, append(in, "catalog", "restock", "food-001", "20")...), "stock: 40 → 20")
			wantWords(t, "restock +", mustRun(t, append(in, "catalog", "restock", "food-001", "+5")...), "stock: 20 → 25")
			wantWords(t, "dry", mustRun(t, append(in, "catalog", "restock", "food-001", "7", "--dry-run")...), "stock: 25 → 7", "1 would be changed")
			wantWords(t, "again", mustRun(t, append(in, "catalog", "restock", "food-001", "25")...), "is so already", "0 changed")
			list := mustRun(t, append(in, "catalog", "list")...)
			wantWords(t, "list", list, "food-001   水煮牛肉        33.50       25     0  1 2 3 4 5 6 7  Sichuan boiled beef")
			for _, wrong := range [][]string{{"price", "food-001", "1,5"}, {"price", "none", "1"}, {"restock", "food-001", "many"}, {"restock", "food-001", "-1"}, {"restock", "none", "1"}} {
				if status, out, _ := run(append(append(in, "catalog"), wrong...)...); status != 1 || strings.Contains(out, "changed") {
					t.Errorf("%v: got %d %s", wrong, status, out)
				}
			}
			importDishes(t, dir)
		})
	}
}

// importDishes takes the list out, changes it, and puts it in again.
func importDishes(t *testing.T, dir string) {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(mustRun(t, "catalog", "list", "--json", "--data", dir)), &list); err != nil || len(list) < 24 {
		t.Fatalf("got %d dishes, %v", len(list), err)
	}
	file := filepath.Join(t.TempDir(), "dishes.json")
	put := func() string {
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, string(raw))
		return file
	}
	wantWords(t, "the same list", mustRun(t, "catalog", "import", put(), "--data", dir), "0 changed, 0 added")
	list[0]["stock"], list[1]["price"], list[1]["priceFen"] = -1, "2,50", nil
	list[2]["weekday"] = 1
	status, out, errs := run("catalog", "import", put(), "--data", dir)
	wantWords(t, "mistakes", errs, "dish 1 (food-001): stock", "dish 2 (food-002): priceFen: null", `dish 3 (food-003): a dish has no "weekday"`, "nothing was changed")
	if status != 1 || out != "" {
		t.Errorf("got %d %q", status, out)
	}
	table := filepath.Join(t.TempDir(), "dishes.csv")
	writeFile(t, table, "id,name,nameEn,category,price,stock,weekdays,tags\nfood-002,,,,2.50,,,\nown-1,番茄面,Tomato noodles,staple,12.00,9,1;2,面;noodles\n")
	wantWords(t, "dry", mustRun(t, "catalog", "import", table, "--dry-run", "--data", dir), "1 would be changed, 1 would be added")
	wantWords(t, "csv", mustRun(t, "catalog", "import", table, "--data", dir), "price: 2.00 → 2.50", "own-1 番茄面\n  new", "1 changed, 1 added")
	wantWords(t, "list", mustRun(t, "catalog", "list", "--data", dir), "own-1", "12.00        9     0  1 2            Tomato noodles")
	for path, want := range map[string]string{file + ".none": "no such file", t.TempDir(): "import"} {
		if status, _, errs := run("catalog", "import", path, "--data", dir); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: got %d %s", path, status, errs)
		}
	}
}

func TestCatalogCommand_NoCatalog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "nowhere")
	if status, _, errs := run("catalog", "list", "--data", dir); status != 1 || !strings.Contains(errs, "there is no catalog in the data folder "+dir) {
		t.Errorf("got %d %s", status, errs)
	}
	if files, _ := filepath.Glob(dir); len(files) > 0 {
		t.Error("looking made the folder")
	}
}

// Whatever the operator does while a question is open, nothing is sold at another price
// than the person saw, nor more than there is, and the books agree.
func TestCatalogCommand_UnderAnOpenQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		asked   int // what the person is asked about in the end, in fen
	}{
		"the price": {[]string{"price", "food-001", "99.00"}, 9900},
		"the stock": {[]string{"restock", "food-001", "1"}, 3200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := meshtest.Processes.Start(t, meshtest.Options{})
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			q := talk.Question()
			if status, _, errs := run("catalog", "restock", "food-001", "0", "--data", m.Dir); status != 1 || !strings.Contains(errs, "fewer than the 1 that are held") {
				t.Errorf("below what is held: got %d %s", status, errs)
			}
			wantWords(t, "list", mustRun(t, "catalog", "list", "--data", m.Dir), "32.00       40     1  1 2")
			mustRun(t, append([]string{"catalog", "--data", m.Dir}, c.command...)...)
			status, body := talk.Decide("confirm", q)
			if c.asked != 3200 {
				if status != http.StatusConflict || !strings.Contains(body, "confirmation_replaced") {
					t.Fatalf("a yes to the old price: %d %s, want a new question", status, body)
				}
				q = talk.Question()
				status, body = talk.Decide("confirm", q)
			}
			if status != http.StatusOK || !strings.Contains(string(q.Summary), fmt.Sprintf(`"totalFen":%d`, c.asked)) {
				t.Fatalf("confirm: %d %s of %s", status, body, q.Summary)
			}
			talk.Rest()
			var list struct {
				Items []struct {
					Status   string
					TotalFen int
				}
			}
			m.Get("ann", "/api/v1/orders", &list)
			if len(list.Items) != 1 || list.Items[0].TotalFen != c.asked || list.Items[0].Status != "CONFIRMED" {
				t.Errorf("orders: %+v, want the one that was shown", list.Items)
			}
			if left := stock(t, m, "food-001"); name == "the stock" && left != 0 {
				t.Errorf("left %d", left)
			}
			m.Stop()
			checkBooks(t, m.Dir)
		})
	}
}
