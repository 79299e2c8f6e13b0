package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentmesh/app/meshtest"
)

// description is openapi.json as this program serves it.
type description map[string]any

// at follows references to where a schema is.
func (d description) at(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	ref, ok := s["$ref"].(string)
	if !ok {
		return s
	}
	var v any = map[string]any(d)
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		members, _ := v.(map[string]any)
		v = members[step]
	}
	return d.at(v)
}

// check tells where a value is not as its schema says: the part of JSON Schema that the file uses. A
// member that the schema does not name is a breach too, as it is one of the description.
func (d description) check(where string, schema, value any) []string {
	s := d.at(schema)
	if kind, ok := s["type"].(string); ok && !isA(kind, value) {
		return []string{fmt.Sprintf("%s is %v, want %s", where, value, kind)}
	}
	if allowed, ok := s["enum"].([]any); ok && !slices.Contains(allowed, value) {
		return []string{fmt.Sprintf("%s is %v, want one of %v", where, value, allowed)}
	}
	var out []string
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			out = append(out, d.check(where+"/"+strconv.Itoa(i), s["items"], item)...)
		}
	case map[string]any:
		properties, named := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				out = append(out, fmt.Sprintf("%s lacks %v", where, name))
			}
		}
		for name, member := range v {
			if _, ok := properties[name]; named && !ok {
				out = append(out, fmt.Sprintf("%s has %s, which is not described", where, name))
			}
			out = append(out, d.check(where+"/"+name, properties[name], member)...)
		}
	}
	return out
}

func isA(kind string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	}
	return false
}

// asDescribed sends a request and compares the answer with what the file says of path, with its
// placeholders, and of this status.
func (d description) asDescribed(t *testing.T, m *meshtest.Mesh, method, path, request, body string) int {
	t.Helper()
	resp := m.Open("ann", method, request, body, nil)
	defer func() { _ = resp.Body.Close() }()
	raw := readAll(t, resp)
	operation := d.at(d.at(d.at(d["paths"])[path])[strings.ToLower(method)])
	if operation == nil {
		t.Errorf("%s %s is not described", method, path)
		return resp.StatusCode
	}
	answers := d.at(operation["responses"])
	answer := d.at(answers[strconv.Itoa(resp.StatusCode)])
	if answer == nil && resp.StatusCode >= http.StatusBadRequest {
		answer = d.at(answers["default"])
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	content := d.at(answer["content"])
	if answer == nil || (raw != "" && content[kind] == nil) {
		t.Errorf("%s %s: %d %s is not described", method, request, resp.StatusCode, kind)
		return resp.StatusCode
	}
	if !strings.HasSuffix(kind, "json") {
		return resp.StatusCode
	}
	var value any
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Errorf("%s %s: %v", method, request, err)
	}
	for _, breach := range d.check(request, d.at(content[kind])["schema"], value) {
		t.Errorf("%s %d: %s", method, resp.StatusCode, breach)
	}
	return resp.StatusCode
}

// TestAnswersAreAsDescribed: what the API answers is what openapi.json says.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	var d description
	m.Get("ann", "/openapi.json", &d)
	m.Ask("ann", "t1", "记住我不吃辣。")
	m.Ask("ann", "t1", "上海未来三天天气怎么样？")
	talk := m.Say("ann", "t2", "帮我订一份水煮牛肉。")
	q := talk.Question()
	get := func(path, request string) {
		t.Helper()
		d.asDescribed(t, m, http.MethodGet, path, request, "")
	}
	get("/api/v1/confirmations", "/api/v1/confirmations?status=open")
	get("/api/v1/runs/{id}", "/api/v1/runs/"+talk.RunID)
	d.asDescribed(t, m, "POST", "/api/v1/runs", "/api/v1/runs", meshtest.Input("t2", "还在吗？"))
	d.asDescribed(t, m, "DELETE", "/api/v1/conversations/{id}", "/api/v1/conversations/t2", "")
	d.asDescribed(t, m, "POST", "/runs/{id}/confirm", "/runs/"+talk.RunID+"/confirm", `{"confirmationId":"`+q.ID+`"}`)
	talk.Rest()
	d.asDescribed(t, m, "POST", "/api/v1/runs/{id}/reject", "/api/v1/runs/"+talk.RunID+"/reject", `{"confirmationId":"`+q.ID+`"}`)
	d.asDescribed(t, m, "POST", "/api/v1/runs/{id}/cancel", "/api/v1/runs/"+talk.RunID+"/cancel", "")
	get("/api/v1/runs/{id}", "/api/v1/runs/"+talk.RunID)
	get("/api/v1/runs/{id}/events", "/api/v1/runs/"+talk.RunID+"/events")

	d.asDescribed(t, m, "POST", "/copilotkit/agent/{name}/run", copilot+"/run", meshtest.Input("t1", "现在几点？"))
	d.asDescribed(t, m, "POST", "/copilotkit/agent/{name}/connect", copilot+"/connect", connectBody("t1", "r"))
	d.asDescribed(t, m, "POST", "/copilotkit/agent/{name}/stop/{thread}", copilot+"/stop/t1", `{"runId":"x"}`)

	for path, methods := range d.at(d["paths"]) {
		if d.at(methods)["get"] != nil && !strings.Contains(path, "{") {
			if status := d.asDescribed(t, m, http.MethodGet, path, path, ""); status != http.StatusOK {
				t.Errorf("GET %s: %d, want 200", path, status)
			}
		}
	}
	get("/api/v1/runs", "/api/v1/runs?limit=1")
	get("/api/v1/runs", "/api/v1/runs?limit=x")
	get("/api/v1/audit", "/api/v1/audit?runId="+talk.RunID)
	get("/api/v1/conversations/{id}", "/api/v1/conversations/t1")
	get("/api/v1/conversations/{id}", "/api/v1/conversations/none")
	get("/api/v1/conversations/{id}/messages", "/api/v1/conversations/t1/messages")
	get("/api/v1/orders/{id}", "/api/v1/orders/"+listed(m, "ann", "/api/v1/orders").Items[0].ID)
	get("/api/v1/skill-marketplace/{id}", "/api/v1/skill-marketplace/builtin.weather")
	d.asDescribed(t, m, "PATCH", "/api/v1/conversations/{id}", "/api/v1/conversations/t1", `{"title":"x"}`)
	d.asDescribed(t, m, "DELETE", "/api/v1/conversations/{id}", "/api/v1/conversations/t1", "")
	d.asDescribed(t, m, "DELETE", "/api/v1/preferences/{id}", "/api/v1/preferences/"+listed(m, "ann", "/api/v1/preferences").Items[0].ID, "")
	for _, verb := range []string{"disable", "enable", "install"} {
		d.asDescribed(t, m, "POST", "/api/v1/skill-marketplace/{id}/"+verb, "/api/v1/skill-marketplace/builtin.weather/"+verb, "")
	}
	d.asDescribed(t, m, "DELETE", "/api/v1/skill-marketplace/{id}", "/api/v1/skill-marketplace/builtin.weather", "")
	d.asDescribed(t, m, "POST", "/api/v1/skill-marketplace/{id}/enable", "/api/v1/skill-marketplace/builtin.weather/enable", "")
}
