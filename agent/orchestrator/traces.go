package orchestrator

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/trace"
)

// maxTracedRuns bounds how many runs of one chain are shown, the newest ones: a client may give all its
// runs one trace id.
const maxTracedRuns = 50

// getTrace joins what all modules know of one chain. A chain is seen by whoever owns one of its runs, and
// only with that user's runs.
func (m *Module) getTrace(c echo.Context) error {
	ctx, traceID := c.Request().Context(), c.Param("id")
	found, err := m.deps.Runs.RunsOfTrace(ctx, userOf(c), traceID, maxTracedRuns)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return agent.ErrNotFound
	}
	runs := make([]trace.Run, 0, len(found))
	for _, r := range found {
		j, err := m.deps.Runs.Journal(ctx, r.ID)
		if err != nil {
			return err
		}
		calls, err := m.deps.Runs.ModelCalls(ctx, r.ID)
		if err != nil {
			return err
		}
		run := trace.Run{Journal: j, ModelCalls: calls}
		if !j.Run.Status.Final() {
			if run.Events, err = m.deps.Runs.Events(ctx, r.ID, 0); err != nil {
				return err
			}
		}
		runs = append(runs, run)
	}
	elsewhere, missing := m.deps.Spans.Spans(ctx, traceID)
	return c.JSON(http.StatusOK, trace.Of(traceID, runs, elsewhere, missing, m.deps.Now()))
}
