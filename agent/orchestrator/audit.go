package orchestrator

import (
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/capability"
)

// recordView is an audit record as the API shows it.
type recordView struct {
	At           time.Time        `json:"at"`
	RunID        string           `json:"runId"`
	ThreadID     string           `json:"threadId"`
	TraceID      string           `json:"traceId"`
	InvocationID string           `json:"invocationId"`
	Capability   string           `json:"capability"`
	Kind         capability.Kind  `json:"kind"`
	Source       string           `json:"source"`
	Status       string           `json:"status"`
	Stage        capability.Stage `json:"stage"`
	Code         string           `json:"code,omitempty"`
	Input        string           `json:"input"`
	Output       string           `json:"output"`
	DurationMS   int64            `json:"durationMs"`
}

func (m *Module) listAudit(c echo.Context) error {
	user := userOf(c)
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	records, err := m.deps.Audit.Records(c.Request().Context(), user, c.QueryParam("runId"), limit)
	views := make([]recordView, 0, len(records))
	for _, r := range records {
		views = append(views, recordView{
			At: r.At, RunID: r.RunID, ThreadID: r.ThreadID, TraceID: r.TraceID, InvocationID: r.InvocationID,
			Capability: r.Capability, Kind: r.Kind, Source: r.Source, Status: capability.AuditStatus(r.Status),
			Stage: r.Stage, Code: r.Code, Input: r.Input, Output: r.Output, DurationMS: r.Duration.Milliseconds(),
		})
	}
	return list(c, views, err)
}
