package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
)

func shelf(id string, fen int64, available, held int) catalog.Shelf {
	return catalog.NewShelf(catalog.Dish{
		ID: id, Name: "菜" + id, NameEn: "Dish " + id, Category: catalog.Soup, PriceFen: fen, Stock: available, Weekdays: []int{1},
	}, held)
}

func ptr[T any](v T) *T { return &v }

func TestPlan(t *testing.T) {
	t.Parallel()
	now := []catalog.Shelf{shelf("a", 1000, 8, 2), shelf("b", 500, 5, 0)}
	changes, err := catalog.Plan(now, []catalog.Edit{
		{ID: "a", Stock: ptr(20), Price: ptr("12.50")},
		{ID: "b", Add: ptr(7), Weekdays: []int{}},
	})
	if err != nil || len(changes) != 2 {
		t.Fatalf("got %+v, %v", changes, err)
	}
	a, b := changes[0], changes[1]
	if a.After.Stock != 18 || a.After.PriceFen != 1250 || a.Held != 2 || len(a.Fields) != 2 || a.Fields[0] != (catalog.Field{Name: "price", From: "10.00", To: "12.50"}) ||
		a.Fields[1] != (catalog.Field{Name: "stock", From: "10", To: "20"}) {
		t.Errorf("a: got %+v", a)
	}
	if b.After.Stock != 12 || len(b.After.Weekdays) != 0 || b.After.Name != "菜b" {
		t.Errorf("b: got %+v", b)
	}
	if same, err := catalog.Plan(now, []catalog.Edit{{ID: "a", Stock: ptr(10), PriceFen: ptr(int64(1000))}}); err != nil || len(same[0].Fields) != 0 {
		t.Errorf("nothing new: got %+v, %v", same, err)
	}
	if swap, err := catalog.Plan(now, []catalog.Edit{{ID: "a", Name: ptr("菜b")}, {ID: "b", Name: ptr("菜a")}}); err != nil || len(swap) != 2 {
		t.Errorf("names that change places: got %v", err)
	}
}

