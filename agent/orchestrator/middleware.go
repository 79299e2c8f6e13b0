package orchestrator

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// MaxBody caps a request's body, in bytes (design, section 10).
const MaxBody = 1 << 20

// MaxStreams and MaxStreamsOfUser are how many streams may be open at once.
const (
	MaxStreamsOfUser = 500
	MaxStreams       = 2000
)

// recoverPanics turns a bug in a handler into a 500 and a line in the log.
func recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if r := recover(); r != nil && r != http.ErrAbortHandler {
				flow.Log(c.Request().Context()).Error().Interface("panic", r).Msg("handler panicked")
				err = fault.New(fault.Internal, "internal error")
			}
		}()
		return next(c)
	}
}

func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.ContentLength > MaxBody {
			return fault.New(fault.TooLarge, "the body is larger than %d bytes", MaxBody)
		}
		raw, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, MaxBody))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			return fault.New(fault.TooLarge, "the body is larger than %d bytes", MaxBody)
		case err != nil:
			return fault.Wrap(err, fault.Invalid, "the body could not be read")
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		return next(c)
	}
}

// requireJSON refuses changes whose body a browser could send from anywhere without asking: forms and
// plain text need no preflight.
func requireJSON(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
			return next(c)
		}
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != "application/json" {
			return fault.New(fault.Invalid, "send Content-Type: application/json")
		}
		return next(c)
	}
}

// limitStreams stands before every route that opens a stream.
func (m *Module) limitStreams(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		leave, err := m.streams.Enter(userOf(c))
		if err != nil {
			return err
		}
		defer leave()
		return next(c)
	}
}

// logError writes what a fault hides from the caller.
func logError(c echo.Context, err error) {
	log := flow.Log(c.Request().Context())
	if fault.CodeOf(err) == fault.Internal {
		log.Error().Err(err).Str("path", c.Request().URL.Path).Msg("request failed")
		return
	}
	log.Debug().Err(err).Str("path", c.Request().URL.Path).Msg("request refused")
}
