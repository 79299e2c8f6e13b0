package orchestrator

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/identity"
)

// requireCaller refuses requests of nobody, where the listener has found no caller out, to all but the
// page and the description of the API.
func requireCaller(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		switch c.Path() { // the route; empty when there is none
		case "", "/", "/static/*", "/docs", "/openapi.json":
			return next(c)
		}
		if userOf(c) == "" {
			return fault.New(fault.Denied, "nobody is named for whom this is asked")
		}
		return next(c)
	}
}

// userOf tells who calls.
func userOf(c echo.Context) string { return callerOf(c).User }

func callerOf(c echo.Context) identity.Identity {
	caller, _ := identity.From(c.Request().Context())
	return caller
}

// mayDecide refuses decisions of callers that are no persons: an agent never approves its own calls.
func mayDecide(c echo.Context) error {
	if caller := callerOf(c); !caller.Role.MayDecide() {
		return fault.New(fault.Denied, "a key with the role %s decides no confirmations", caller.Role)
	}
	return nil
}

// plainParams unescapes what the path names, before any handler. Ids in the path are taken as the client
// wrote them: one that holds a slash arrives escaped.
func plainParams(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := unescapeParams(c); err != nil {
			return err
		}
		return next(c)
	}
}

func unescapeParams(c echo.Context) error {
	if c.Request().URL.RawPath == "" {
		return nil // unescaped with the rest of the path
	}
	values := c.ParamValues()
	plain := make([]string, len(values))
	for i, v := range values {
		var err error
		if plain[i], err = url.PathUnescape(v); err != nil {
			return fault.Wrap(err, fault.Invalid, "the path is not escaped rightly")
		}
	}
	c.SetParamValues(plain...)
	return nil
}
