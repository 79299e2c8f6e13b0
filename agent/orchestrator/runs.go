package orchestrator

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/capability"
)

// runView is a run as the API shows it.
type runView struct {
	ID           string             `json:"id"`
	ClientRunID  string             `json:"clientRunId"`
	ThreadID     string             `json:"threadId"`
	TraceID      string             `json:"traceId"`
	Status       agent.Status       `json:"status"`
	FinishReason agent.FinishReason `json:"finishReason,omitempty"`
	Error        *errorView         `json:"error,omitempty"`
	Model        string             `json:"model"`
	Usage        agent.Usage        `json:"usage"`
	Mode         capability.Mode    `json:"mode"`
	Skills       []string           `json:"skills"`
	Tools        []string           `json:"tools"`
	Origin       agent.Origin       `json:"origin"`
	CreatedAt    time.Time          `json:"createdAt"`
	StartedAt    *time.Time         `json:"startedAt,omitempty"`
	EndedAt      *time.Time         `json:"endedAt,omitempty"`

	Denied        []deniedView         `json:"denied,omitempty"`
	Invocations   []invocationView     `json:"invocations,omitempty"`
	Confirmations []agent.Confirmation `json:"confirmations,omitempty"`
	ModelCalls    []modelCallView      `json:"modelCalls,omitempty"`
}

type errorView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type invocationView struct {
	ID         string             `json:"id"`
	ToolCallID string             `json:"toolCallId"`
	Round      int                `json:"round"`
	Name       string             `json:"name"`
	Args       json.RawMessage    `json:"args"`
	Proposed   json.RawMessage    `json:"proposedArgs,omitempty"`
	Status     capability.Status  `json:"status"`
	Result     json.RawMessage    `json:"result,omitempty"`
	TaskID     string             `json:"taskId,omitempty"`
	Receipt    capability.Receipt `json:"receipt"`
	CreatedAt  time.Time          `json:"createdAt"`
	EndedAt    *time.Time         `json:"endedAt,omitempty"`
}

// deniedView is a call that was not run since a rule, a mode, a person or time said no.
type deniedView struct {
	InvocationID string           `json:"invocationId"`
	Name         string           `json:"name"`
	Args         json.RawMessage  `json:"args"`
	Stage        capability.Stage `json:"stage"`
	Rule         string           `json:"rule,omitempty"`
	Reason       string           `json:"reason"`
}

// deniedOf lists what was denied in a run.
func deniedOf(j agent.Journal) []deniedView {
	var out []deniedView
	for _, inv := range j.Invocations {
		if inv.Status == capability.Denied {
			r := inv.Receipt
			out = append(out, deniedView{inv.ID, inv.Name, inv.Args, r.Stage, r.Rule, r.Message})
		}
	}
	return out
}

// modelCallView shows what a model was given, tools included, and what it cost.
type modelCallView struct {
	ID         string          `json:"id"`
	Round      int             `json:"round"`
	Model      string          `json:"model"`
	Request    json.RawMessage `json:"request,omitempty"`
	Usage      agent.Usage     `json:"usage"`
	Finish     string          `json:"finish"`
	Error      string          `json:"error,omitempty"`
	StartedAt  time.Time       `json:"startedAt"`
	DurationMS int64           `json:"durationMs"`
}

func viewOf(r agent.Run) runView {
	v := runView{
		ID: r.ID, ClientRunID: r.ClientRunID, ThreadID: r.ThreadID, TraceID: r.TraceID, Status: r.Status,
		FinishReason: r.FinishReason, Model: r.Model, Usage: r.Usage, Mode: r.Mode, Skills: r.Skills, Tools: r.Tools, Origin: r.Origin,
		CreatedAt: r.CreatedAt, StartedAt: timeOrNil(r.StartedAt), EndedAt: timeOrNil(r.EndedAt),
	}
	if r.ErrorCode != "" {
		v.Error = &errorView{r.ErrorCode, r.ErrorMessage}
	}
	return v
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// ownRun finds the run that the path names, for its owner.
func (m *Module) ownRun(c echo.Context) (agent.Run, error) {
	user := userOf(c)
	return m.deps.Engine.Run(c.Request().Context(), user, c.Param("id"))
}

func (m *Module) listRuns(c echo.Context) error {
	part, err := partOf(c, "runs", usualLimit)
	if err != nil {
		return err
	}
	runs, next, err := m.deps.Runs.Runs(c.Request().Context(), userOf(c), c.QueryParam("threadId"), part.Page)
	views := make([]runView, 0, len(runs))
	for _, r := range runs {
		views = append(views, viewOf(r))
	}
	return list(c, part, views, next, err)
}

func (m *Module) getRun(c echo.Context) error {
	r, err := m.ownRun(c)
	if err != nil {
		return err
	}
	j, err := m.deps.Runs.Journal(c.Request().Context(), r.ID)
	if err != nil {
		return err
	}
	calls, err := m.deps.Runs.ModelCalls(c.Request().Context(), r.ID)
	if err != nil {
		return err
	}
	v := viewOf(j.Run)
	v.Confirmations, v.Denied = j.Confirmations, deniedOf(j)
	for _, inv := range j.Invocations {
		v.Invocations = append(v.Invocations, invocationView{
			ID: inv.ID, ToolCallID: inv.CallID, Round: inv.Round, Name: inv.Name, Args: inv.Args, Proposed: inv.Proposed, Status: inv.Status,
			Result: inv.Result, TaskID: inv.TaskID, Receipt: inv.Receipt, CreatedAt: inv.CreatedAt, EndedAt: timeOrNil(inv.EndedAt),
		})
	}
	for _, mc := range calls {
		v.ModelCalls = append(v.ModelCalls, modelCallView{
			ID: mc.ID, Round: mc.Round, Model: mc.Model, Request: mc.Request, Usage: mc.Usage, Finish: mc.Finish,
			Error: mc.Error, StartedAt: mc.StartedAt, DurationMS: mc.Duration.Milliseconds(),
		})
	}
	return c.JSON(http.StatusOK, v)
}

func (m *Module) cancel(c echo.Context) error {
	user := userOf(c)
	r, err := m.deps.Engine.Cancel(c.Request().Context(), user, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"run": viewOf(r)})
}
