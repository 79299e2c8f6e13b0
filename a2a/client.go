package a2a

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// The identifiers in a message's metadata (D-74).
const (
	metaTrace      = "traceId"
	metaRun        = "runId"
	metaThread     = "threadId"
	metaInvocation = "toolInvocationId"
)

// MaxAnswer is the largest answer that a client reads, in bytes.
const MaxAnswer = 8 << 20

// Client calls one agent. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client

	mu         sync.Mutex
	closed     bool
	background sync.WaitGroup
}

// NewClient makes a client for the agent at an address, given as the address itself or as that of its card. Calls go to that
// address, whatever the card says. Limits are the caller's context; a timeout of the HTTP client is left out, since it would
// cut streams, and redirects are not followed.
func NewClient(address string, hc *http.Client) *Client {
	if hc == nil {
		hc = &http.Client{}
	}
	own := *hc
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: strings.TrimSuffix(strings.TrimSuffix(address, CardPath), "/"), http: &own}
}

// Close waits for calls and cancellations that are still under way. The client takes no calls afterwards.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.background.Wait()
	return nil
}

// Card fetches the agent's card.
func (c *Client) Card(ctx context.Context) (Card, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+CardPath, http.NoBody)
	if err != nil {
		return Card{}, fmt.Errorf("fetch agent card: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Card{}, unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Card{}, refusal(resp)
	}
	return ReadCard(resp.Body)
}

// message makes the message of a request: a text part always, a data part when a skill is named.
func (c *Client) message(ctx context.Context, req Request) (context.Context, *wire.Message, error) {
	ids := flow.From(ctx)
	msg := &wire.Message{
		ID: req.MessageID, Role: wire.MessageRoleUser, TaskID: wire.TaskID(req.TaskID), ContextID: req.ContextID,
		Metadata: map[string]any{},
	}
	if msg.ID == "" {
		msg.ID = messageID(ids, req.Skill)
	}
	if msg.ContextID == "" && msg.TaskID == "" {
		msg.ContextID = cmp.Or(ids.ContextID, flow.NewID("ctx"))
	}
	for name, id := range map[string]string{
		metaTrace: ids.TraceID, metaRun: ids.RunID, metaThread: ids.ThreadID, metaInvocation: ids.ToolInvocationID,
	} {
		if id != "" {
			msg.Metadata[name] = id
		}
	}
	text := req.Text
	if text == "" {
		text = "Please do: " + req.Skill
	}
	msg.Parts = wire.ContentParts{wire.NewTextPart(text)}
	if req.Skill != "" {
		raw, err := json.Marshal(command{Skill: req.Skill, Arguments: req.Arguments})
		if err != nil {
			return ctx, nil, fault.Wrap(err, fault.Invalid, "the arguments are not JSON")
		}
		msg.Parts = append(msg.Parts, dataPart(raw))
	}
	ids.ContextID = msg.ContextID
	return flow.With(ctx, ids), msg, nil
}

// messageID derives the id from the tool invocation, so that a retry of the same call is the same message.
func messageID(ids flow.IDs, skill string) string {
	switch {
	case ids.ToolInvocationID == "":
		return flow.NewID("msg")
	case skill == "":
		return "msg-" + ids.ToolInvocationID
	}
	return "msg-" + ids.ToolInvocationID + "-" + skill
}

// post sends a JSON-RPC request; the caller closes the body.
func (c *Client) post(ctx context.Context, method, accept string, params any) (*http.Response, error) {
	ids := flow.From(ctx)
	ids.RPCID = flow.NewID("rpc")
	ctx = flow.With(ctx, ids)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": ids.RPCID, "method": method, "params": params})
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set(HeaderVersion, Version)
	flow.Log(ctx).Debug().Str("method", method).Msg("a2a call")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return resp, nil
}

// readAnswer reads one JSON-RPC answer and gives its result, or its error as a fault.
func readAnswer(ctx context.Context, resp *http.Response) (json.RawMessage, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if len(body) > MaxAnswer {
		return nil, fault.New(fault.TooLarge, "the agent's answer is larger than %d bytes", MaxAnswer)
	}
	return openEnvelope(body)
}

func openEnvelope(body []byte) (json.RawMessage, error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the agent's answer is not readable")
	}
	if e.Error != nil {
		return nil, e.Error.fault()
	}
	if len(e.Result) == 0 {
		return nil, fault.New(fault.Unavailable, "the agent's answer has neither a result nor an error")
	}
	return e.Result, nil
}

// refusal turns an HTTP error into a fault: from the JSON-RPC error or the problem document in it, else from the status.
func refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var e envelope
	if kind == "application/json" && json.Unmarshal(body, &e) == nil && e.Error != nil {
		return e.Error.fault()
	}
	var problem struct {
		Code   fault.Code
		Detail string
	}
	if kind == "application/problem+json" && json.Unmarshal(body, &problem) == nil {
		if fault.Known(problem.Code) {
			return fault.New(problem.Code, "%s", problem.Detail)
		}
	}
	code := fault.FromStatus(resp.StatusCode)
	return fault.Wrap(fmt.Errorf("http status %d", resp.StatusCode), code, "%s", refusalText(code))
}

func refusalText(code fault.Code) string {
	switch code {
	case fault.Denied:
		return "the agent refused the caller"
	case fault.NotFound:
		return "there is no agent at this address"
	case fault.RateLimited:
		return "the agent takes no more calls now"
	case fault.TooLarge:
		return "the message is too large for the agent"
	case fault.Timeout:
		return "the agent did not answer in time"
	case fault.Unavailable:
		return "the agent is not available"
	}
	return "the agent refused the message"
}

// unreachable turns an error of the transport into a fault.
func unreachable(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, "the agent did not answer in time")
	case ctx.Err() != nil:
		return fault.Wrap(err, fault.Cancelled, "the call was cancelled")
	}
	return fault.Wrap(err, fault.Unavailable, "the agent cannot be reached")
}
