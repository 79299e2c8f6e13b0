package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/mcp"
)

// stock reads a dish's stock through the catalog's own endpoint, as any MCP client would.
func stock(t *testing.T, m *meshtest.Mesh, id string) int {
	t.Helper()
	client := mcp.NewClient(m.CatalogURL(), m.Client())
	defer func() { _ = client.Close() }()
	raw, err := client.CallTool(context.Background(), "get_food_item", map[string]string{"id": id})
	if err != nil {
		t.Fatalf("get_food_item %s: %v", id, err)
	}
	var dish struct{ Stock int }
	if err := json.Unmarshal(raw, &dish); err != nil {
		t.Fatalf("get_food_item %s: %v in %s", id, err, raw)
	}
	return dish.Stock
}

type orderView struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Reason   string `json:"reason"`
	Total    string `json:"total"`
	TotalFen int64  `json:"totalFen"`
	Note     string `json:"note"`
	Lines    []struct {
		DishID   string `json:"dishId"`
		Name     string `json:"name"`
		Quantity int    `json:"quantity"`
		UnitFen  int64  `json:"unitFen"`
		Note     string `json:"note"`
	} `json:"lines"`
}

// openQuestion reads a user's one open question by REST.
func openQuestion(m *meshtest.Mesh, user string) agent.Confirmation {
	var out struct{ Items []agent.Confirmation }
	m.Get(user, "/api/v1/confirmations?status=open", &out)
	if len(out.Items) == 0 {
		return agent.Confirmation{}
	}
	return out.Items[0]
}

func orders(m *meshtest.Mesh, user string) []orderView {
	var out struct{ Items []orderView }
	m.Get(user, "/api/v1/orders", &out)
	return out.Items
}

func audited(m *meshtest.Mesh, user, runID string) []string {
	var out struct {
		Items []struct{ Capability, Status string }
	}
	m.Get(user, "/api/v1/audit?runId="+runID, &out)
	var list []string
	for _, r := range out.Items {
		list = append(list, r.Capability+" "+r.Status)
	}
	return list
}

// keys reads one column of a database of a stopped mesh.
func keys(t *testing.T, path, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		out = append(out, key)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkBooks compares the two databases of a stopped mesh as doctor does. No order may be unsettled.
func checkBooks(t *testing.T, dir string) {
	t.Helper()
	if err := app.CheckBooks(context.Background(), dir); err != nil {
		t.Error(err)
	}
	if open := keys(t, filepath.Join(dir, "orchestrator.db"), `SELECT id FROM orders WHERE status = 'PLACING'`); len(open) > 0 {
		t.Errorf("unsettled orders: %v", open)
	}
}

func TestOrderConfirmed(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	if !strings.Contains(string(q.Summary), `"total":"32.00"`) {
		t.Errorf("the card shows %s, want a total of 32.00", q.Summary)
	}
	if got := stock(t, m, "food-001"); got != before-1 {
		t.Errorf("stock while the question is open: got %d, want %d held", got, before-1)
	}
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Fatalf("confirm: %d %s", status, body)
	}
	talk.Rest()
	if last := talk.Last(); last.Type != agui.RunFinished {
		t.Fatalf("the run ended with %s %s", last.Type, last.Message)
	}
	list := orders(m, "ann")
	if len(list) != 1 || list[0].Status != "CONFIRMED" || list[0].Total != "32.00" {
		t.Fatalf("orders: %+v, want one CONFIRMED for 32.00", list)
	}
	if !strings.Contains(talk.Text(), list[0].ID) || !strings.Contains(talk.Text(), "32.00") {
		t.Errorf("the answer %q names neither order nor total", talk.Text())
	}
	if got := stock(t, m, "food-001"); got != before-1 {
		t.Errorf("stock: got %d, want %d", got, before-1)
	}
	got := audited(m, "ann", talk.RunID)
	for _, want := range []string{"quote_order SUCCESS", "reserve_stock SUCCESS", "commit_reservation SUCCESS", "place_order SUCCESS"} {
		if !slices.Contains(got, want) {
			t.Errorf("audit %q lacks %q", got, want)
		}
	}
	if status, _ := talk.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("confirm again: %d, want 200", status)
	}
	if status, _ := talk.Decide("reject", q); status != http.StatusConflict {
		t.Errorf("reject after confirm: %d, want 409", status)
	}
	if n := len(orders(m, "ann")); n != 1 {
		t.Errorf("orders after repeats: %d", n)
	}
	m.Stop()
	checkBooks(t, m.Dir)
}

func TestOrderRejected(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "Order one Sichuan boiled beef, please.")
	if status, body := talk.Decide("reject", talk.Question()); status != http.StatusOK {
		t.Fatalf("reject: %d %s", status, body)
	}
	talk.Rest()
	list := orders(m, "ann")
	if len(list) != 1 || list[0].Status != "REJECTED" || list[0].Reason != "rejected" {
		t.Errorf("orders: %+v, want one REJECTED", list)
	}
	awaitStock(t, m, before)
	if talk.Last().Type != agui.RunFinished || talk.Text() == "" {
		t.Errorf("a rejection ends with %s and says %q", talk.Last().Type, talk.Text())
	}
	if got := audited(m, "ann", talk.RunID); !slices.Contains(got, "place_order DENIED") {
		t.Errorf("audit %q lacks place_order DENIED", got)
	}
	for filter, want := range map[string]bool{
		"&capability=place_order&status=DENIED&stage=confirm": true, "&status=SUCCESS&capability=quote_order": true,
		"&status=SUCCESS&capability=place_order": false, "&stage=resolve": false,
	} {
		if got := audited(m, "ann", talk.RunID+filter); (len(got) == 1) != want {
			t.Errorf("audit with %s: got %q, want one: %v", filter, got, want)
		}
	}
}

