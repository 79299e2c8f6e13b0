package orchestrator

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// taskView is a task as the API shows it.
type taskView struct {
	ID           string            `json:"id"`
	Origin       agent.TaskOrigin  `json:"origin"`
	ThreadID     string            `json:"threadId"`
	RunID        string            `json:"runId"`
	InvocationID string            `json:"invocationId"`
	ToolCallID   string            `json:"toolCallId"`
	Name         string            `json:"name"`
	Args         json.RawMessage   `json:"args"`
	Status       capability.Status `json:"status"`
	Result       json.RawMessage   `json:"result,omitempty"`
	Stopping     bool              `json:"stopping,omitempty"`
	DeliveredRun string            `json:"deliveredRun,omitempty"`
	StartedAt    time.Time         `json:"startedAt"`
	EndedAt      *time.Time        `json:"endedAt,omitempty"`
}

func viewOfTask(t agent.Task) taskView {
	return taskView{
		ID: t.ID, Origin: t.Origin, ThreadID: t.ThreadID, RunID: t.RunID, InvocationID: t.InvocationID, ToolCallID: t.CallID, Name: t.Capability,
		Args: t.Args, Status: t.Status, Result: t.Result, Stopping: !t.Ended() && t.CancelReason != "", DeliveredRun: t.DeliveredRun,
		StartedAt: t.StartedAt, EndedAt: timeOrNil(t.EndedAt),
	}
}

// taskStates are those that a list of tasks can be asked for.
func taskStates() []capability.Status {
	return []capability.Status{"", capability.Running, capability.Succeeded, capability.Failed, capability.Cancelled, capability.Indeterminate}
}

func (m *Module) listTasks(c echo.Context) error {
	part, err := partOf(c, "tasks", usualLimit)
	if err != nil {
		return err
	}
	wanted := agent.TaskFilter{ThreadID: c.QueryParam("threadId"), Status: capability.Status(c.QueryParam("status"))}
	if !slices.Contains(taskStates(), wanted.Status) {
		return fault.New(fault.Invalid, "status must be one of %v", taskStates()[1:])
	}
	found, next, err := m.deps.Runs.Tasks(c.Request().Context(), userOf(c), wanted, part.Page)
	views := make([]taskView, 0, len(found))
	for _, t := range found {
		views = append(views, viewOfTask(t))
	}
	return list(c, part, views, next, err)
}

func (m *Module) getTask(c echo.Context) error {
	t, err := m.deps.Runs.Task(c.Request().Context(), userOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, viewOfTask(t))
}

// cancelTask stops what goes on in the background.
func (m *Module) cancelTask(c echo.Context) error {
	t, err := m.deps.Engine.CancelTask(c.Request().Context(), userOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"task": viewOfTask(t)})
}
