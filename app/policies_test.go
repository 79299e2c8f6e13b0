package app_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/capability"
)

// ruled lets a mesh have rules.
func ruled(rules ...capability.Rule) meshtest.Options {
	return meshtest.Options{Change: func(c *app.Config) {
		for i := range rules {
			rules[i].Number = i + 1
		}
		c.Policies = rules
	}}
}

// runOf is what the tests read of GET /api/v1/runs/{id}.
type runOf struct {
	Status string
	Mode   string
	Denied []struct{ Name, Stage, Rule, Reason string }
}

func readRun(t *testing.T, m *meshtest.Mesh, id string) (r runOf) {
	t.Helper()
	if err := json.Unmarshal([]byte(get(t, m, "/api/v1/runs/"+id)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPolicy_Deny: a rule of the configuration denies a call, the model says so, and the run ends well.
func TestPolicy_Deny(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, ruled(capability.Rule{
		Capability: "call_weather", Effect: capability.Deny, Args: map[string]string{"city": "上海"}, Reason: "天气服务停用",
	}))
	resp := m.Open("ann", http.MethodPost, "/agui", meshtest.Input("t1", "上海明天天气怎么样？"), nil)
	id := resp.Header.Get("X-Run-Id")
	stream := readAll(t, resp)
	_ = resp.Body.Close()
	if strings.Contains(stream, "RUN_ERROR") {
		t.Errorf("the run broke: %s", stream)
	}
	r := readRun(t, m, id)
	if r.Status != "SUCCEEDED" || len(r.Denied) != 1 || r.Denied[0].Stage != "policy" || r.Denied[0].Rule != "policies[1]" || r.Denied[0].Reason != "天气服务停用" {
		t.Errorf("got %+v", r)
	}
	wantWords(t, "the audit", get(t, m, "/api/v1/audit?runId="+id), `"rule":"policies[1]"`, `"stage":"policy"`, `"status":"DENIED"`)
}

// TestPolicy_AskAndRemember: a rule makes a reading call ask; the interrupt says why and what a yes may be remembered
// as; a resume that remembers makes a grant, which the same call of a later run uses until it is revoked.
func TestPolicy_AskAndRemember(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, ruled(capability.Rule{Capability: "call_weather", Effect: capability.Ask, Reason: "外部服务"}))
	ask := func(thread string) string {
		resp := m.Open("ann", http.MethodPost, "/agui", meshtest.Input(thread, "上海明天天气怎么样？"), nil)
		defer func() { _ = resp.Body.Close() }()
		return readAll(t, resp)
	}
	stream := ask("t1")
	wantWords(t, "the interrupt", stream, `"because":"外部服务"`, `"suggestions":[`, `"remember":{`, `"enum":["args","tool"]`)
	question := firstID(t, get(t, m, "/api/v1/confirmations"), "confirmationId")
	resp := m.Open("ann", http.MethodPost, "/agui", resumeBody("t1", question, `{"approved":true,"remember":"args"}`), nil)
	if answer := readAll(t, resp); !strings.Contains(answer, "上海") || !strings.Contains(answer, "RUN_FINISHED") {
		t.Errorf("got %s, want the run to go on", answer)
	}
	_ = resp.Body.Close()
	grants := get(t, m, "/api/v1/grants")
	wantWords(t, "the grants", grants, `"capability":"call_weather"`, `"args":{`, question)
	if again := ask("t2"); strings.Contains(again, "interrupt") {
		t.Errorf("asked again: %s", again)
	}
	if status, body := do(t, m, "", http.MethodDelete, "/api/v1/grants/"+firstID(t, grants, "id"), ""); status != http.StatusNoContent {
		t.Errorf("revoke: got %d %s", status, body)
	}
	if again := ask("t3"); !strings.Contains(again, "interrupt") {
		t.Errorf("not asked once the grant was revoked: %s", again)
	}
}

// TestPolicy_Explore: a client may ask for a run that only reads, in either place, and for no other mode.
func TestPolicy_Explore(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for i, extra := range []string{`"forwardedProps":{},"mode":"explore"`, `"forwardedProps":{"mode":"explore"}`} {
		thread := string(rune('a' + i))
		body := strings.Replace(meshtest.Input(thread, "帮我订一份水煮牛肉。"), `"forwardedProps":{}`, extra, 1)
		resp := m.Open("ann", http.MethodPost, "/api/v1/runs", body, nil)
		id := resp.Header.Get("X-Run-Id")
		readAll(t, resp)
		_ = resp.Body.Close()
		r := readRun(t, m, id)
		if r.Mode != "explore" || len(r.Denied) == 0 || r.Denied[0].Name != "place_order" || r.Denied[0].Rule != "mode explore" {
			t.Errorf("%s got %+v", extra, r)
		}
	}
	body := strings.Replace(meshtest.Input("c", "你好"), "{", `{"mode":"unattended",`, 1)
	if status, answer := do(t, m, "", http.MethodPost, "/api/v1/runs", body); status != http.StatusBadRequest {
		t.Errorf("unattended: got %d %s", status, answer)
	}
}

// TestPolicies_File: rules of the configuration file are read, shown, and checked together with their line.
func TestPolicies_File(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	writeFile(t, file, `
policies:
  - capability: place_order
    effect: deny
    args: {"items.*.quantity": ">5"}
    reason: 一次最多五份
  - {capability: "call_*", effect: ask, always: true}
`)
	status, out, errs := run("config", "--config", file)
	if status != 0 {
		t.Fatalf("got %d: %s", status, errs)
	}
	wantWords(t, "config", out, "deny place_order {items.*.quantity: >5}; always ask call_*", "mesh.yaml line 2")
	writeFile(t, file, `
policies:
  - {capability: place_order, effect: forbid}
  - {effect: deny}
  - {capability: place_order, effect: deny, args: {n: ">five"}}
  - {capability: place_order, effect: deny, args: {n: [1]}}
log-level: loud
`)
	status, _, errs = run("config", "--config", file)
	if status == 0 {
		t.Fatal("got no error")
	}
	wantWords(t, "the mistakes", errs, "policies[1]", "policies[2]", "policies[3]", "policies[4]")
	writeFile(t, file, "policies: [{capability: a, effect: deny, argz: {}}]\n")
	if status, _, errs = run("config", "--config", file); status == 0 || !strings.Contains(errs, "argz") {
		t.Errorf("a misspelt name: got %d %s", status, errs)
	}
}

// TestPolicies_OfNothing: a rule about what no model can call stops the start.
func TestPolicies_OfNothing(t *testing.T) {
	t.Parallel()
	c := app.Default()
	c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
	c.Policies = []capability.Rule{{Capability: "reserve_stock", Effect: capability.Deny, Number: 1}}
	a, err := app.New(c)
	if err == nil {
		err = a.Start(t.Context())
		_ = a.Stop(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "policies[1]") || !strings.Contains(err.Error(), "place_order") {
		t.Errorf("got %v, want it to name the rule and what there is", err)
	}
}
