// Package openai talks to any endpoint that offers OpenAI's Chat Completions. It is the door of
// openai-go, which makes the request; the stream is read and folded here, because the library's own
// decoder and accumulator break on what other endpoints send. The package must not know runs.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/redact"
)

// maxBody caps an answer that is not a stream, in bytes.
const maxBody = 8 << 20

// Model is one endpoint with one model name.
type Model struct {
	config  Config
	secrets *redact.Set // what is sent to the endpoint, and must not come back
	cut     cut
	service oai.ChatCompletionService
}

var _ agent.Model = (*Model)(nil)

// New makes the client. It sends nothing yet.
func New(c Config) *Model {
	c.Context = cmp.Or(c.Context, defaultContext)
	c.FirstByte, c.Silence, c.Waiting = cmp.Or(c.FirstByte, firstByte), cmp.Or(c.Silence, betweenTwo), cmp.Or(c.Waiting, waiting)
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL), option.WithHTTPClient(c.HTTP), option.WithMaxRetries(0),
		option.WithMiddleware(refused),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return &Model{config: c, secrets: redact.New(c.Key), service: oai.NewChatCompletionService(options...)}
}

// Name gives the model's name.
func (m *Model) Name() string { return m.config.Model }

// defaultContext is the context size of a model that says nothing else, in tokens (design, section 10).
const defaultContext = 32_768

// ContextSize gives the model's context size in tokens.
func (m *Model) ContextSize() int { return m.config.Context }

// Stream asks the model and gives its text in pieces as they come.
func (m *Model) Stream(ctx context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
	params := m.params(ctx, p)
	request, err := json.Marshal(params)
	if err != nil {
		return agent.Answer{}, &agent.ModelError{Class: agent.ModelInternal, Err: fault.Wrap(err, fault.Internal, "the request to the model could not be written")}
	}
	out := agent.Answer{Model: m.config.Model, Request: request}
	var resp *http.Response
	live, silence, done := m.listen(ctx)
	defer done()
	_, err = m.service.New(live, params, option.WithResponseBodyInto(&resp),
		option.WithHeader("Accept", "text/event-stream"))
	if err != nil {
		return out, m.failed(ctx, silence.cause(err), request)
	}
	defer func() { _ = resp.Body.Close() }()
	f := fold{
		onText: l.Text, onPiece: silence.piece, secrets: m.secrets, hidden: redact.Stream{Set: m.secrets}, taken: takenIDs(p.Messages),
	}
	if len(p.Tools) > 0 {
		f.written = &written{}
	}
	err = silence.cause(f.read(silence.of(resp.Body)))
	f.flush()
	f.into(&out)
	if err != nil {
		return out, m.failed(ctx, err, request)
	}
	return out, nil
}
