package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/limit"
	"agentmesh/app/platform/span"
)

const (
	// HeaderVersion names the protocol version of a request.
	HeaderVersion = "A2A-Version"
	// MaxBody is the largest request that an agent takes, in bytes.
	MaxBody = 1 << 20

	// How many streams of one agent a user, and all users, may have open at once.
	maxStreamsOfUser = 500
	maxStreams       = 2000
)

var (
	versionPattern = regexp.MustCompile(`^1\.0(\.[0-9]+)?$`)
	idPattern      = regexp.MustCompile(`^("|-?[0-9]|null$)`)
)

// Options are what an agent's edge needs.
type Options struct {
	Card      Card
	Executor  Executor
	Now       func() time.Time // time.Now when nil
	KeepAlive time.Duration    // between comments on a silent stream; 15 s when zero
}

// Handler is an agent as HTTP shows it: its card, and JSON-RPC.
type Handler struct {
	prefix    string
	card      Card
	rpc       a2asrv.RequestHandler
	keepAlive time.Duration
	streams   *limit.Gate
	stop      func(context.Context) error
}

// NewHandler makes the handler of an agent whose paths begin with prefix, such as "/agents/food".
func NewHandler(prefix string, o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 15 * time.Second
	}
	e := newEngine(o.Executor, o.Now)
	return &Handler{prefix: prefix, card: o.Card, rpc: e, keepAlive: o.KeepAlive, streams: limit.NewGate("open streams", maxStreamsOfUser, maxStreams), stop: e.close}
}

// Close ends the agent's tasks and returns once none runs.
func (h *Handler) Close(ctx context.Context) error { return h.stop(ctx) }

// ServeHTTP serves the card and the JSON-RPC address.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	switch {
	case ok && path == CardPath:
		ServeCard(w, r, h.card)
	case ok && (path == "" || path == "/"):
		h.serveRPC(w, r)
	default:
		fault.Write(w, fault.New(fault.NotFound, "this agent has no such address"))
	}
}

func (h *Handler) serveRPC(w http.ResponseWriter, r *http.Request) {
	call, status, err := ReadCall(w, r)
	if err != nil {
		if status == http.StatusMethodNotAllowed {
			fault.MethodNotAllowed(w, http.MethodPost)
			return
		}
		WriteError(w, status, call.ID, err)
		return
	}
	ids := flow.From(r.Context())
	ids.RPCID = strings.Trim(string(call.ID), `"`)
	ctx := flow.With(r.Context(), ids)
	span.Describe(ctx, span.Agent, "invoke_agent "+h.card.Name, "gen_ai.operation.name", "invoke_agent", "gen_ai.agent.name", h.card.Name,
		"rpc.system", "jsonrpc", "rpc.method", call.Method, "agentmesh.rpc.id", ids.RPCID)
	defer func() {
		if p := recover(); p != nil {
			flow.Log(ctx).Error().Err(fmt.Errorf("%v\n%s", p, debug.Stack())).Msg("a2a handler panicked")
			WriteError(w, http.StatusOK, call.ID, errors.New("panic"))
		}
	}()
	if call.Method == methodStream || call.Method == methodSubscribe {
		h.serveStream(ctx, w, r, call)
		return
	}
	result, err := h.dispatch(ctx, call)
	if err != nil {
		if r.Context().Err() != nil {
			return // nobody is there to read it
		}
		span.Fail(ctx, string(fault.CodeOf(err)))
		WriteError(w, http.StatusOK, call.ID, err)
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		WriteError(w, http.StatusOK, call.ID, fmt.Errorf("write result: %w", err))
		return
	}
	writeEnvelope(w, http.StatusOK, envelope{ID: call.ID, Result: raw})
}

// Call is a JSON-RPC request. Body is what was read, to be sent on.
type Call struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Body   []byte
}

// ReadCall reads and checks a JSON-RPC request: method, content type, size, protocol version and envelope. With an error
// comes the HTTP status to answer it with.
func ReadCall(w http.ResponseWriter, r *http.Request) (Call, int, error) {
	if r.Method != http.MethodPost {
		return Call{}, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "send a POST")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Call{}, http.StatusUnsupportedMediaType, newRPCError(-32600, "INVALID_REQUEST", fault.Invalid, "send application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return Call{}, http.StatusRequestEntityTooLarge, fault.New(fault.TooLarge, "the body is larger than %d bytes", MaxBody)
	case err != nil:
		return Call{}, http.StatusBadRequest, wire.ErrParseError
	}
	var in struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if !json.Valid(body) {
		return Call{}, http.StatusOK, wire.ErrParseError
	}
	if err := json.Unmarshal(body, &in); err != nil || in.JSONRPC != "2.0" || in.Method == "" {
		return Call{}, http.StatusOK, wire.ErrInvalidRequest
	}
	if len(in.ID) > 0 && !idPattern.Match(in.ID) {
		return Call{}, http.StatusOK, wire.ErrInvalidRequest
	}
	call := Call{ID: in.ID, Method: in.Method, Params: in.Params, Body: body}
	version := strings.TrimSpace(r.Header.Get(HeaderVersion))
	if version == "" {
		version = r.URL.Query().Get(HeaderVersion)
	}
	if version != "" && !versionPattern.MatchString(version) {
		return call, http.StatusOK, wire.ErrVersionNotSupported
	}
	return call, http.StatusOK, nil
}

// decode reads the parameters of a method.
func decode[T any](params json.RawMessage) (*T, error) {
	var out T
	if len(bytes.TrimSpace(params)) == 0 || string(params) == "null" {
		return nil, fault.New(fault.Invalid, "the method needs parameters")
	}
	if err := json.Unmarshal(params, &out); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the parameters do not have the form that the method needs")
	}
	return &out, nil
}