func TestPlan_ReportsEveryMistake(t *testing.T) {
	t.Parallel()
	now := []catalog.Shelf{shelf("a", 1000, 8, 2), shelf("b", 500, 5, 0)}
	_, err := catalog.Plan(now, []catalog.Edit{
		{Place: "line 2", ID: "a", Stock: ptr(1), Category: ptr(catalog.Category("cake"))},
		{ID: "b", Name: ptr("菜a"), Weekdays: []int{1, 1}},
		{ID: "b"},
		{ID: "../x"},
		{ID: "new", Price: ptr("1,5")},
		{ID: "c", Name: ptr(" x"), NameEn: ptr(""), Description: ptr("a\x1b[2Jb"), PriceFen: ptr(int64(-5)), Stock: ptr(-1), Category: ptr(catalog.Drink), Weekdays: []int{8}},
	})
	for _, want := range []string{
		"line 2 (a): stock: 1 portions on hand are fewer than the 2 that are held", `line 2 (a): category: "cake"`, "name 菜a: a and b",
		"dish 2 (b): weekdays", "dish 3 (b): the same dish stands at dish 2", "dish 4 (../x): an id", "dish 5 (new): no dish has this id, and a new one needs name, nameEn, category, stock, weekdays",
		"dish 5 (new): price: \"1,5\"", "dish 6 (c): name:", `dish 6 (c): "a\x1b[2Jb": it holds a control character`, "dish 6 (c): nameEn:", "dish 6 (c): price: -0.05", "dish 6 (c): stock: -1", "dish 6 (c): weekdays",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the mistakes lack %q:\n%v", want, err)
		}
	}
	wantCode(t, err, fault.Invalid)
	_, err = catalog.Plan(now, make([]catalog.Edit, catalog.MaxEdits+1))
	wantCode(t, err, fault.TooLarge)
	_, err = catalog.Plan(now, []catalog.Edit{{ID: "a", Add: ptr(1 << 62)}})
	wantCode(t, err, fault.Invalid)
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want || err == nil {
		t.Errorf("got %v, want a fault %q", err, want)
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	listed, err := json.Marshal([]catalog.Shelf{shelf("a", 1000, 8, 2)})
	if err != nil {
		t.Fatal(err)
	}
	edits, err := catalog.ReadJSON(listed)
	if err != nil || len(edits) != 1 || *edits[0].Stock != 10 || *edits[0].Price != "10.00" {
		t.Fatalf("what the list shows is no file: %+v, %v", edits, err)
	}
	if changes, err := catalog.Plan([]catalog.Shelf{shelf("a", 1000, 8, 2)}, edits); err != nil || len(changes[0].Fields) != 0 {
		t.Errorf("the list, unchanged, changes %+v, %v", changes, err)
	}
	edits, err = catalog.ReadJSON([]byte(`[
		{"id": "a", "stock": 2.5, "colour": "red", "name": null},
		{"id": "b", "tags": "x", "add": 3},
		7,
		{"id": "c", "stock": 3}]`))
	for _, want := range []string{
		"dish 1 (a): stock: 2.5 is not a whole number", `dish 1 (a): a dish has no "colour"`, "dish 1 (a): name: null is not text",
		`dish 2 (b): tags: "x" is not a list`, `dish 2 (b): a dish has no "add"`, "dish 3: it is not a dish",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the mistakes lack %q:\n%v", want, err)
		}
	}
	if len(edits) != 1 || edits[0].ID != "c" {
		t.Errorf("got %+v, want the one good dish", edits)
	}
	for text, want := range map[string]string{"[\n{\"id\":\n}]": "line 3", `{"id": "a"}`: "list of dishes", "": "line 1"} {
		if _, err := catalog.ReadJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestReadCSV(t *testing.T) {
	t.Parallel()
	edits, err := catalog.ReadCSV([]byte("\ufeffid, name,price,stock,spicy,allergens,weekdays\na,\"红,烧\",32.50,7,TRUE,大豆; soy,1;2；3\nb,,,,,,\n"))
	if err != nil || len(edits) != 2 {
		t.Fatalf("got %+v, %v", edits, err)
	}
	a, b := edits[0], edits[1]
	if a.Place != "line 2" || *a.Name != "红,烧" || *a.Price != "32.50" || *a.Stock != 7 || !*a.Spicy || len(a.Allergens) != 2 || len(a.Weekdays) != 3 {
		t.Errorf("got %+v", a)
	}
	if b.ID != "b" || b.Name != nil || b.Stock != nil || b.Weekdays != nil {
		t.Errorf("empty cells: got %+v", b)
	}
	for text, want := range map[string]string{
		"id,name\na,\xc4\xe3\xba\xc3\n":           "it is not UTF-8",
		"id,colour\na,red\n":                      `line 1: there is no column "colour"`,
		"id,stock\na,many\nb,2.5\n":               `line 3 (b): stock: "2.5" is not a whole number`,
		"id,spicy,weekdays\na,perhaps,monday\n":   `line 2 (a): weekdays: ["monday"] is not a list of whole numbers`,
		"id,stock\na\n":                           "line 2: it has 1 cells and the first line 2",
		"id,name\n\"a\nb\",x\nc,y\nd,\"open\n":    "line",
		"":                                        "first line",
		"id,stock\na,1\n\nb,99999999999999999999": "line 4 (b): stock",
	} {
		if _, err := catalog.ReadCSV([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzReadFiles(f *testing.F) {
	f.Add([]byte(`[{"id":"a","stock":1,"weekdays":[1]}]`))
	f.Add([]byte("id,price,tags\na,1.00,x;y\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, read := range []func([]byte) ([]catalog.Edit, error){catalog.ReadJSON, catalog.ReadCSV} {
			edits, _ := read(file)
			changes, err := catalog.Plan([]catalog.Shelf{shelf("a", 1000, 8, 2)}, edits)
			for _, c := range changes {
				if err == nil && (c.After.Stock < 0 || c.After.PriceFen < 0) {
					t.Errorf("planned %+v", c.After)
				}
			}
		}
	})
}
