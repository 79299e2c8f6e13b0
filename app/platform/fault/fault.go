// Package fault is the one error type that crosses a module's border or reaches a person: a stable
// code, a message that is safe to show, and the cause, which is only logged. It knows HTTP status
// numbers and nothing of this product.
package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Code is the stable, machine-readable kind of a fault.
type Code string

// The codes, and the only ones. docs/glossary.md says what each means.
const (
	Invalid     Code = "invalid"
	NotFound    Code = "not_found"
	Conflict    Code = "conflict"
	Denied      Code = "denied"
	Unavailable Code = "unavailable"
	Gone        Code = "gone"
	TooLarge    Code = "too_large"
	RateLimited Code = "rate_limited"
	Timeout     Code = "timeout"
	Cancelled   Code = "cancelled"
	StorageFull Code = "storage_full"
	Internal    Code = "internal"
)

// Known tells whether a code is one of ours; one that comes from outside may be anything.
func Known(code Code) bool {
	return code == Internal || Status(code) != http.StatusInternalServerError
}

// Error is a fault. Message may be shown to anybody; Err may not. Unsent says that what was asked for has
// certainly not happened: the request never left.
type Error struct {
	Code    Code
	Message string
	Err     error
	Unsent  bool
}

// New makes a fault with a message that is safe to show.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault around a cause that is only logged.
func Wrap(err error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// Error gives the whole text, cause included. For logs; use MessageOf for people.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Unsent tells whether an error says that the request never left: a fault that is marked so, or a connection
// that was never made. Without such a word it may have arrived.
func Unsent(err error) bool {
	var made *net.OpError
	if errors.As(err, &made) && made.Op == "dial" {
		return true
	}
	for f := (*Error)(nil); errors.As(err, &f); err = f.Err {
		if f.Unsent {
			return true
		}
	}
	return false
}

// CodeOf finds the code of an error: its own, or one for an ended context, or Internal.
func CodeOf(err error) Code {
	var f *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Code
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Cancelled
	}
	return Internal
}

// MessageOf gives the words that are safe to show for an error.
func MessageOf(err error) string {
	var f *Error
	if errors.As(err, &f) {
		return f.Message
	}
	switch CodeOf(err) {
	case Timeout:
		return "timed out"
	case Cancelled:
		return "cancelled"
	}
	return "internal error"
}
