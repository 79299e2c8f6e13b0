package llmstub

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Check judges what a case's client sent: how many requests, the rules of the wire, and the claims about
// single requests. It lists what is wrong.
func (s *Stub) Check(c *Case) []string {
	var bodies []json.RawMessage
	for _, r := range s.Records() {
		if r.Case == c.ID && r.Turn > 0 {
			bodies = append(bodies, r.Body)
		}
	}
	if len(bodies) == 0 {
		return []string{"no request came"}
	}
	var faults []string
	if r := c.Expected.Requests; r != nil && (len(bodies) < r.Min || r.Max > 0 && len(bodies) > r.Max) {
		faults = append(faults, fmt.Sprintf("%d requests, want %d to %d", len(bodies), r.Min, r.Max))
	}
	for i, body := range bodies {
		req, err := parseRequest(body)
		if err != nil {
			faults = append(faults, fmt.Sprintf("request %d: %v", i+1, err))
			continue
		}
		for name, bad := range broken(req, c.Expected.Wire) {
			faults = append(faults, fmt.Sprintf("request %d: %s: %s", i+1, name, strings.Join(bad, "; ")))
		}
	}
	for _, claim := range c.Expected.Sent {
		faults = append(faults, claim.check(bodies)...)
	}
	return faults
}

func (s SentReq) check(bodies []json.RawMessage) (faults []string) {
	n := s.N
	if n < 0 {
		n += len(bodies) + 1
	}
	if n < 1 || n > len(bodies) {
		return []string{fmt.Sprintf("request %d was never made", s.N)}
	}
	var body any
	_ = json.Unmarshal(bodies[n-1], &body)
	flat := toJSON(body)
	for _, want := range s.Contains {
		if !strings.Contains(flat, want) {
			faults = append(faults, fmt.Sprintf("request %d lacks %q", n, want))
		}
	}
	for _, no := range s.Lacks {
		if strings.Contains(flat, no) {
			faults = append(faults, fmt.Sprintf("request %d has %q", n, no))
		}
	}
	for _, f := range s.Fields {
		if why := f.fault(body); why != "" {
			faults = append(faults, fmt.Sprintf("request %d: %s %s", n, f.Path, why))
		}
	}
	return faults
}

func (f PathCheck) fault(body any) string {
	got, found := lookup(body, strings.Split(f.Path, "."))
	switch {
	case f.Absent && found && got != nil:
		return "is there: " + toJSON(got)
	case f.Absent:
		return ""
	case !found:
		return "is missing"
	}
	list, _ := got.([]any)
	if f.Count != nil && len(list) != *f.Count {
		return fmt.Sprintf("has %d entries, want %d", len(list), *f.Count)
	}
	if f.Contains != "" && !strings.Contains(toJSON(got), f.Contains) {
		return fmt.Sprintf("lacks %q: %.200s", f.Contains, toJSON(got))
	}
	if len(f.Equals) > 0 && !sameJSON(f.Equals, got) {
		return fmt.Sprintf("is %.200s", toJSON(got))
	}
	var inner any
	text, isText := got.(string)
	if len(f.JSONEq) > 0 && (!isText || json.Unmarshal([]byte(text), &inner) != nil || !sameJSON(f.JSONEq, inner)) {
		return fmt.Sprintf("holds something else: %.200s", toJSON(got))
	}
	return ""
}

func sameJSON(raw json.RawMessage, got any) bool {
	var want any
	return json.Unmarshal(raw, &want) == nil && reflect.DeepEqual(got, want)
}

// lookup finds a value by the parts of its path.
func lookup(v any, path []string) (any, bool) {
	root, _ := v.(map[string]any)
	switch path[0] {
	case "system", "user", "assistant", "tool":
		v, path = withRole(root, path[0]), path[1:]
	}
	for _, part := range path {
		switch node := v.(type) {
		case map[string]any:
			next, found := node[part]
			if !found {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(part)
			if n < 0 {
				n += len(node)
			}
			if err != nil || n < 0 || n >= len(node) {
				return nil, false
			}
			v = node[n]
		default:
			return nil, false
		}
	}
	return v, true
}

func withRole(root map[string]any, role string) []any {
	all, _ := root["messages"].([]any)
	picked := []any{}
	for _, m := range all {
		if doc, ok := m.(map[string]any); ok && doc["role"] == role {
			picked = append(picked, m)
		}
	}
	return picked
}
