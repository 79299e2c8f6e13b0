package orchestrator

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// defaultUser is who calls when nobody is named and no keys are configured (design, section 12).
const defaultUser = "local"

const userKey = "user"

// identify finds out who calls and what the path names, before any handler. Bound to loopback and without
// keys, callers name themselves. Ids in the path are taken as the client wrote them: one that holds a
// slash arrives escaped.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		user, err := named(c.Request().Header.Get("X-User-ID"))
		if err != nil {
			return err
		}
		if err := unescapeParams(c); err != nil {
			return err
		}
		c.Set(userKey, user)
		ctx := c.Request().Context()
		ids := flow.From(ctx)
		ids.UserID = user
		c.SetRequest(c.Request().WithContext(flow.With(ctx, ids)))
		return next(c)
	}
}

// userOf tells who calls.
func userOf(c echo.Context) string {
	user, _ := c.Get(userKey).(string)
	return user
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
