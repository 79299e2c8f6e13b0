package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// routes is the list of all paths of the module (design, section 3).
func (m *Module) routes(e *echo.Echo) {
	e.POST("/agui", m.runStandard, m.limitStreams)
	e.GET("/agui/capabilities", m.declare)
	m.copilotRoutes(e)
	api := e.Group("/api/v1")
	api.POST("/runs", m.startRun, m.limitStreams)
	api.GET("/runs", m.listRuns)
	api.GET("/runs/:id", m.getRun)
	api.GET("/runs/:id/events", m.followRun, m.limitStreams)
	for _, g := range []*echo.Group{api.Group("/runs/:id"), e.Group("/runs/:id")} { // both forms (F-8)
		g.POST("/confirm", m.confirm)
		g.POST("/reject", m.reject)
		g.POST("/cancel", m.cancel)
	}
	api.POST("/runs/:id/results", m.answerCall)
	api.GET("/confirmations", m.listConfirmations)
	api.GET("/conversations", m.listConversations)
	api.GET("/conversations/:id", m.getConversation)
	api.PATCH("/conversations/:id", m.renameConversation)
	api.DELETE("/conversations/:id", m.deleteConversation)
	api.GET("/conversations/:id/messages", m.listMessages)
	api.GET("/orders", m.listOrders)
	api.GET("/orders/:id", m.getOrder)
	api.POST("/orders/:id/cancel", m.cancelOrder)
	api.GET("/tasks", m.listTasks)
	api.GET("/tasks/:id", m.getTask)
	api.POST("/tasks/:id/cancel", m.cancelTask)
	api.GET("/audit", m.listAudit)
	api.GET("/traces/:id", m.getTrace)
	api.GET("/preferences", m.listPreferences)
	api.DELETE("/preferences/:id", m.forgetPreference)
	api.GET("/grants", m.listGrants)
	api.DELETE("/grants/:id", m.revokeGrant)
	api.GET("/schedules", m.listSchedules)
	api.POST("/schedules", m.createSchedule)
	api.GET("/schedules/:id", m.getSchedule)
	api.PATCH("/schedules/:id", m.changeSchedule)
	api.DELETE("/schedules/:id", m.deleteSchedule)
	api.POST("/schedules/:id/run", m.runSchedule)
	api.GET("/agents", m.listAgents)
	api.GET("/capabilities", m.listCapabilities)
	api.GET("/skill-marketplace", m.listSkills)
	api.GET("/skill-marketplace/:id", m.getSkill)
	api.POST("/skill-marketplace/:id/install", m.installSkill)
	api.POST("/skill-marketplace/:id/enable", m.enableSkill)
	api.POST("/skill-marketplace/:id/disable", m.disableSkill)
	api.DELETE("/skill-marketplace/:id", m.uninstallSkill)
	api.GET("/about", m.about)
	e.GET("/openapi.json", m.openAPI)
	e.GET("/docs", m.docs)
	e.GET("/", echo.WrapHandler(m.deps.Page))
	e.GET("/static/*", echo.WrapHandler(m.deps.Page))
}

func (m *Module) about(c echo.Context) error { return c.JSON(http.StatusOK, m.deps.About) }