// awaitStock waits until the outbox has given a hold back.
func awaitStock(t *testing.T, m *meshtest.Mesh, want int) {
	t.Helper()
	got := -1
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if got = stock(t, m, "food-001"); got == want {
			return
		}
	}
	t.Errorf("stock: got %d, want %d back", got, want)
}

func TestTwoDishesAreOneCard(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "来两份水煮牛肉和一份米饭")
	q := talk.Question()
	var summary struct {
		Lines []struct {
			Name     string
			Quantity int
		}
		Total string
	}
	if err := json.Unmarshal(q.Summary, &summary); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(summary.Lines) != "[{水煮牛肉 2} {米饭 1}]" || summary.Total != "66.00" {
		t.Errorf("card: %s", q.Summary)
	}
	talk.Decide("confirm", q)
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || len(list[0].Lines) != 2 || list[0].Total != "66.00" {
		t.Errorf("orders: %+v, want one with two lines for 66.00", list)
	}
}

// F-22: an explicit order of what the person does not eat is possible, with a warning on the card.
func TestPreferenceWarnsAndGuides(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	m.Ask("ann", "t1", "记住我不吃辣。")
	recommended := m.Ask("ann", "t2", "结合我的偏好推荐一道菜。")
	if got := strings.Join(recommended.Tools(), " "); got != "recall_preferences recommend_food" {
		t.Errorf("tools: %s", got)
	}
	for _, result := range recommended.Results() {
		var r struct {
			Recommendations []struct{ Dish struct{ Spicy bool } }
		}
		if err := json.Unmarshal([]byte(result), &r); err != nil {
			t.Fatal(err)
		}
		for _, rec := range r.Recommendations {
			if rec.Dish.Spicy {
				t.Errorf("a spicy dish was recommended: %s", result)
			}
		}
	}
	talk := m.Say("ann", "t3", "帮我订一份水煮牛肉。")
	if q := talk.Question(); !strings.Contains(string(q.Warnings), "spicy") {
		t.Errorf("the card warns of %s, want the spice", q.Warnings)
	}
	talk.Close()
	other := m.Ask("bob", "t1", "你记得我什么？")
	if strings.Contains(other.Text(), "不吃辣") {
		t.Errorf("bob was told what ann said: %s", other.Text())
	}
}

func TestDisabledSkillIsNotOffered(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	set := func(verb string) {
		if status, body := m.Do("ann", http.MethodPost, "/api/v1/skill-marketplace/builtin.weather/"+verb, `{}`); status != http.StatusOK {
			t.Fatalf("%s: %d %s", verb, status, body)
		}
	}
	offered := func(runID string) bool {
		var r struct {
			ModelCalls []struct {
				Request struct {
					Tools []struct{ Function struct{ Name string } }
				}
			}
		}
		m.Get("ann", "/api/v1/runs/"+runID, &r)
		for _, tool := range r.ModelCalls[0].Request.Tools {
			if tool.Function.Name == "call_weather" {
				return true
			}
		}
		return false
	}
	set("disable")
	off := m.Ask("ann", "t1", "上海天气怎么样？")
	if offered(off.RunID) || len(off.Tools()) > 0 {
		t.Errorf("weather was offered or called although it is off: %q", off.Tools())
	}
	if !strings.Contains(off.Text(), "天气") || strings.Contains(off.Text(), "°") {
		t.Errorf("the answer %q does not say that the weather is off", off.Text())
	}
	set("enable")
	on := m.Ask("ann", "t1", "上海天气怎么样？")
	if !offered(on.RunID) || !slices.Contains(on.Tools(), "call_weather") {
		t.Errorf("weather is not offered although it is on again: %q", on.Tools())
	}
	if status, _ := m.Do("ann", http.MethodPost, "/api/v1/skill-marketplace/builtin.basics/disable", `{}`); status != http.StatusConflict {
		t.Errorf("disable the system skill: %d, want 409", status)
	}
}

func TestStopDuringAQuestion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := meshtest.Start(t, meshtest.Options{Dir: dir})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	stopped := make(chan struct{})
	go func() { m.Stop(); close(stopped) }()
	talk.Rest()
	<-stopped
	if last := talk.Last(); last.Outcome == nil || last.Outcome.Type != "interrupt" || last.Outcome.Interrupts[0].ID != q.ID {
		t.Errorf("the stream ended with %+v, want the interrupt", last)
	}
	again := meshtest.Start(t, meshtest.Options{Dir: dir})
	var r struct{ Status string }
	again.Get("ann", "/api/v1/runs/"+talk.RunID, &r)
	if r.Status != "AWAITING_CONFIRMATION" {
		t.Fatalf("after the restart the run is %s", r.Status)
	}
	follow := again.Follow("ann", talk.RunID, "")
	follow.Question()
	if status, body := follow.Decide("confirm", q); status != http.StatusOK {
		t.Fatalf("confirm after the restart: %d %s", status, body)
	}
	follow.Rest()
	if list := orders(again, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
}
