package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
)

// MaxAnswer caps one answer of a server, in bytes; the SDK has no cap of its own.
const MaxAnswer = 4 << 20

const (
	connectTimeout = 10 * time.Second
	callTimeout    = 45 * time.Second // an answer with a wrong id would otherwise be waited for for ever
	maxPages       = 20
)

// RemoteTool is a tool as a server describes it. The description is the server's text, not ours.
type RemoteTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	ReadOnly    bool
	Idempotent  bool
}

// Client calls the tools of one MCP server. It connects at its first use, connects again when the
// session is lost, and is safe for concurrent use.
type Client struct {
	endpoint string
	http     *http.Client
	sdk      *sdk.Client

	connecting chan struct{} // holds one token while somebody connects
	closing    sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	current    *session
	repeatable map[string]bool // what the server's annotations say, once they were needed
}

// NewClient makes a client of the server at an endpoint. It does not connect yet. Calls carry their
// identifiers in `_meta`; in headers only if the HTTP client's transport is a flow.Transport.
func NewClient(endpoint string, hc *http.Client) *Client {
	own := *hc
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = capTransport{next: own.Transport}
	return &Client{
		endpoint:   endpoint,
		http:       &own,
		sdk:        sdk.NewClient(&sdk.Implementation{Name: "agentmesh", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}),
		connecting: make(chan struct{}, 1),
	}
}

// ListTools walks every page of the server's list.
func (c *Client) ListTools(ctx context.Context) ([]RemoteTool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var tools []RemoteTool
	err := c.do(ctx, func(context.Context) bool { return true }, func(ctx context.Context, s *session) error {
		var err error
		tools, err = s.tools(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tools of %s: %w", c.endpoint, err)
	}
	c.remember(tools)
	return tools, nil
}

// CallTool calls a tool and gives its structured content, or its text if it has none. A tool that failed
// and a server that did not answer are both a *fault.Error. After a lost session or connection the call
// is repeated once, and only if the server says that repeating it is harmless.
func (c *Client) CallTool(ctx context.Context, name string, args any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var res *sdk.CallToolResult
	mayRepeat := func(ctx context.Context) bool { return c.mayRepeat(ctx, name) }
	err := c.do(ctx, mayRepeat, func(ctx context.Context, s *session) error {
		var err error
		res, err = s.sdk.CallTool(ctx, &sdk.CallToolParams{Meta: metaOf(ctx), Name: name, Arguments: args})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	if res.IsError {
		return nil, fmt.Errorf("call %s: %w", name, faultOfResult(res))
	}
	return contentOf(res)
}

// Close ends the session and waits until nothing of it runs. Later calls fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	s := c.current
	c.current = nil
	c.mu.Unlock()
	var err error
	if s != nil {
		err = s.sdk.Close()
	}
	c.closing.Wait()
	if errors.Is(err, sdk.ErrSessionMissing) {
		return nil
	}
	return err
}

// do runs one request on the session, and once more on a new one if the first was lost on the way and
// mayRepeat allows it.
func (c *Client) do(ctx context.Context, mayRepeat func(context.Context) bool, request func(context.Context, *session) error) error {
	again, err := c.try(ctx, request)
	if err != nil && again && mayRepeat(ctx) {
		if _, second := c.try(ctx, request); !fault.Unsent(second) { // else the first is all that may have arrived
			return second
		}
	}
	return err
}

func (c *Client) try(ctx context.Context, request func(context.Context, *session) error) (again bool, err error) {
	x := &exchange{}
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	s, err := c.acquire(ctx)
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			err = faultOfTransport(ctx, err, x)
		}
		return false, &fault.Error{Code: fault.CodeOf(err), Message: fault.MessageOf(err), Err: err, Unsent: true}
	}
	defer c.release(s)
	x.reset()
	err = request(ctx, s)
	if err == nil {
		return false, nil
	}
	if f := faultOfRPC(err); f != nil {
		return false, f
	}
	f := faultOfTransport(ctx, err, x)
	if ctx.Err() != nil || x.refused() {
		return false, f // the session is still good
	}
	c.retire(s)
	return x.lost(err), f
}

// mayRepeat tells whether the server's annotations make a second call of a tool harmless.
func (c *Client) mayRepeat(ctx context.Context, name string) bool {
	c.mu.Lock()
	seen := c.repeatable
	c.mu.Unlock()
	if seen == nil {
		if _, err := c.ListTools(ctx); err != nil {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.repeatable[name]
}

func (c *Client) remember(tools []RemoteTool) {
	repeatable := make(map[string]bool, len(tools))
	for _, t := range tools {
		repeatable[t.Name] = t.ReadOnly || t.Idempotent
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repeatable = repeatable
}

// contentOf gives what the model should read: structured content, or else the text, never both.
func contentOf(res *sdk.CallToolResult) (json.RawMessage, error) {
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return nil, fmt.Errorf("read structured content: %w", err)
		}
		return raw, nil
	}
	text := textOf(res)
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed), nil
		}
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("read text content: %w", err)
	}
	return raw, nil
}

func textOf(res *sdk.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}
