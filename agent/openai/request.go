package openai

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// params is the request for a prompt, which offers so many of its tools as the endpoint takes.
func (m *Model) params(ctx context.Context, p agent.Prompt) oai.ChatCompletionNewParams {
	params := oai.ChatCompletionNewParams{
		Model:         m.config.Model,
		StreamOptions: oai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	for _, msg := range p.Messages {
		params.Messages = append(params.Messages, m.message(msg))
	}
	most := min(len(p.Tools), m.config.maxTools())
	for _, d := range p.Tools[:most] {
		params.Tools = append(params.Tools, tool(d))
	}
	m.cut.tell(ctx, m.config, p.Tools[most:])
	params.SetExtraFields(m.config.fields())
	return params
}

// fields are what a request has beside what the library knows how to write, and what it must not have.
func (c Config) fields() map[string]any {
	fields := map[string]any{"stream": true}
	for name, value := range c.Extra {
		fields[name] = value
	}
	for _, name := range c.LeaveOut {
		fields[name] = param.Omit
		if name == "stream" { // its options are an error without it
			fields["stream_options"] = param.Omit
		}
	}
	return fields
}

// cut remembers which tools were left out of requests, so that each set is told of once.
type cut struct {
	mu   sync.Mutex
	sets map[string]bool
}

// maxSets bounds what cut remembers: a client may send other tools each time.
const maxSets = 100

// tell logs which tools a model is not offered (case tool-hundred-and-thirty).
func (c *cut) tell(ctx context.Context, to Config, missing []capability.Definition) {
	if len(missing) == 0 {
		return
	}
	names := make([]string, 0, len(missing))
	for _, d := range missing {
		names = append(names, d.Name)
	}
	set := strings.Join(names, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets[set] {
		return
	}
	if c.sets == nil || len(c.sets) >= maxSets {
		c.sets = map[string]bool{}
	}
	c.sets[set] = true
	flow.Log(ctx).Warn().Str("model", to.Model).Int("max_tools", to.maxTools()).Strs("tools", names).Msg("tools are not offered: there are more than the endpoint takes")
}

func tool(d capability.Definition) oai.ChatCompletionToolUnionParam {
	var schema shared.FunctionParameters
	_ = json.Unmarshal(d.InputSchema, &schema) // checked at registration
	return oai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: d.Name, Description: param.NewOpt(d.Description), Parameters: schema,
	})
}

// message writes one message as raw JSON: the library's own types leave out what some endpoints insist
// on, such as the content of an assistant message that only calls tools.
func (m *Model) message(msg agent.Message) oai.ChatCompletionMessageParamUnion {
	doc := map[string]any{"role": msg.Role, "content": msg.Text}
	if msg.Role == agent.Tool {
		doc["tool_call_id"] = msg.ToolCallID
	}
	if len(msg.Calls) > 0 {
		calls := make([]map[string]any, 0, len(msg.Calls))
		for _, c := range msg.Calls {
			one := map[string]any{
				"id": c.ID, "type": "function",
				"function": map[string]any{"name": legalName(c.Name), "arguments": argumentsSentBack(c.Args)},
			}
			if len(c.Extra) > 0 {
				one["extra_content"] = c.Extra
			}
			calls = append(calls, one)
		}
		doc["tool_calls"] = calls
		if msg.Reasoning != "" && !m.config.WithoutReasoning { // with calls only: elsewhere some endpoints refuse it
			doc["reasoning_content"] = msg.Reasoning
		}
		if msg.Text == "" {
			doc["content"] = nil
		}
	}
	raw, _ := json.Marshal(doc) // strings and maps always encode
	return param.Override[oai.ChatCompletionMessageParamUnion](json.RawMessage(raw))
}

// argumentsSentBack is what goes back of a call's arguments: what was not one JSON object is not
// repeated to the endpoint, the result says what was wrong.
func argumentsSentBack(args json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil || object == nil {
		return "{}"
	}
	return string(args)
}

// legalName makes a name that every endpoint takes of one that a model made up.
func legalName(name string) string {
	legal := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || ('0' <= r && r <= '9') || ('a' <= r && r <= 'z') || ('A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	if legal == "" {
		return unnamed
	}
	return legal[:min(len(legal), 64)]
}
