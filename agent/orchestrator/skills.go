package orchestrator

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/capability"
	"agentmesh/skills"
)

func (m *Module) listSkills(c echo.Context) error {
	all, err := m.deps.Market.List(c.Request().Context(), userOf(c))
	return listWhole(c, "skills", all, func(l skills.Listing) string { return l.ID }, err)
}

func (m *Module) getSkill(c echo.Context) error { return m.skill(c, m.deps.Market.Get) }

func (m *Module) enableSkill(c echo.Context) error { return m.skill(c, m.deps.Market.Enable) }

func (m *Module) disableSkill(c echo.Context) error { return m.skill(c, m.deps.Market.Disable) }

func (m *Module) uninstallSkill(c echo.Context) error { return m.skill(c, m.deps.Market.Uninstall) }

func (m *Module) installSkill(c echo.Context) error {
	var body struct {
		Permissions []string `json:"permissions"`
	}
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	return m.skill(c, func(ctx context.Context, userID, skillID string) (skills.Listing, error) {
		return m.deps.Market.Install(ctx, userID, skillID, body.Permissions)
	})
}

// skill does something to the skill that the path names, and shows it as it then stands.
func (m *Module) skill(c echo.Context, do func(ctx context.Context, userID, skillID string) (skills.Listing, error)) error {
	user := userOf(c)
	l, err := do(c.Request().Context(), user, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, l)
}

// capabilityView is a capability as the API shows it.
type capabilityView struct {
	Name                 string          `json:"name"`
	Kind                 capability.Kind `json:"kind"`
	Provider             string          `json:"provider"`
	Description          string          `json:"description"`
	InputSchema          json.RawMessage `json:"inputSchema"`
	ReadOnly             bool            `json:"readOnly"`
	Idempotent           bool            `json:"idempotent"`
	RequiresConfirmation bool            `json:"requiresConfirmation"`
	AlwaysAsks           bool            `json:"alwaysAsks"`
	VisibleToModel       bool            `json:"visibleToModel"`
	Enabled              bool            `json:"enabled"`
}

func (m *Module) listCapabilities(c echo.Context) error {
	all := m.deps.Registry.All()
	views := make([]capabilityView, 0, len(all))
	for _, d := range all {
		views = append(views, capabilityView{
			Name: d.Name, Kind: d.Kind, Provider: d.Provider, Description: d.Description, InputSchema: d.InputSchema,
			ReadOnly: d.ReadOnly, Idempotent: d.Idempotent, RequiresConfirmation: d.RequiresConfirmation, AlwaysAsks: d.AlwaysAsks,
			VisibleToModel: !d.Hidden, Enabled: !d.Disabled,
		})
	}
	return listWhole(c, "capabilities", views, func(v capabilityView) string { return v.Name }, nil)
}
