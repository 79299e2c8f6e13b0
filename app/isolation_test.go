package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/capability"
)

// annsThings are what the first user has: ids by what they name. None may reach another user.
type annsThings map[string]string

// settle lets ann use everything: a waiting order, a preference, a conversation, a task at each agent.
func settle(t *testing.T, m *meshtest.Mesh) annsThings {
	t.Helper()
	say := func(thread, text string) string {
		resp := m.Open("", http.MethodPost, "/agui", meshtest.Input(thread, text), bearer(annsKey))
		defer func() { _ = resp.Body.Close() }()
		readAll(t, resp)
		return resp.Header.Get("X-Run-Id")
	}
	say("anns-talk", "记住我不吃花生酱。")
	own := annsThings{"thread": "anns-order", "talk": "anns-talk", "run": say("anns-order", "帮我订一份水煮牛肉。")}
	first := func(path, name string) string {
		_, body := do(t, m, annsKey, http.MethodGet, path, "")
		return firstID(t, body, name)
	}
	own["confirmation"] = first("/api/v1/confirmations", "confirmationId")
	own["order"] = first("/api/v1/orders", "id")
	own["preference"] = first("/api/v1/preferences", "id")
	own["trace"] = first("/api/v1/runs", "traceId")
	for _, agent := range []string{"food", "weather"} {
		body := atAgent(t, m, annsKey, agent, rpc("SendMessage", sendParams("上海明天天气怎么样？ 推荐一道菜")))
		var answer struct {
			Result struct {
				Task struct{ ID, ContextID string }
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Result.Task.ID == "" {
			t.Fatalf("no task of %s in %s", agent, body)
		}
		own["task of "+agent], own["context of "+agent] = answer.Result.Task.ID, answer.Result.Task.ContextID
	}
	return own
}

// grantAndPlan lets ann allow something for good, and make a schedule that is not due for long.
func grantAndPlan(t *testing.T, m *meshtest.Mesh, own annsThings) {
	t.Helper()
	resp := m.Open("", http.MethodPost, "/agui", meshtest.Input("anns-clock", "现在几点？"), bearer(annsKey))
	readAll(t, resp)
	_ = resp.Body.Close()
	status, body := do(t, m, annsKey, http.MethodPost, "/api/v1/runs/"+resp.Header.Get("X-Run-Id")+"/confirm", `{"remember":"tool"}`)
	if status != http.StatusOK {
		t.Fatalf("grant: %d %s", status, body)
	}
	own["grant"] = firstID(t, get(t, m, "/api/v1/grants"), "id")
	get(t, m, "/api/v1/runs/"+resp.Header.Get("X-Run-Id")+"/events") // to its end
	_, body = do(t, m, annsKey, http.MethodPost, "/api/v1/schedules", `{"name":"花生酱","cron":"0 0 29 2 *","message":"花生酱"}`)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(body), &made); err != nil || made.ID == "" {
		t.Fatalf("schedule: %s", body)
	}
	own["schedule"] = made.ID
}

// atAgent sends a JSON-RPC request to an agent through the gateway.
func atAgent(t *testing.T, m *meshtest.Mesh, secret, agent, request string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, m.AgentURL(agent), strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = bearer(secret)
	r.Header.Set("Content-Type", "application/json")
	resp, err := m.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return readAll(t, resp)
}

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func sendParams(text string) string {
	return `{"message":{"messageId":"m-` + fmt.Sprint(len(text)) + `","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}}`
}

// leaks lists what of ann's is in an answer and was not in the request.
func (own annsThings) leaks(request, answer string) []string {
	var out []string
	for what, id := range own {
		if strings.Contains(answer, id) && !strings.Contains(request, id) {
			out = append(out, what)
		}
	}
	if strings.Contains(answer, "花生酱") && !strings.Contains(request, "花生酱") {
		out = append(out, "what ann said")
	}
	return out
}

// snapshot is all that ann can see of hers.
func snapshot(t *testing.T, m *meshtest.Mesh, own annsThings) string {
	t.Helper()
	var b strings.Builder
	for _, path := range []string{
		"/api/v1/runs", "/api/v1/runs/" + own["run"], "/api/v1/conversations", "/api/v1/orders", "/api/v1/audit", "/api/v1/preferences",
		"/api/v1/confirmations", "/api/v1/grants", "/api/v1/schedules", "/api/v1/schedules/" + own["schedule"], "/api/v1/skill-marketplace", "/api/v1/conversations/anns-order/messages",
	} {
		_, body := do(t, m, annsKey, http.MethodGet, path, "")
		b.WriteString(body)
	}
	for _, agent := range []string{"food", "weather"} {
		b.WriteString(atAgent(t, m, annsKey, agent, rpc("ListTasks", "{}")))
	}
	return b.String()
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// routesOf lists method and path of every operation in openapi.json.
func routesOf(d description) [][2]string {
	var out [][2]string
	for path, methods := range d.at(d["paths"]) {
		for method := range d.at(methods) {
			out = append(out, [2]string{strings.ToUpper(method), path})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[1]+a[0], b[1]+b[0]) })
	return out
}

// TestNobodySeesOrChangesWhatIsAnothers walks all routes of openapi.json as a second user, with every id of
// the first user's in every place where a path takes one (design, section 12).
func TestNobodySeesOrChangesWhatIsAnothers(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) {
		withKeys(c)
		c.Policies = []capability.Rule{{Capability: "get_current_time", Effect: capability.Ask, Number: 1}}
	}})
	own := settle(t, m)
	grantAndPlan(t, m, own)
	var d description
	if err := json.Unmarshal([]byte(get(t, m, "/openapi.json")), &d); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, m, own)
	if lacks := own.leaks("", before); len(lacks) < len(own)-1 { // of the two contexts one is enough
		t.Fatalf("ann sees of hers only %v", lacks)
	}
	bodies := []string{"", `{}`, `{"confirmationId":"` + own["confirmation"] + `"}`, resumeBody("bobs", own["confirmation"], `{"approved":true}`), meshtest.Input("bobs", "我的订单呢？"), connectBody(own["thread"], "bobs")}
	walked := 0
	for _, route := range routesOf(d) {
		route[1] = strings.ReplaceAll(route[1], "{name}", "default") // an agent's, nobody's
		for _, id := range own {
			path := placeholder.ReplaceAllString(route[1], url.PathEscape(id))
			for _, body := range bodies {
				if route[0] == http.MethodGet && body != "" {
					continue
				}
				for _, query := range []string{"", "?runId=" + own["run"] + "&threadId=" + own["thread"]} {
					status, answer := do(t, m, bobsKey, route[0], path+query, body)
					if found := own.leaks(path+query+body, answer); len(found) > 0 {
						t.Errorf("%s %s %.60s: %d shows %v of ann's: %s", route[0], path+query, body, status, found, answer)
					}
					walked++
				}
			}
			if path == route[1] {
				break // it takes no id
			}
		}
	}
	if after := snapshot(t, m, own); after != before {
		t.Errorf("bob's requests changed what ann has, from\n%s\nto\n%s", before, after)
	}
	if walked < 500 {
		t.Errorf("only %d requests were made", walked)
	}
}

