// Package openai talks to any endpoint that offers OpenAI's Chat Completions. It is the door of
// openai-go, which makes the request; the stream is read and folded here, because the library's own
// decoder and accumulator break on what other endpoints send. The package must not know runs.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/redact"
	"agentmesh/capability"
)

// maxTools is how many tools are offered at once: endpoints refuse more.
const maxTools = 128

// maxBody caps an answer that is not a stream, in bytes.
const maxBody = 8 << 20

// Config names an endpoint. The library's environment variables are never read: a person's real key
// must not reach another party.
type Config struct {
	BaseURL string // up to and including /v1
	Key     string // empty: no Authorization header
	Model   string
	Context int // its context size in tokens; 0: 32,768
	HTTP    *http.Client

	FirstPiece time.Duration // how long its first piece may take; 0: two minutes
	Silence    time.Duration // how long it may be silent between two pieces; 0: a minute
}

// Model is one endpoint with one model name.
type Model struct {
	name    string
	context int
	secrets *redact.Set // what is sent to the endpoint, and must not come back
	first   time.Duration
	between time.Duration
	service oai.ChatCompletionService
}

var _ agent.Model = (*Model)(nil)

// New makes the client. It sends nothing yet.
func New(c Config) *Model {
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL), option.WithHTTPClient(c.HTTP), option.WithMaxRetries(0),
		option.WithMiddleware(refused),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return &Model{name: c.Model, context: c.Context, first: cmp.Or(c.FirstPiece, firstPiece), between: cmp.Or(c.Silence, betweenTwo), secrets: redact.New(c.Key), service: oai.NewChatCompletionService(options...)}
}

// CheckBaseURL finds what the library would take without a word and then send to a senseless address.
func CheckBaseURL(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return fmt.Errorf("%q is not an http or https address", base)
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("it has a query or a fragment, which would be lost; a key belongs into LLM_API_KEY")
	case u.User != nil:
		return errors.New("it holds a user name or password: put the key into LLM_API_KEY")
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/chat/completions"):
		return fmt.Errorf("%q ends with /chat/completions, which is added by the program", base)
	}
	return nil
}

// Name gives the model's name.
func (m *Model) Name() string { return m.name }

// defaultContext is the context size of a model that says nothing else, in tokens (design, section 10).
const defaultContext = 32_768

// ContextSize gives the model's context size in tokens.
func (m *Model) ContextSize() int { return cmp.Or(m.context, defaultContext) }

// Stream asks the model and gives its text in pieces as they come.
func (m *Model) Stream(ctx context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
	params := m.params(p)
	request, err := json.Marshal(params)
	if err != nil {
		return agent.Answer{}, &agent.ModelError{Class: agent.ModelInternal, Err: fault.Wrap(err, fault.Internal, "the request to the model could not be written")}
	}
	out := agent.Answer{Model: m.name, Request: request}
	var resp *http.Response
	live, silence, done := listen(ctx, m.first, m.between)
	defer done()
	_, err = m.service.New(live, params, option.WithJSONSet("stream", true), option.WithResponseBodyInto(&resp),
		option.WithHeader("Accept", "text/event-stream"))
	if err != nil {
		return out, classify(ctx, silence.cause(err), m.secrets)
	}
	defer func() { _ = resp.Body.Close() }()
	f := fold{onText: l.Text, secrets: m.secrets, hidden: redact.Stream{Set: m.secrets}, taken: takenIDs(p.Messages)}
	if len(p.Tools) > 0 {
		f.written = &written{}
	}
	err = silence.cause(f.read(silence.of(resp.Body)))
	f.flush()
	f.into(&out)
	if err != nil {
		return out, classify(ctx, err, m.secrets)
	}
	return out, nil
}

func (m *Model) params(p agent.Prompt) oai.ChatCompletionNewParams {
	params := oai.ChatCompletionNewParams{
		Model:         m.name,
		StreamOptions: oai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	for _, msg := range p.Messages {
		params.Messages = append(params.Messages, message(msg))
	}
	for _, d := range p.Tools[:min(len(p.Tools), maxTools)] {
		params.Tools = append(params.Tools, tool(d))
	}
	return params
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
func message(m agent.Message) oai.ChatCompletionMessageParamUnion {
	doc := map[string]any{"role": m.Role, "content": m.Text}
	if m.Role == agent.Tool {
		doc["tool_call_id"] = m.ToolCallID
	}
	if len(m.Calls) > 0 {
		calls := make([]map[string]any, 0, len(m.Calls))
		for _, c := range m.Calls {
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
		if m.Reasoning != "" { // with calls only: elsewhere some endpoints refuse it
			doc["reasoning_content"] = m.Reasoning
		}
		if m.Text == "" {
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
