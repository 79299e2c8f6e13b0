package agui

import (
	"bytes"
	"encoding/json"
	"regexp"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// Limits of what an input tells of its client, in numbers and bytes. Each run keeps it, and each prompt holds it.
const (
	MaxTools       = 64
	MaxTool        = 16 << 10 // one tool, its schema included
	MaxToolsSize   = 64 << 10
	MaxContext     = 32
	MaxContextSize = 16 << 10
)

// ClientTool is a tool that the client runs.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Context is one thing that the client tells of how things stand with it. Its value should be a text; anything else
// is taken as the JSON that it is.
type Context struct {
	Description string          `json:"description"`
	Value       json.RawMessage `json:"value"`
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Client is what the input tells of its client. Its errors say what is wrong with it.
func (in RunAgentInput) Client() (agent.Client, error) {
	tools, err := clientTools(in.Tools)
	if err != nil {
		return agent.Client{}, err
	}
	context, err := clientContext(in.Context)
	return agent.Client{Tools: tools, Context: context}, err
}

func clientTools(list []ClientTool) ([]agent.ClientTool, error) {
	if len(list) > MaxTools {
		return nil, fault.New(fault.TooLarge, "tools has %d entries, more than %d", len(list), MaxTools)
	}
	var out []agent.ClientTool
	size, names := 0, map[string]bool{}
	for _, t := range list {
		if empty(t.Parameters) {
			t.Parameters = json.RawMessage(`{"type":"object"}`)
		}
		one := len(t.Name) + len(t.Description) + len(t.Parameters)
		size += one
		switch {
		case !toolName.MatchString(t.Name):
			return nil, fault.New(fault.Invalid, "tools: the name %q must have 1 to 64 letters, digits, _ or -", text.Clip(t.Name, 80))
		case names[t.Name]:
			return nil, fault.New(fault.Invalid, "tools: %s is there twice", t.Name)
		case one > MaxTool:
			return nil, fault.New(fault.TooLarge, "tools: %s is longer than %d bytes", t.Name, MaxTool)
		case size > MaxToolsSize:
			return nil, fault.New(fault.TooLarge, "tools are longer than %d bytes together", MaxToolsSize)
		}
		names[t.Name] = true
		out = append(out, agent.ClientTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return out, nil
}

func clientContext(list []Context) ([]agent.Context, error) {
	if len(list) > MaxContext {
		return nil, fault.New(fault.TooLarge, "context has %d entries, more than %d", len(list), MaxContext)
	}
	var out []agent.Context
	size := 0
	for _, c := range list {
		var value string
		if json.Unmarshal(c.Value, &value) != nil {
			value = string(c.Value)
		}
		if size += len(c.Description) + len(value); size > MaxContextSize {
			return nil, fault.New(fault.TooLarge, "context is longer than %d bytes", MaxContextSize)
		}
		out = append(out, agent.Context{Description: c.Description, Value: value})
	}
	return out, nil
}

func empty(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
