package a2a

import (
	"encoding/json"
	"errors"
	"net/http"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/app/platform/fault"
)

// errorInfoType marks a detail of an error as google.rpc.ErrorInfo (A2A 1.0, section 9.5).
const errorInfoType = "type.googleapis.com/google.rpc.ErrorInfo"

// rpcError is a JSON-RPC error object. Its message is safe to show.
type rpcError struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Data    []errorInfo `json:"data,omitempty"`
}

type errorInfo struct {
	Type     string            `json:"@type"`
	Reason   string            `json:"reason,omitempty"`
	Domain   string            `json:"domain,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Error gives the message.
func (e *rpcError) Error() string { return e.Message }

func newRPCError(number int, reason string, code fault.Code, message string) *rpcError {
	return &rpcError{Code: number, Message: message, Data: []errorInfo{{
		Type: errorInfoType, Reason: reason, Domain: wire.ProtocolDomain, Metadata: map[string]string{"code": string(code)},
	}}}
}

// Number gives the JSON-RPC number of a fault code. The code itself goes along in the error's details.
func Number(code fault.Code) int {
	switch code {
	case fault.Invalid:
		return -32602
	case fault.NotFound:
		return -32001
	case fault.TooLarge:
		return -32600
	case fault.Conflict, fault.Gone, fault.RateLimited, fault.Denied, fault.Cancelled:
		return -32000
	}
	return -32603
}

func reasonOf(code fault.Code) string {
	switch code {
	case fault.Invalid:
		return "INVALID_PARAMS"
	case fault.NotFound:
		return "TASK_NOT_FOUND"
	case fault.TooLarge:
		return "INVALID_REQUEST"
	case fault.Conflict, fault.Gone, fault.RateLimited, fault.Denied, fault.Cancelled:
		return "SERVER_ERROR"
	}
	return "INTERNAL_ERROR"
}

// asRPCError turns whatever went wrong into an error object that shows nothing of the inside.
func asRPCError(err error) *rpcError {
	var own *rpcError
	if errors.As(err, &own) {
		return own
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return newRPCError(Number(f.Code), reasonOf(f.Code), f.Code, f.Message)
	}
	for _, known := range []struct {
		sentinel error
		number   int
		code     fault.Code
		message  string
	}{
		{wire.ErrTaskNotFound, -32001, fault.NotFound, "there is no such task"},
		{wire.ErrTaskNotCancelable, -32002, fault.Conflict, "the task has ended and cannot be cancelled"},
		{wire.ErrPushNotificationNotSupported, -32003, fault.Invalid, "this agent sends no push notifications"},
		{wire.ErrUnsupportedOperation, -32004, fault.Conflict, "the task does not take this now"},
		{wire.ErrUnsupportedContentType, -32005, fault.Invalid, "this agent does not take that kind of content"},
		{wire.ErrExtendedCardNotConfigured, -32007, fault.Invalid, "this agent has no extended card"},
		{wire.ErrVersionNotSupported, -32009, fault.Invalid, "this agent speaks A2A " + Version + " only"},
		{wire.ErrParseError, -32700, fault.Invalid, "the body is not JSON"},
		{wire.ErrInvalidRequest, -32600, fault.Invalid, "the body is not a JSON-RPC 2.0 request"},
		{wire.ErrMethodNotFound, -32601, fault.Invalid, "there is no such method"},
		{wire.ErrInvalidParams, -32602, fault.Invalid, "the parameters are not valid"},
	} {
		if errors.Is(err, known.sentinel) {
			return newRPCError(known.number, wire.ErrorReason(known.sentinel), known.code, known.message)
		}
	}
	code := fault.CodeOf(err)
	return newRPCError(Number(code), reasonOf(code), code, fault.MessageOf(err))
}

// fault restores the fault of an error object: from our code in its details, else from its number.
func (e *rpcError) fault() *fault.Error {
	for _, info := range e.Data {
		if code := fault.Code(info.Metadata["code"]); fault.Known(code) {
			return fault.New(code, "%s", e.Message)
		}
	}
	code := fault.Internal
	switch e.Code {
	case -32001:
		code = fault.NotFound
	case -32000, -32002, -32004:
		code = fault.Conflict
	case -32003, -32005, -32007, -32008, -32009, -32600, -32601, -32602, -32700:
		code = fault.Invalid
	}
	if e.Message == "" {
		return fault.New(code, "the agent answered with error %d", e.Code)
	}
	return fault.New(code, "%s", e.Message)
}

// envelope is a JSON-RPC answer.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// WriteError answers a JSON-RPC request with an error object and an HTTP status. ID is the request's, nil if unknown.
func WriteError(w http.ResponseWriter, status int, id json.RawMessage, err error) {
	writeEnvelope(w, status, envelope{ID: id, Error: asRPCError(err)})
}

func writeEnvelope(w http.ResponseWriter, status int, e envelope) {
	e.JSONRPC = "2.0"
	if len(e.ID) == 0 {
		e.ID = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(e)
}
