package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentmesh/app/platform/fault"
)

// toolError is the structuredContent of a result with isError.
type toolError struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// errorData is the `data` of a JSON-RPC error: several of our codes share one number.
type errorData struct {
	Code fault.Code `json:"code"`
}

// errorResult is a tool's failure as the model and our client read it.
func errorResult(code fault.Code, message string) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		IsError:           true,
		Content:           []sdk.Content{&sdk.TextContent{Text: message}},
		StructuredContent: toolError{Error: errorBody{Code: code, Message: message}},
	}
}

// rpcError is a protocol error that carries our code.
func rpcError(number int64, code fault.Code, message string) *jsonrpc.Error {
	data, _ := json.Marshal(errorData{Code: code}) // two strings: cannot fail
	return &jsonrpc.Error{Code: number, Message: message, Data: data}
}

// faultOfResult restores the fault of a result with isError.
func faultOfResult(res *sdk.CallToolResult) *fault.Error {
	var body toolError
	if raw, err := json.Marshal(res.StructuredContent); err == nil {
		_ = json.Unmarshal(raw, &body) // another server's shape leaves body empty
	}
	message := body.Error.Message
	if message == "" {
		message = textOf(res)
	}
	if message == "" {
		message = "the tool failed without saying why"
	}
	return &fault.Error{Code: codeOr(body.Error.Code, fault.Invalid), Message: message}
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
		return fault.Wrap(err, fault.TooLarge, "the MCP server's answer is larger than %d bytes", maxAnswer)
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
