package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (m *Module) listOrders(c echo.Context) error {
	part, err := partOf(c, "orders", usualLimit)
	if err != nil {
		return err
	}
	orders, next, err := m.deps.Orders.Orders(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, orders, next, err)
}

func (m *Module) getOrder(c echo.Context) error {
	user := userOf(c)
	o, err := m.deps.Orders.Order(c.Request().Context(), user, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, o)
}
