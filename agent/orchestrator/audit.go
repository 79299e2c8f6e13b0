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
	Rule         string           `json:"rule,omitempty"`
	Input        string           `json:"input"`
	Output       string           `json:"output"`
	DurationMS   int64            `json:"durationMs"`

	ArgsDigest     string `json:"argsDigest"`
	ProposedDigest string `json:"proposedDigest,omitempty"`
}

func (m *Module) listAudit(c echo.Context) error {
	wanted, name := capability.Selection{
		RunID: c.QueryParam("runId"), Capability: c.QueryParam("capability"),
		Status: capability.StatusOfAudit(c.QueryParam("status")), Stage: capability.Stage(c.QueryParam("stage")),
	}, "audit"
	if wanted.RunID != "" {
		name = "audit of a run" // in another order
	}
	part, err := partOf(c, name, usualLimit)
	if err != nil {
		return err
	}
	records, next, err := m.deps.Audit.Records(c.Request().Context(), userOf(c), wanted, part.Page)
	views := make([]recordView, 0, len(records))
	for _, r := range records {
		views = append(views, recordView{
			At: r.At, RunID: r.RunID, ThreadID: r.ThreadID, TraceID: r.TraceID, InvocationID: r.InvocationID,
			Capability: r.Capability, Kind: r.Kind, Source: r.Source, Status: capability.AuditStatus(r.Status),
			Stage: r.Stage, Code: r.Code, Rule: r.Rule, Input: r.Input, Output: r.Output, DurationMS: r.Duration.Milliseconds(),
			ArgsDigest: r.ArgsDigest, ProposedDigest: r.ProposedDigest,
		})
	}
	return list(c, part, views, next, err)
}
