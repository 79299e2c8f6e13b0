// Package mcp speaks the Model Context Protocol over Streamable HTTP, as a server of our own tools and
// as a client of anybody's. It is the only door of the official SDK: everything else sees tools, JSON and
// faults. It must not know what any tool is about.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxRequest caps one request, in bytes, and ToolTimeout is how long a tool has that says nothing else.
const (
	MaxRequest  = 1 << 20
	ToolTimeout = 30 * time.Second
)

const (
	listTTL = 5 * time.Minute // the set of tools is fixed while the process runs
)

// Tool is one tool of our server. Handle gets arguments that fit InputSchema, must end when its context
// does, and returns a value that fits OutputSchema (slices not nil) or an error, best a *fault.Error.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage // root type object; further properties are refused
	OutputSchema json.RawMessage // optional; root type object, for old clients
	ReadOnly     bool
	Idempotent   bool
	Destructive  bool
	Write        bool          // listed and served only with the write scope
	Operate      bool          // listed and served only with the operator's scope
	Timeout      time.Duration // default 30 s
	Handle       func(ctx context.Context, args json.RawMessage) (any, error)
}

// Options are the settings of a server.
type Options struct {
	Name         string
	Version      string
	Instructions string

	// CanWrite tells whether a request has the write scope; nil means that none has.
	CanWrite func(*http.Request) bool

	// CanOperate tells whether a request has the operator's scope; nil means that none has.
	CanOperate func(*http.Request) bool

	// Guarded says that whoever calls this handler has checked Host and Origin already. Otherwise
	// the handler refuses foreign hosts on loopback and foreign origins everywhere.
	Guarded bool
}

// NewHandler makes the endpoint of a set of tools. It is stateless and speaks both eras: 2026-07-28 and
// the revisions with an initialize handshake. A tool whose schema is not valid is a bug and panics.
func NewHandler(tools []Tool, opts Options) http.Handler {
	only := func(belongs func(Tool) bool) *sdk.Server {
		return newServer(slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !belongs(t) }), opts)
	}
	public := only(func(t Tool) bool { return !t.Write && !t.Operate })
	writing := only(func(t Tool) bool { return !t.Operate })
	operating := only(func(t Tool) bool { return !t.Write })
	endpoint := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		switch {
		case opts.CanOperate != nil && opts.CanOperate(r):
			return operating
		case opts.CanWrite != nil && opts.CanWrite(r):
			return writing
		}
		return public
	}, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		PropagateRequestCancellation: true, // closing the response is how a client cancels
		MaxRequestBodyBytes:          MaxRequest,
		DisableLocalhostProtection:   opts.Guarded,
	})
	var h http.Handler = endpoint
	if !opts.Guarded {
		h = http.NewCrossOriginProtection().Handler(endpoint)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no") // the SDK leaves it to us, and proxies hold streams back
		h.ServeHTTP(w, r)
	})
}

func newServer(tools []Tool, opts Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: opts.Name, Version: opts.Version}, &sdk.ServerOptions{
		Instructions: opts.Instructions,
		// No logging, and no list-changed: the set never changes.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs = int(listTTL.Milliseconds())
			c.CacheScope = "private" // the list depends on the scope of the request
		},
	})
	s.AddReceivingMiddleware(guard)
	for _, t := range tools {
		sdk.AddTool(s, t.wire(), t.serve)
	}
	return s
}

// wire is the tool as the protocol shows it.
func (t Tool) wire() *sdk.Tool {
	closed := false
	out := &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: tighten(t.Name, t.InputSchema),
		Annotations: &sdk.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.ReadOnly,
			IdempotentHint:  t.ReadOnly || t.Idempotent,
			DestructiveHint: &t.Destructive,
			OpenWorldHint:   &closed,
		},
	}
	if len(t.OutputSchema) > 0 {
		out.OutputSchema = t.OutputSchema
	}
	if t.Write || t.Operate {
		// The MCP Apps label: hosts keep the tool from the model. A label, not a lock.
		out.Meta = sdk.Meta{"ui": map[string]any{"visibility": []string{"app"}}}
	}
	return out
}

// tighten makes an input schema explicit about its properties and refuses others.
func tighten(tool string, schema json.RawMessage) map[string]any {
	root := map[string]any{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &root); err != nil {
			panic(fmt.Sprintf("input schema of tool %s: %v", tool, err))
		}
	}
	root["type"] = "object"
	root["additionalProperties"] = false
	if _, ok := root["properties"]; !ok {
		root["properties"] = map[string]any{}
	}
	return root
}
