package food_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentmesh/a2a"
	"agentmesh/a2a/gateway"
	"agentmesh/agent/food"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/mcp"
)

var _ food.Caller = (*mcp.Client)(nil)

// menu is a canteen of two dishes. It tells with which identifiers it was asked, and waits when it is told to.
type menu struct {
	asked   chan flow.IDs
	block   bool
	stopped chan struct{}
}

func (m *menu) Day(ctx context.Context, _ string) (food.Day, error) {
	m.asked <- flow.From(ctx)
	if m.block {
		<-ctx.Done()
		close(m.stopped)
		return food.Day{}, ctx.Err()
	}
	all, err := m.All(ctx)
	return food.Day{Date: "2026-11-29", Weekday: 7, WeekdayZh: "星期日", WeekdayEn: "Sunday", Dishes: all}, err
}

func (m *menu) All(context.Context) ([]food.Dish, error) {
	every := []int{1, 2, 3, 4, 5, 6, 7}
	return []food.Dish{
		{ID: "food-001", Name: "水煮牛肉", NameEn: "Sichuan boiled beef", Category: "meat", PriceFen: 3200, Stock: 20, Spicy: true, Weekdays: every},
		{ID: "food-007", Name: "米饭", NameEn: "Steamed rice", Category: "staple", PriceFen: 200, Stock: 60, Vegetarian: true, Weekdays: every},
	}, nil
}

// start puts the Food agent behind a gateway in a network of pipes.
func start(t *testing.T, m *menu) *a2a.Client {
	t.Helper()
	m.asked, m.stopped = make(chan flow.IDs, 100), make(chan struct{})
	network := mesh.NewNetwork("key")
	agent := food.New(food.Options{Menu: m, Guard: network.RequireKey})
	front := gateway.New(gateway.Options{
		Agents:    []gateway.Agent{{Name: "food", URL: network.BaseURL("food") + food.Prefix}},
		Transport: network.Transport(), HasKey: network.HasKey,
	})
	for _, module := range []mesh.Module{agent, front} {
		if err := module.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: flow.Middleware(module.Name(), module.Handler())}
		listener, done := network.Listen(module.Name()), make(chan struct{})
		go func() { _ = server.Serve(listener); close(done) }()
		t.Cleanup(func() {
			if err := module.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Errorf("stop %s: %v", module.Name(), err)
			}
			_ = server.Close()
			<-done
		})
	}
	client := a2a.NewClient(network.BaseURL("gateway")+"/a2a/agents/food", &http.Client{Transport: flow.Transport(network.Transport())})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestFood_order(t *testing.T) {
	t.Parallel()
	m := &menu{}
	client := start(t, m)
	ids := flow.IDs{TraceID: flow.NewTraceID(), RunID: "run-1", ThreadID: "会话", ToolInvocationID: "inv-1"}
	ctx := flow.With(t.Context(), ids)
	args := json.RawMessage(`{"items":[{"dish":"水煮牛肉","quantity":2,"note":"少油"},{"dish":"Steamed rice","quantity":1}],"note":null}`)
	quoted, err := client.Call(ctx, a2a.Request{Skill: "quote_order", Arguments: args})
	if err != nil || quoted.ArtifactName != "RESULT" || !strings.Contains(string(quoted.Data), `"warnings":[]`) {
		t.Fatalf("quote: got %+v %s, %v", quoted, quoted.Data, err)
	}
	placed, err := client.Call(ctx, a2a.Request{Skill: "place_order", Arguments: args, Text: "帮我订两份水煮牛肉和一碗米饭"})
	want := `{"lines":[{"dishId":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","quantity":2,"unitFen":3200,"amountFen":6400,"note":"少油"},` +
		`{"dishId":"food-007","name":"米饭","nameEn":"Steamed rice","quantity":1,"unitFen":200,"amountFen":200,"note":""}],` +
		`"totalFen":6600,"total":"66.00","date":"2026-11-29","note":""}`
	if err != nil || placed.ArtifactName != "ORDER_DATA" || string(placed.Data) != want || !strings.Contains(placed.Text, "合计 66.00 元") {
		t.Errorf("place: got %s %s %q, %v", placed.ArtifactName, placed.Data, placed.Text, err)
	}
	if got := <-m.asked; got.TraceID != ids.TraceID || got.RunID != "run-1" || got.ToolInvocationID != "inv-1" || got.ContextID == "" || got.RPCID == "" {
		t.Errorf("identifiers at the menu: got %+v", got)
	}
}

func TestFood_errorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	client := start(t, &menu{})
	for _, c := range []struct {
		req  a2a.Request
		code fault.Code
		says string
	}{
		{a2a.Request{Skill: "place_order", Arguments: json.RawMessage(`{"items":[]}`)}, fault.Invalid, "empty"},
		{a2a.Request{Skill: "place_order", Arguments: json.RawMessage(`{"items":"x"}`)}, fault.Invalid, "items"},
		{a2a.Request{Skill: "quote_order", Arguments: json.RawMessage(`{"items":[{"dish":"佛跳墙","quantity":1}]}`)}, fault.NotFound, "佛跳墙"},
		{a2a.Request{Skill: "dance"}, fault.Invalid, "recommend_food"},
		{a2a.Request{Text: "来九百九十九份米饭"}, fault.Invalid, "999"},
		{a2a.Request{Text: "来半份米饭"}, fault.Invalid, "半份"},
		{a2a.Request{Text: "明天来一份米饭"}, fault.Invalid, "明天"},
	} {
		_, err := client.Call(t.Context(), c.req)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.MessageOf(err), c.says) {
			t.Errorf("%+v: got %v (%s)", c.req, err, fault.CodeOf(err))
		}
	}
}

