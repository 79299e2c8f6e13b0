// Package mcptool turns the tools of an MCP server into capabilities. What a tool is called and takes is
// the server's word; whether it is trusted to be read-only, and who may see it, is ours.
package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentmesh/capability"
	"agentmesh/mcp"
)

// Policy is what we say of a server's tool.
type Policy struct {
	Name       string
	ReadOnly   bool
	Idempotent bool
	Hidden     bool
	Timeout    time.Duration
}

// Discover asks a server for its tools and makes a capability of each that a policy names, in the order
// of the policies. A named tool that the server lacks is an error; one that nobody named is left alone.
func Discover(ctx context.Context, provider string, client *mcp.Client, policies []Policy) ([]capability.Definition, error) {
	tools, err := client.ListTools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tools of %s: %w", provider, err)
	}
	return Define(provider, client, tools, policies)
}

// Define is Discover for a server whose tools are known.
func Define(provider string, client *mcp.Client, tools []mcp.RemoteTool, policies []Policy) ([]capability.Definition, error) {
	byName := make(map[string]mcp.RemoteTool, len(tools))
	for _, t := range tools {
		byName[t.Name] = t
	}
	out := make([]capability.Definition, 0, len(policies))
	for _, p := range policies {
		t, ok := byName[p.Name]
		if !ok {
			return nil, fmt.Errorf("the MCP server %s has no tool %s", provider, p.Name)
		}
		out = append(out, definition(provider, client, t, p))
	}
	return out, nil
}

func definition(provider string, client *mcp.Client, t mcp.RemoteTool, p Policy) capability.Definition {
	return capability.Definition{
		Name: t.Name, Kind: capability.MCP, Provider: provider, Description: t.Description,
		InputSchema: t.InputSchema, ReadOnly: p.ReadOnly, Idempotent: p.Idempotent, Hidden: p.Hidden, Timeout: p.Timeout,
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			return client.CallTool(ctx, t.Name, call.Args)
		},
	}
}
