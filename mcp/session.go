package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// session is one SDK session and who uses it. A retired one takes no new calls; the calls in flight end
// on it, because what broke it for one of them need not have broken it for the others.
type session struct {
	sdk     *sdk.ClientSession
	users   int
	retired bool
}

// acquire gives the session, connecting if there is none. One caller connects; the others wait for it.
func (c *Client) acquire(ctx context.Context) (*session, error) {
	if s, err := c.reuse(); s != nil || err != nil {
		return s, err
	}
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s, err := c.reuse(); s != nil || err != nil {
		return s, err
	}
	connected, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &session{sdk: connected, users: 1}
	if c.closed {
		s.retired = true // the release of this caller closes it
		return s, nil
	}
	c.current = s
	return s, nil
}

func (c *Client) reuse() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, fault.New(fault.Unavailable, "the MCP client is closed")
	case c.current != nil:
		c.current.users++
		return c.current, nil
	}
	return nil, nil
}

func (c *Client) connect(ctx context.Context) (*sdk.ClientSession, error) {
	// The session outlives this call, so it must not carry the call's identifiers.
	ctx, cancel := context.WithTimeout(flow.With(ctx, flow.IDs{}), connectTimeout)
	defer cancel()
	s, err := c.sdk.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint:             c.endpoint,
		HTTPClient:           c.http,
		MaxRetries:           -1, // repeating is decided by do
		DisableStandaloneSSE: true,
		MaxEventSize:         MaxAnswer,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", c.endpoint, err)
	}
	return s, nil
}

func (c *Client) release(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.users--
	if s.retired && s.users == 0 {
		c.closing.Go(func() { _ = s.sdk.Close() }) // may wait 5 s for a server that is gone
	}
}

func (c *Client) retire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.retired = true
	if c.current == s {
		c.current = nil
	}
}

// tools walks the pages of tools/list. A server may repeat a cursor for ever.
func (s *session) tools(ctx context.Context) ([]RemoteTool, error) {
	tools := []RemoteTool{}
	seen := map[string]bool{}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := s.sdk.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if remote, err := remoteTool(t); err == nil {
				tools = append(tools, remote)
			} else {
				flow.Log(ctx).Warn().Str("tool", t.Name).Err(err).Msg("tool left out")
			}
		}
		if page.NextCursor == "" {
			return tools, nil
		}
		if seen[page.NextCursor] {
			break
		}
		seen[page.NextCursor] = true
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	flow.Log(ctx).Warn().Int("pages", len(seen)).Msg("list of tools does not end, took what came")
	return tools, nil
}

func remoteTool(t *sdk.Tool) (RemoteTool, error) {
	input, err := json.Marshal(t.InputSchema)
	if err != nil {
		return RemoteTool{}, fmt.Errorf("read schema of %s: %w", t.Name, err)
	}
	remote := RemoteTool{Name: t.Name, Description: t.Description, InputSchema: input}
	if a := t.Annotations; a != nil {
		remote.ReadOnly, remote.Idempotent = a.ReadOnlyHint, a.IdempotentHint
	}
	return remote, nil
}
