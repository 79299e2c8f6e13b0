package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// resultBody is what somebody who makes a call outside says came of it.
type resultBody struct {
	ToolCallID string `json:"toolCallId"`
	Content    string `json:"content"`
	Error      string `json:"error"`
}

// answeredView is a call that was answered, and the run that goes on with it, if that one has ended.
type answeredView struct {
	ToolCallID string            `json:"toolCallId"`
	Name       string            `json:"name"`
	Status     capability.Status `json:"status"`
	RunID      string            `json:"runId,omitempty"`
}

// answerCall takes the result of a call that somebody else makes. The conversation goes on by itself.
func (m *Module) answerCall(c echo.Context) error {
	var body resultBody
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	switch {
	case body.ToolCallID == "":
		return fault.New(fault.Invalid, "toolCallId is missing")
	case len(body.Content)+len(body.Error) > agui.MaxAnswer:
		return fault.New(fault.TooLarge, "the answer is longer than %d bytes", agui.MaxAnswer)
	}
	inv, next, err := m.deps.Engine.Answer(c.Request().Context(), userOf(c), c.Param("id"),
		agent.CallAnswer{CallID: body.ToolCallID, Content: body.Content, Error: body.Error})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answeredView{ToolCallID: inv.CallID, Name: inv.Name, Status: inv.Status, RunID: next})
}
