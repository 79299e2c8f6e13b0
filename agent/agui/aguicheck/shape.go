package aguicheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// form lists the members of a kind of event: those that it needs, and those that it may have.
type form struct{ need, may string }

// forms are the events of AG-UI 1.0 that every client since 0.0.47 knows.
func forms() map[string]form {
	return map[string]form{
		"RUN_STARTED":               {"threadId runId", "protocolVersion parentRunId input"},
		"RUN_FINISHED":              {"threadId runId", "result outcome usage"},
		"RUN_ERROR":                 {"message", "code usage"},
		"STEP_STARTED":              {"stepName", ""},
		"STEP_FINISHED":             {"stepName", ""},
		"TEXT_MESSAGE_START":        {"messageId", "role name"},
		"TEXT_MESSAGE_CONTENT":      {"messageId delta", ""},
		"TEXT_MESSAGE_END":          {"messageId", ""},
		"TOOL_CALL_START":           {"toolCallId toolCallName", "parentMessageId"},
		"TOOL_CALL_ARGS":            {"toolCallId delta", ""},
		"TOOL_CALL_END":             {"toolCallId", ""},
		"TOOL_CALL_RESULT":          {"messageId toolCallId content", "role"},
		"STATE_SNAPSHOT":            {"snapshot", ""},
		"MESSAGES_SNAPSHOT":         {"messages", ""},
		"REASONING_START":           {"messageId", ""},
		"REASONING_MESSAGE_START":   {"messageId role", ""},
		"REASONING_MESSAGE_CONTENT": {"messageId delta", ""},
		"REASONING_MESSAGE_END":     {"messageId", ""},
		"REASONING_END":             {"messageId", ""},
		"CUSTOM":                    {"name value", ""},
	}
}

// anything are the members that hold JSON of any kind; null is fine only there.
const anything = " value snapshot "

func (c *Checker) shape(kind string, e map[string]json.RawMessage) error {
	f, known := forms()[kind]
	if !known {
		return errors.New("clients before 1.0 throw on this kind")
	}
	for _, name := range strings.Fields(f.need) {
		if _, ok := e[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	allowed := " type timestamp metadata " + f.need + " " + f.may + " "
	for name, raw := range e {
		if !strings.Contains(allowed, " "+name+" ") {
			return fmt.Errorf("there is no member %s", name)
		}
		if err := c.member(kind, name, raw); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) member(kind, name string, raw json.RawMessage) error {
	null := bytes.Equal(raw, []byte("null"))
	switch {
	case strings.Contains(anything, " "+name+" "):
		return nil
	case null:
		return fmt.Errorf("%s is null", name)
	case name == "timestamp":
		return reads[int64](name, raw)
	case name == "metadata":
		return reads[map[string]any](name, raw)
	case name == "usage":
		return reads[[]struct {
			Model                                  *string
			InputTokens, OutputTokens, TotalTokens *int64
		}](name, raw)
	case name == "outcome":
		return c.outcome(raw)
	case name == "messages":
		return messages(raw)
	case name == "protocolVersion" && !c.modern:
		return errors.New("the client named no protocolVersion")
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%s is no text", name)
	}
	if s == "" && name != "content" && name != "code" {
		return fmt.Errorf("%s is empty", name)
	}
	if want := roleOf(kind); name == "role" && s != want {
		return fmt.Errorf("the role is %q, not %q", s, want)
	}
	return nil
}

func roleOf(kind string) string {
	switch kind {
	case "REASONING_MESSAGE_START":
		return "reasoning"
	case "TOOL_CALL_RESULT":
		return "tool"
	}
	return "assistant"
}

func reads[T any](name string, raw json.RawMessage) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// outcome checks how a run ended. Clients before 1.0 throw on cancelled and on pendingToolCallIds.
func (c *Checker) outcome(raw json.RawMessage) error {
	var o struct {
		Type       string   `json:"type"`
		Pending    []string `json:"pendingToolCallIds"`
		Interrupts []struct {
			ID        string          `json:"id"`
			Reason    string          `json:"reason"`
			ExpiresAt json.RawMessage `json:"expiresAt"`
		} `json:"interrupts"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("outcome: %w", err)
	}
	switch {
	case o.Type == "interrupt" && len(o.Interrupts) > 0 && o.Pending == nil:
		for _, i := range o.Interrupts {
			if i.ID == "" || i.Reason == "" || i.ExpiresAt != nil {
				return fmt.Errorf("outcome: an interrupt needs id and reason, and no expiresAt")
			}
		}
		return nil
	case c.modern && o.Interrupts == nil && (o.Type == "success" || o.Type == "cancelled" && o.Pending == nil):
		return nil
	}
	return fmt.Errorf("outcome %s is not for this client", raw)
}

// messages checks a snapshot: a client joins it with what it holds by id.
func messages(raw json.RawMessage) error {
	var list []struct {
		ID         string  `json:"id"`
		Role       string  `json:"role"`
		Content    *string `json:"content"`
		ToolCallID string  `json:"toolCallId"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string  `json:"name"`
				Arguments *string `json:"arguments"`
			} `json:"function"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	ids := map[string]bool{}
	for _, m := range list {
		switch {
		case m.ID == "" || ids[m.ID]:
			return fmt.Errorf("messages: the id %q is empty or there twice", m.ID)
		case m.Role != "user" && m.Role != "assistant" && m.Role != "tool":
			return fmt.Errorf("messages: %s has the role %q", m.ID, m.Role)
		case m.Content == nil:
			return fmt.Errorf("messages: %s has no content", m.ID)
		case (m.Role == "tool") != (m.ToolCallID != ""):
			return fmt.Errorf("messages: %s of the role %s with toolCallId %q", m.ID, m.Role, m.ToolCallID)
		}
		ids[m.ID] = true
		for _, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" || c.Function.Name == "" || c.Function.Arguments == nil {
				return fmt.Errorf("messages: a call of %s is not whole", m.ID)
			}
		}
	}
	return nil
}
