package orchestrator

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/identity"
)

// defaultUser is who calls when nobody is named and no keys are configured (design, section 12).
const defaultUser = "local"

const callerKey = "caller"

// identify finds out who calls and what the path names, before any handler. With keys the listener has
// found the caller out; without them, bound to loopback, callers name themselves. Ids in the path are taken as the client wrote them: one that holds a
// slash arrives escaped.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		caller, known := identity.From(c.Request().Context())
		if !known { // no keys are configured
			user, err := named(c.Request().Header.Get("X-User-ID"))
			if err != nil {
				return err
			}
			caller = identity.Identity{User: user, Role: identity.Admin}
		}
		if err := unescapeParams(c); err != nil {
			return err
		}
		c.Set(callerKey, caller)
		ctx := c.Request().Context()
		ids := flow.From(ctx)
		ids.UserID = caller.User
		c.SetRequest(c.Request().WithContext(flow.With(ctx, ids)))
		return next(c)
	}
}

// userOf tells who calls.
func userOf(c echo.Context) string {
	return callerOf(c).User
}

func callerOf(c echo.Context) identity.Identity {
	caller, _ := c.Get(callerKey).(identity.Identity)
	return caller
}

// mayDecide refuses decisions of callers that are no persons: an agent never approves its own calls.
func mayDecide(c echo.Context) error {
	if caller := callerOf(c); !caller.Role.MayDecide() {
		return fault.New(fault.Denied, "a key with the role %s decides no confirmations", caller.Role)
	}
	return nil
}

func named(id string) (string, error) {
	if id == "" {
		return defaultUser, nil
	}
	const most = 128
	if len(id) > most {
		return "", fault.New(fault.Invalid, "X-User-ID is longer than %d bytes", most)
	}
	for _, r := range id {
		if r <= ' ' || r == 0x7f || r == 0xFFFD {
			return "", fault.New(fault.Invalid, "X-User-ID must be UTF-8 text without spaces and control characters")
		}
	}
	return id, nil
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