func get(t *testing.T, m *meshtest.Mesh, path string) string {
	t.Helper()
	_, body := do(t, m, annsKey, http.MethodGet, path, "")
	return body
}

// TestATaskIsItsOwners: another user cannot see, list, follow, continue or cancel an A2A task, in any
// placement: the gateway says for whom it calls.
func TestATaskIsItsOwners(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{Change: withKeys})
			own := settle(t, m)
			for _, agent := range []string{"food", "weather"} {
				task := own["task of "+agent]
				for method, params := range map[string]string{
					"GetTask": `{"id":"` + task + `"}`, "CancelTask": `{"id":"` + task + `"}`, "SubscribeToTask": `{"id":"` + task + `"}`,
					"ListTasks": `{"contextId":"` + own["context of "+agent] + `"}`, "SendMessage": strings.Replace(sendParams("go on"), `{"message":{`, `{"message":{"taskId":"`+task+`",`, 1),
				} {
					request := rpc(method, params)
					answer := atAgent(t, m, bobsKey, agent, request)
					refused := strings.Contains(answer, "-32001") || (method == "ListTasks" && strings.Contains(answer, `"tasks":[]`))
					if found := own.leaks(request, answer); !refused || len(found) > 0 {
						t.Errorf("bob's %s of ann's task at %s: %s", method, agent, answer)
					}
				}
				if answer := atAgent(t, m, annsKey, agent, rpc("GetTask", `{"id":"`+task+`"}`)); !strings.Contains(answer, task) || strings.Contains(answer, `"error"`) {
					t.Errorf("ann's own task at %s: %s", agent, answer)
				}
			}
		})
	}
}

// TestForeignHostAndOriginAreRefusedOnEveryRoute: a page elsewhere reaches nothing, open or not, on any
// listener (design, section 12).
func TestForeignHostAndOriginAreRefusedOnEveryRoute(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	var d description
	m.Get("ann", "/openapi.json", &d)
	routes := routesOf(d)
	for _, path := range []string{
		"/mcp", "/a2a/agents", "/a2a/agents/food/", "/a2a/agents/food/.well-known/agent-card.json", "/agents/food/", "/demo/v1/models", "/demo/v1/chat/completions",
		"/spans/mcp/x", "/nothing",
	} {
		routes = append(routes, [2]string{http.MethodGet, path}, [2]string{http.MethodPost, path})
	}
	for _, route := range routes {
		path := placeholder.ReplaceAllString(route[1], "x")
		for name, change := range map[string]func(*http.Request){
			"Host":        func(r *http.Request) { r.Host = "evil.example" },
			"Origin":      func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"null Origin": func(r *http.Request) { r.Header.Set("Origin", "null") },
		} {
			r, err := http.NewRequest(route[0], "http://public.internal"+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			change(r)
			resp, err := m.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s with a foreign %s: %d, want 403", route[0], path, name, resp.StatusCode)
			}
		}
	}
}

func TestAllAddressesWithoutKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:8000", "[::]:8000", "192.0.2.1:8000"} {
		c := app.Default()
		c.Data, c.Listen = t.TempDir(), listen
		if _, err := app.New(c); err == nil || !strings.Contains(err.Error(), "--insecure") {
			t.Errorf("%s without keys: got %v, want a refusal that names --insecure", listen, err)
		}
	}
	c := app.Default()
	c.Data, c.Splits = t.TempDir(), []string{"food=0.0.0.0:7004"}
	if _, err := app.New(c); err == nil || !strings.Contains(err.Error(), "--insecure") {
		t.Errorf("a split beyond loopback without keys: got %v, want a refusal", err)
	}
}
