package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (m *Module) listPreferences(c echo.Context) error {
	part, err := partOf(c, "preferences", usualLimit)
	if err != nil {
		return err
	}
	found, next, err := m.deps.Preferences.Preferences(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, found, next, err)
}

// forgetPreference takes a preference out of use; a second time there is none.
func (m *Module) forgetPreference(c echo.Context) error {
	ctx, user := c.Request().Context(), userOf(c)
	p, err := m.deps.Preferences.Preference(ctx, user, c.Param("id"))
	if err != nil {
		return err
	}
	if err := m.deps.Preferences.Forget(ctx, user, []string{p.ID}, m.deps.Now()); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
