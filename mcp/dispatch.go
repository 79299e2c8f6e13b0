package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/app/platform/text"
)

const methodCallTool = "tools/call"

// maxReason is how much is told of why arguments do not fit, in characters.
const maxReason = 400

// serve runs one call of a tool within its deadline.
func (t Tool) serve(ctx context.Context, _ *sdk.CallToolRequest, args json.RawMessage) (*sdk.CallToolResult, any, error) {
	limit := t.Timeout
	if limit <= 0 {
		limit = ToolTimeout
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := t.Handle(ctx, args)
	line := flow.Log(ctx).Debug()
	if err != nil {
		line = flow.Log(ctx).Info().Err(err)
	}
	line.Str("tool", t.Name).Str("status", status(err)).Int64("dur_ms", time.Since(began).Milliseconds()).Msg("[FLOW] tool")
	switch {
	case err == nil && out == nil:
		return nil, struct{}{}, nil
	case err == nil:
		return nil, out, nil
	case fault.CodeOf(err) == fault.Timeout:
		return errorResult(fault.Timeout, fmt.Sprintf("%s did not finish within %s", t.Name, limit)), nil, nil
	}
	return errorResult(fault.CodeOf(err), fault.MessageOf(err)), nil, nil
}

func status(err error) string {
	if err == nil {
		return "ok"
	}
	return string(fault.CodeOf(err))
}

// guard stands around every request: it recovers, because the SDK runs handlers on goroutines of its own
// where a panic would end the process; it puts the identifiers into the context; and it gives every
// error our code.
func guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		call, isCall := req.(*sdk.CallToolRequest)
		isCall = isCall && call.Params != nil
		if isCall {
			var headers http.Header
			if extra := call.GetExtra(); extra != nil { // nil on transports without HTTP
				headers = extra.Header
			}
			ctx = withIDs(ctx, call.Params.Meta, headers)
			span.Describe(ctx, span.MCP, method+" "+call.Params.Name, "mcp.method.name", method,
				"gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", call.Params.Name)
		}
		defer func() {
			if p := recover(); p != nil {
				flow.Log(ctx).Error().Str("method", method).Any("panic", p).Bytes("stack", debug.Stack()).Msg("mcp handler panicked")
				res, err = nil, rpcError(jsonrpc.CodeInternalError, fault.Internal, "internal error")
			}
		}()
		res, err = next(ctx, method, req)
		if !isCall || method != methodCallTool {
			return res, err
		}
		if err != nil {
			err = coded(ctx, err)
			span.Fail(ctx, string(fault.CodeOf(faultOfRPC(err))))
			return nil, err
		}
		if called, ok := res.(*sdk.CallToolResult); ok {
			called = withCode(called)
			if called.IsError {
				span.Fail(ctx, string(faultOfResult(called).Code))
			}
			return called, nil
		}
		return res, nil
	}
}

// coded gives an error of tools/call a number and our code. What is not a protocol error by intent is a
// bug of ours, such as a result that breaks its own schema.
func coded(ctx context.Context, err error) error {
	var rpc *jsonrpc.Error
	switch {
	case !errors.As(err, &rpc):
		flow.Log(ctx).Error().Err(err).Msg("mcp call broke")
		return rpcError(jsonrpc.CodeInternalError, fault.Internal, "internal error")
	case len(rpc.Data) > 0:
		return rpc
	case rpc.Code == jsonrpc.CodeInvalidParams && strings.HasPrefix(rpc.Message, "unknown tool"):
		return rpcError(rpc.Code, fault.NotFound, rpc.Message)
	}
	return rpc
}

// withCode gives our shape to the failures that the SDK reports itself: arguments that do not fit. The result stays the
// SDK's own, because it has its type in a field that only the SDK can set.
func withCode(res *sdk.CallToolResult) *sdk.CallToolResult {
	if _, ours := res.Meta[metaError]; !res.IsError || ours {
		return res
	}
	why := strings.TrimPrefix(textOf(res), `validating "arguments": `) // it repeats the value, however large
	shape := errorResult(fault.Invalid, "the arguments do not fit the tool's schema: "+text.Clip(why, maxReason))
	res.Meta, res.Content = shape.Meta, shape.Content
	return res
}