func TestFood_textAndQuestion(t *testing.T) {
	t.Parallel()
	client := start(t, &menu{})
	asked, err := client.Call(t.Context(), a2a.Request{Text: "我要点餐"})
	if err != nil || asked.State != a2a.InputRequired || asked.Question == "" {
		t.Fatalf("got %+v, %v", asked, err)
	}
	out, err := client.Call(t.Context(), a2a.Request{Text: "两份水煮牛肉，不要辣", TaskID: asked.TaskID})
	if err != nil || out.ArtifactName != "ORDER_DATA" || !strings.Contains(string(out.Data), `"quantity":2`) || !strings.Contains(string(out.Data), "不要辣") {
		t.Errorf("after the answer: got %s, %v", out.Data, err)
	}
	vague, err := client.Call(t.Context(), a2a.Request{Text: "来两三份米饭"})
	if err != nil || vague.State != a2a.InputRequired || !strings.Contains(vague.Question, "米饭") {
		t.Fatalf("vague: got %+v, %v", vague, err)
	}
	sure, err := client.Call(t.Context(), a2a.Request{Text: "三份", TaskID: vague.TaskID})
	if err != nil || !strings.Contains(string(sure.Data), `"quantity":3`) {
		t.Errorf("after the number: got %+v %s, %v", sure, sure.Data, err)
	}
	list, err := client.Call(t.Context(), a2a.Request{Skill: "order_or_recommend", Arguments: json.RawMessage(`{"text":"What's on the menu?"}`)})
	if err != nil || !strings.Contains(list.Text, "Steamed rice") || !strings.Contains(string(list.Data), `"weekdayEn":"Sunday"`) {
		t.Errorf("menu: got %q %s, %v", list.Text, list.Data, err)
	}
	rec, err := client.Call(t.Context(), a2a.Request{Text: "我不吃辣，推荐一道菜"})
	if err != nil || !strings.Contains(rec.Text, "推荐米饭") || !strings.Contains(string(rec.Data), `"avoided":[{"id":"food-001"`) {
		t.Errorf("recommendation: got %q %s, %v", rec.Text, rec.Data, err)
	}
	var steps []string
	streamed, err := client.Stream(t.Context(), a2a.Request{Skill: "recommend_food", Arguments: json.RawMessage(`{"preferences":["no spicy"]}`)},
		func(u a2a.Update) { steps = append(steps, u.Text) })
	if err != nil || streamed.State != a2a.Completed || !strings.Contains(strings.Join(steps, "|"), "Looking at the menu") {
		t.Errorf("stream: got %+v, %v, %v", streamed, err, steps)
	}
}

func TestFood_cancelReachesTheMenu(t *testing.T) {
	t.Parallel()
	m := &menu{block: true}
	client := start(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-m.asked; cancel() }()
	_, err := client.Call(ctx, a2a.Request{Skill: "recommend_food", Arguments: json.RawMessage(`{}`)})
	if fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("got %v", err)
	}
	<-m.stopped
}

func TestFood_stopEndsItsTasks(t *testing.T) {
	t.Parallel()
	m := &menu{block: true, asked: make(chan flow.IDs, 1), stopped: make(chan struct{})}
	agent := food.New(food.Options{Menu: m})
	server := httptest.NewServer(agent.Handler())
	defer server.Close()
	client := a2a.NewClient(server.URL+food.Prefix, server.Client())
	result := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), a2a.Request{Skill: "recommend_food", Arguments: json.RawMessage(`{}`)})
		result <- err
	}()
	<-m.asked
	if err := agent.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-result; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the running call: got %v", err)
	}
	if _, err := client.Call(t.Context(), a2a.Request{Text: "菜单"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a later call: got %v", err)
	}
}

func TestModule_guard(t *testing.T) {
	t.Parallel()
	network := mesh.NewNetwork("key")
	agent := food.New(food.Options{Menu: &menu{}, Guard: network.RequireKey})
	rec := httptest.NewRecorder()
	agent.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/agents/food/", strings.NewReader("{}")))
	if rec.Code != http.StatusForbidden || agent.Name() != "food" || agent.Prefixes()[0] != "/agents/food" {
		t.Errorf("got %d %s %v", rec.Code, agent.Name(), agent.Prefixes())
	}
	card, err := a2a.ReadCard(strings.NewReader(cardOf(t, agent, network)))
	if err != nil || len(card.Skills) != 4 || card.SupportedInterfaces[0].URL != "http://food.internal/agents/food/" {
		t.Errorf("card: got %+v, %v", card, err)
	}
}

func cardOf(t *testing.T, m mesh.Module, network *mesh.Network) string {
	t.Helper()
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/agents/food"+a2a.CardPath, http.NoBody)
	req.Header.Set(mesh.HeaderKey, "key")
	network.RequireKey(m.Handler()).ServeHTTP(rec, req)
	return rec.Body.String()
}
