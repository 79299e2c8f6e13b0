package orchestrator

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/app/platform/text"
)

func (m *Module) listOrders(c echo.Context) error {
	part, err := partOf(c, "orders", usualLimit)
	if err != nil {
		return err
	}
	orders, next, err := m.deps.Orders.Orders(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, orders, next, err)
}

// maxCancelReason is how much is kept of why somebody cancels an order, in characters.
const maxCancelReason = 200

// cancelOrder takes a confirmed order back: a person's deed, as its confirmation was.
func (m *Module) cancelOrder(c echo.Context) error {
	if err := mayDecide(c); err != nil {
		return err
	}
	var body struct {
		Reason string `json:"reason"`
	}
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	o, err := m.deps.Cancel.Cancel(c.Request().Context(), userOf(c), c.Param("id"), cmp.Or(text.Clip(body.Reason, maxCancelReason), "cancelled_by_user"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, o)
}

func (m *Module) getOrder(c echo.Context) error {
	user := userOf(c)
	o, err := m.deps.Orders.Order(c.Request().Context(), user, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, o)
}
