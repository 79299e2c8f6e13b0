package orchestrator

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/schedule"
)

// How much of a schedule is shown.
const (
	shownFires = 20
	shownDue   = 5
)

// scheduleView is a schedule as the API shows it.
type scheduleView struct {
	schedule.Schedule
	Due    []time.Time     `json:"due"`             // the next due times
	Fires  []schedule.Fire `json:"fires,omitempty"` // newest first; only when one schedule is asked for
	Denied []deniedInRun   `json:"denied,omitempty"`
}

// deniedInRun is a call that was denied in a run of a schedule.
type deniedInRun struct {
	RunID string `json:"runId"`
	deniedView
}

func (m *Module) scheduleOf(s schedule.Schedule) scheduleView {
	return scheduleView{Schedule: s, Due: m.deps.Schedules.DueTimes(s, shownDue)}
}

func (m *Module) listSchedules(c echo.Context) error {
	part, err := partOf(c, "schedules", usualLimit)
	if err != nil {
		return err
	}
	found, next, err := m.deps.Schedules.List(c.Request().Context(), userOf(c), part.Page)
	views := make([]scheduleView, 0, len(found))
	for _, s := range found {
		views = append(views, m.scheduleOf(s))
	}
	return list(c, part, views, next, err)
}

func (m *Module) createSchedule(c echo.Context) error {
	var d schedule.Draft
	if err := readJSON(c.Request().Body, &d); err != nil {
		return err
	}
	made, err := m.deps.Schedules.Create(c.Request().Context(), userOf(c), d)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, m.scheduleOf(made))
}

func (m *Module) getSchedule(c echo.Context) error {
	ctx, user := c.Request().Context(), userOf(c)
	s, err := m.deps.Schedules.Get(ctx, user, c.Param("id"))
	if err != nil {
		return err
	}
	v := m.scheduleOf(s)
	if v.Fires, err = m.deps.Schedules.Fires(ctx, s.ID, shownFires); err != nil {
		return err
	}
	for _, f := range v.Fires {
		if f.RunID == "" {
			continue
		}
		j, err := m.deps.Runs.Journal(ctx, f.RunID)
		if errors.Is(err, agent.ErrNotFound) { // its conversation was deleted
			continue
		}
		if err != nil {
			return err
		}
		for _, d := range deniedOf(j) {
			v.Denied = append(v.Denied, deniedInRun{f.RunID, d})
		}
	}
	return c.JSON(http.StatusOK, v)
}

func (m *Module) changeSchedule(c echo.Context) error {
	var d schedule.Draft
	if err := readJSON(c.Request().Body, &d); err != nil {
		return err
	}
	changed, err := m.deps.Schedules.Change(c.Request().Context(), userOf(c), c.Param("id"), d)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m.scheduleOf(changed))
}

func (m *Module) deleteSchedule(c echo.Context) error {
	if err := m.deps.Schedules.Delete(c.Request().Context(), userOf(c), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (m *Module) runSchedule(c echo.Context) error {
	f, err := m.deps.Schedules.RunNow(c.Request().Context(), userOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"fire": f})
}
