package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentmesh/app/platform/text"
)

// request is the part of a chat-completions request that the demo model reads.
type request struct {
	Model             string          `json:"model"`
	Messages          []message       `json:"messages"`
	Tools             []tool          `json:"tools"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls"`
	N                 *int            `json:"n"`
	Stream            bool            `json:"stream"`
	StreamOptions     struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role       string   `json:"role"`
	Content    content  `json:"content"`
	ToolCalls  []toolOf `json:"tool_calls"`
	ToolCallID string   `json:"tool_call_id"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// toolOf is a tool call on the wire.
type toolOf struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string    `json:"name,omitempty"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is a message's text: a string, null, or a list of parts of which the text parts are read.
type content string

// UnmarshalJSON reads any of the three forms.
func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content must be a string or a list of parts")
	}
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	*c = content(strings.Join(all, "\n"))
	return nil
}

// arguments are a call's arguments, JSON text inside a string; an object is taken as its JSON.
type arguments string

// UnmarshalJSON reads a string or any other JSON value.
func (a *arguments) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*a = arguments(text)
	return nil
}

// readRequest decodes a body and checks what the planner relies on.
func readRequest(body []byte) (request, error) {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		return request{}, fmt.Errorf("the body is not a chat-completions request: %w", err)
	}
	if len(req.Messages) == 0 {
		return request{}, errors.New("messages must hold at least one message")
	}
	for i, m := range req.Messages {
		if err := m.check(); err != nil {
			return request{}, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	for i, t := range req.Tools {
		if t.Function.Name == "" {
			return request{}, fmt.Errorf("tools[%d]: function.name is missing", i)
		}
	}
	if req.N != nil && *req.N != 1 {
		return request{}, errors.New("n must be 1")
	}
	return req, nil
}

func (m message) check() error {
	switch m.Role {
	case "system", "developer", "user", "assistant":
		return nil
	case "tool":
		if m.ToolCallID == "" {
			return errors.New("tool_call_id is missing")
		}
		return nil
	}
	return fmt.Errorf("unknown role %q", text.Cut(m.Role, 40))
}

// offered returns the names of the tools that may be called, after tool_choice.
func (r request) offered() map[string]bool {
	names := make(map[string]bool)
	for _, t := range r.Tools {
		names[t.Function.Name] = true
	}
	var word string
	var choice tool
	switch {
	case json.Unmarshal(r.ToolChoice, &word) == nil && word == "none":
		return nil
	case json.Unmarshal(r.ToolChoice, &choice) == nil && choice.Function.Name != "":
		return map[string]bool{choice.Function.Name: names[choice.Function.Name]}
	}
	return names
}
