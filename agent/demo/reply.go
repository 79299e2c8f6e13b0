package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"agentmesh/app/platform/text"
)

// reply is one answer of the demo model in the form of the wire.
type reply struct {
	id, model, text string
	calls           []toolOf
	usage           usage
	created         int64
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// newReply plans the answer to a request. Ids come from the request itself, so that the same request has the same
// answer, and grow with the conversation, so that no id comes twice in it.
func newReply(req request, created int64) reply {
	step := answerTo(req)
	if req.ParallelToolCalls != nil && !*req.ParallelToolCalls && len(step.calls) > 1 {
		step.calls = step.calls[:1]
	}
	said, _ := json.Marshal(req.Messages)
	digest := sha256.Sum256(said)
	r := reply{id: "chatcmpl-" + hex.EncodeToString(digest[:12]), model: cmp.Or(req.Model, modelName), text: step.text, created: created}
	spoken := step.text
	for i, c := range step.calls {
		call := toolOf{Type: "function", ID: fmt.Sprintf("call_%s%02d", hex.EncodeToString(digest[:9]), i)}
		call.Function.Name, call.Function.Arguments = c.tool, arguments(encode(c.args))
		r.calls = append(r.calls, call)
		spoken += c.tool + encode(c.args)
	}
	r.usage = usage{Prompt: promptTokens(req), Completion: tokens(spoken)}
	r.usage.Total = r.usage.Prompt + r.usage.Completion
	return r
}

func promptTokens(req request) int {
	count := 0
	for _, m := range req.Messages {
		count += tokens(string(m.Content))
		for _, c := range m.ToolCalls {
			count += tokens(c.Function.Name + string(c.Function.Arguments))
		}
	}
	return count
}

// tokens is an estimate: half of the characters.
func tokens(text string) int {
	return (utf8.RuneCountInString(text) + 1) / 2
}

func (r reply) finishReason() string {
	if len(r.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// head returns the fields that the whole answer and every chunk share.
func (r reply) head(object string) map[string]any {
	return map[string]any{"id": r.id, "object": object, "created": r.created, "model": r.model}
}

// completion is the answer in one piece.
func (r reply) completion() map[string]any {
	said := map[string]any{"role": "assistant", "content": r.text, "refusal": nil}
	if len(r.calls) > 0 {
		said["content"], said["tool_calls"] = nil, r.calls
	}
	body := r.head("chat.completion")
	body["choices"] = []any{map[string]any{"index": 0, "message": said, "finish_reason": r.finishReason(), "logprobs": nil}}
	body["usage"] = r.usage
	return body
}

// chunk is one event of the streamed answer.
func (r reply) chunk(delta map[string]any, finish any, withUsage bool) map[string]any {
	body := r.head("chat.completion.chunk")
	body["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
	if withUsage {
		body["usage"] = nil
	}
	return body
}

// pieces cuts a text into parts of a few characters, never inside one.
func pieces(whole string, size int) []string {
	var parts []string
	for whole != "" {
		part := text.Cut(whole, size)
		parts = append(parts, part)
		whole = whole[len(part):]
	}
	return parts
}
