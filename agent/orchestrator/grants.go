package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (m *Module) listGrants(c echo.Context) error {
	part, err := partOf(c, "grants", usualLimit)
	if err != nil {
		return err
	}
	found, next, err := m.deps.Grants.Grants(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, found, next, err)
}

// revokeGrant lets calls be asked about again; a second time there is no such grant.
func (m *Module) revokeGrant(c echo.Context) error {
	if err := m.deps.Grants.Revoke(c.Request().Context(), userOf(c), c.Param("id"), m.deps.Now()); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
