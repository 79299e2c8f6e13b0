package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
)

// metaError is the `_meta` key of a failed result that holds our code. Structured content is no place for it: official
// clients check that against the tool's output schema, of a failure too, and then lose the message.
const metaError = "agentmesh/error"

// errorData is how a failure carries our code: under metaError, or as the `data` of a JSON-RPC error, where several of our
// codes share one number.
type errorData struct {
	Code fault.Code `json:"code"`
}

// errorResult is a tool's failure as the model and our client read it.
func errorResult(code fault.Code, message string) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Meta:    sdk.Meta{metaError: errorData{Code: code}},
		IsError: true,
		Content: []sdk.Content{&sdk.TextContent{Text: message}},
	}
}

// rpcError is a protocol error that carries our code.
func rpcError(number int64, code fault.Code, message string) *jsonrpc.Error {
	data, _ := json.Marshal(errorData{Code: code}) // two strings: cannot fail
	return &jsonrpc.Error{Code: number, Message: message, Data: data}
}

// faultOfResult restores the fault of a result with isError.
func faultOfResult(res *sdk.CallToolResult) *fault.Error {
	var data errorData
	if raw, err := json.Marshal(res.Meta[metaError]); err == nil {
		_ = json.Unmarshal(raw, &data) // another server's results have none
	}
	message := cmp.Or(textOf(res), "the tool failed without saying why")
	return &fault.Error{Code: codeOr(data.Code, fault.Invalid), Message: message}
}

// The numbers that the SDK gives to failures of its own connection; they were not sent by the server.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
	codeNoResource    = -32002
)

// faultOfRPC restores the fault of a JSON-RPC error that the server sent; nil if err holds none.
func faultOfRPC(err error) *fault.Error {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return nil
	}
	code := fault.Internal
	switch rpc.Code {
	case codeClientClosing, codeServerClosing, codeRejected:
		return nil
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
		code = fault.Invalid
	case jsonrpc.CodeMethodNotFound, codeNoResource:
		code = fault.NotFound
	}
	var data errorData
	_ = json.Unmarshal(rpc.Data, &data) // no data, or another server's
	return &fault.Error{Code: codeOr(data.Code, code), Message: rpc.Message, Err: err}
}

// faultOfTransport says why no answer came.
func faultOfTransport(ctx context.Context, err error, x *exchange) *fault.Error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, "the MCP server did not answer in time")
	case ctx.Err() != nil:
		return fault.Wrap(err, fault.Cancelled, "cancelled")
	case x.tooLarge.Load():
		return fault.Wrap(err, fault.TooLarge, "the MCP server's answer is larger than %d bytes", MaxAnswer)
	}
	switch fault.FromStatus(int(x.status.Load())) {
	case fault.Denied:
		return fault.Wrap(err, fault.Denied, "the MCP server refused the request")
	case fault.TooLarge:
		return fault.Wrap(err, fault.TooLarge, "the MCP server refused a request of this size")
	case fault.RateLimited:
		return fault.Wrap(err, fault.RateLimited, "the MCP server asks to try again later")
	}
	return fault.Wrap(err, fault.Unavailable, "the MCP server is temporarily unavailable")
}

func codeOr(code, otherwise fault.Code) fault.Code {
	if fault.Known(code) {
		return code
	}
	return otherwise
}
