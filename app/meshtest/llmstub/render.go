package llmstub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The shorthand of Say and Call is written the way that the reference API writes it.

func (c ScriptCall) wire(i int) map[string]any {
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("call_stub_%d", i+1)
	}
	return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": compact(c.Arguments)}}
}

func (t Turn) finish() string {
	if len(t.Call) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// document is the answer to a request that asked for no stream.
func (t Turn) document() string {
	message := map[string]any{"role": "assistant", "content": nil}
	if t.Say != "" {
		message["content"] = t.Say
	}
	var calls []map[string]any
	for i, c := range t.Call {
		calls = append(calls, c.wire(i))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return toJSON(map[string]any{
		"id": "chatcmpl-stub", "object": "chat.completion", "created": 1700000000, "model": "{{model}}",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": t.finish()}},
		"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	})
}

// chunks is the answer as a stream.
func (t Turn) chunks() string {
	var b strings.Builder
	chunk := func(delta map[string]any, finish any) {
		b.WriteString("data: " + toJSON(map[string]any{
			"id": "chatcmpl-stub", "object": "chat.completion.chunk", "created": 1700000000, "model": "{{model}}",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}) + "\n\n«|»")
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, words := range inPieces(t.Say) {
		chunk(map[string]any{"content": words}, nil)
	}
	for i, c := range t.Call {
		head := c.wire(i)
		head["index"] = i
		args := map[string]any{"arguments": compact(c.Arguments)}
		head["function"] = map[string]any{"name": c.Name, "arguments": ""}
		chunk(map[string]any{"tool_calls": []any{head}}, nil)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": args}}}, nil)
	}
	chunk(map[string]any{}, t.finish())
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

func inPieces(s string) (out []string) {
	const size = 8
	runes := []rune(s)
	for len(runes) > size {
		out, runes = append(out, string(runes[:size])), runes[size:]
	}
	if len(runes) > 0 {
		out = append(out, string(runes))
	}
	return out
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// toJSON writes values that always encode, with < and > as they are.
func toJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func errorDocument(message, code string) string {
	return toJSON(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": code}})
}
