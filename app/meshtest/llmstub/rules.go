package llmstub

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// request is a request's body as a strict provider reads it.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`

	hasTools bool
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []toolCall      `json:"tool_calls"`

	emptyCalls bool
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func parseRequest(body []byte) (request, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return request{}, err
	}
	var keys struct {
		Tools    json.RawMessage              `json:"tools"`
		Messages []map[string]json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(body, &keys)
	r.hasTools = keys.Tools != nil && string(keys.Tools) != "null"
	for i, m := range keys.Messages {
		if raw, ok := m["tool_calls"]; ok && i < len(r.Messages) {
			r.Messages[i].emptyCalls = len(r.Messages[i].ToolCalls) == 0 && string(raw) != "null"
		}
	}
	return r, nil
}

// rules lists the names of the rules; the strict ones are those whose breach a strict provider answers
// with HTTP 400.
func rules() (all, strict []string) {
	strict = []string{"answered", "ids_present", "ids_unique", "args_object", "names_valid", "tools_nonempty", "string_tool_content", "content_or_calls"}
	return append([]string{"system_first", "content_key_present"}, strict...), strict
}

// ruleOf gives a rule by its name; it lists what is wrong with a request.
func ruleOf(name string) func(request) []string {
	switch name {
	case "answered":
		return answered
	case "ids_unique":
		return idsUnique
	case "ids_present":
		return idsPresent
	case "args_object":
		return argsObject
	case "names_valid":
		return namesValid
	case "tools_nonempty":
		return toolsNonEmpty
	case "system_first":
		return systemFirst
	case "string_tool_content":
		return stringToolContent
	case "content_or_calls":
		return contentOrCalls
	case "content_key_present":
		return contentKeyPresent
	}
	return nil
}

// answered: every call is answered by exactly one tool message straight after it, and no tool message
// answers nothing.
func answered(r request) (bad []string) {
	open, order := map[string]bool{}, []string(nil)
	settle := func(at string) {
		for _, id := range order {
			if open[id] {
				bad = append(bad, fmt.Sprintf("tool call %q has no tool message before %s", id, at))
			}
		}
		open, order = map[string]bool{}, nil
	}
	for i, m := range r.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				bad = append(bad, fmt.Sprintf("message %d answers %q, which is not an open tool call", i, m.ToolCallID))
			}
			open[m.ToolCallID] = false
			continue
		}
		settle(fmt.Sprintf("message %d (%s)", i, m.Role))
		for _, c := range m.ToolCalls {
			open[c.ID] = true
			order = append(order, c.ID)
		}
	}
	settle("the end")
	return bad
}

func idsUnique(r request) (bad []string) {
	for i, m := range r.Messages {
		seen := map[string]bool{}
		for _, c := range m.ToolCalls {
			if seen[c.ID] {
				bad = append(bad, fmt.Sprintf("message %d has two tool calls with the id %q", i, c.ID))
			}
			seen[c.ID] = true
		}
	}
	return bad
}

func idsPresent(r request) (bad []string) {
	for i, m := range r.Messages {
		for _, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" {
				bad = append(bad, fmt.Sprintf("message %d: tool call %q has id %q and type %q", i, c.Function.Name, c.ID, c.Type))
			}
		}
		if m.Role == "tool" && m.ToolCallID == "" {
			bad = append(bad, fmt.Sprintf("message %d: a tool message without tool_call_id", i))
		}
	}
	return bad
}

func argsObject(r request) (bad []string) {
	for i, m := range r.Messages {
		for _, c := range m.ToolCalls {
			var text string
			var object map[string]any
			if json.Unmarshal(c.Function.Arguments, &text) != nil || json.Unmarshal([]byte(text), &object) != nil || object == nil {
				bad = append(bad, fmt.Sprintf("message %d: the arguments of %q are not the text of an object: %.60q", i, c.Function.Name, c.Function.Arguments))
			}
		}
	}
	return bad
}

var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func namesValid(r request) (bad []string) {
	seen := map[string]bool{}
	for i, raw := range r.Tools {
		var t struct {
			Function struct{ Name string }
		}
		_ = json.Unmarshal(raw, &t)
		if name := t.Function.Name; !nameForm.MatchString(name) || seen[name] {
			bad = append(bad, fmt.Sprintf("tool %d is named %q", i, name))
		}
		seen[t.Function.Name] = true
	}
	for i, m := range r.Messages {
		for _, c := range m.ToolCalls {
			if !nameForm.MatchString(c.Function.Name) {
				bad = append(bad, fmt.Sprintf("message %d calls %q", i, c.Function.Name))
			}
		}
	}
	return bad
}

func toolsNonEmpty(r request) (bad []string) {
	if r.hasTools && len(r.Tools) == 0 {
		bad = append(bad, "tools is an empty list")
	}
	for i, m := range r.Messages {
		if m.emptyCalls {
			bad = append(bad, fmt.Sprintf("message %d: tool_calls is an empty list", i))
		}
	}
	return bad
}

func systemFirst(r request) (bad []string) {
	for i, m := range r.Messages {
		if i > 0 && (m.Role == "system" || m.Role == "developer") {
			bad = append(bad, fmt.Sprintf("message %d is a %s message", i, m.Role))
		}
	}
	return bad
}

func stringToolContent(r request) (bad []string) {
	for i, m := range r.Messages {
		var text string
		if m.Role == "tool" && (len(m.Content) == 0 || json.Unmarshal(m.Content, &text) != nil) {
			bad = append(bad, fmt.Sprintf("message %d: the content of a tool message is not a text", i))
		}
	}
	return bad
}

func contentOrCalls(r request) (bad []string) {
	for i, m := range r.Messages {
		content := strings.TrimSpace(string(m.Content))
		empty := content == "" || content == "null" || content == `""` || content == "[]"
		if m.Role == "assistant" && len(m.ToolCalls) == 0 && empty {
			bad = append(bad, fmt.Sprintf("message %d: an assistant message with neither text nor calls", i))
		}
	}
	return bad
}

func contentKeyPresent(r request) (bad []string) {
	for i, m := range r.Messages {
		if m.Role == "assistant" && m.Content == nil {
			bad = append(bad, fmt.Sprintf("message %d: an assistant message without the content key", i))
		}
	}
	return bad
}

// broken runs rules over a request and gives what is wrong by the rule's name.
func broken(r request, names []string) map[string][]string {
	out := map[string][]string{}
	for _, name := range names {
		if bad := ruleOf(name)(r); len(bad) > 0 {
			out[name] = bad
		}
	}
	return out
}
