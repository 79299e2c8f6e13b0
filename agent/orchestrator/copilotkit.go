package orchestrator

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
	"agentmesh/app/platform/text"
)

// copilotAgent is the name under which a CopilotKit page finds the agent without being told one.
const copilotAgent = "default"

// copilotRoutes are what a CopilotKit page asks of its runtime, over its REST transport (design, section 3). They are no published
// contract: everything that is particular to them is in this file, as @copilotkit/core 1.75.0 has it.
func (m *Module) copilotRoutes(e *echo.Echo) {
	e.GET("/copilotkit/info", m.copilotInfo)
	e.POST("/copilotkit/agent/:name/run", m.runStandard, onlyCopilotAgent, m.limitStreams)
	e.POST("/copilotkit/agent/:name/connect", m.copilotConnect, onlyCopilotAgent, m.limitStreams)
	e.POST("/copilotkit/agent/:name/stop/:thread", m.copilotStop, onlyCopilotAgent)
}

func onlyCopilotAgent(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if name := c.Param("name"); name != copilotAgent {
			return fault.New(fault.NotFound, "there is no agent %q, only %q", text.Clip(name, 40), copilotAgent)
		}
		return next(c)
	}
}

// runtimeInfo is a CopilotKit runtime's answer to "who is there?".
type runtimeInfo struct {
	Version           string                  `json:"version"`
	Mode              string                  `json:"mode"`
	Agents            map[string]runtimeAgent `json:"agents"`
	Transcription     bool                    `json:"audioFileTranscriptionEnabled"`
	Suggestions       bool                    `json:"suggestions"`
	ThreadEndpoints   runtimeThreads          `json:"threadEndpoints"`
	TelemetryDisabled bool                    `json:"telemetryDisabled"`
}

type runtimeAgent struct {
	Name         string            `json:"name"`
	ClassName    string            `json:"className"`
	Description  string            `json:"description"`
	Capabilities agui.Capabilities `json:"capabilities"`
}

// runtimeThreads says which routes about threads there are: none, as /api/v1/conversations is not of this form.
type runtimeThreads struct {
	List             bool `json:"list"`
	Inspect          bool `json:"inspect"`
	Mutations        bool `json:"mutations"`
	RealtimeMetadata bool `json:"realtimeMetadata"`
}

func (m *Module) copilotInfo(c echo.Context) error {
	declared := m.declared()
	return c.JSON(http.StatusOK, runtimeInfo{
		Version: declared.Identity.Version, Mode: "sse", TelemetryDisabled: true,
		Agents: map[string]runtimeAgent{copilotAgent: {
			Name: copilotAgent, ClassName: declared.Identity.Name, Description: declared.Identity.Description, Capabilities: declared,
		}},
	})
}

// copilotConnect shows a conversation to a page that has just opened it: what was said, what goes on in it until
// that ends, and the questions that are open. A conversation that is not there yet is an empty one.
func (m *Module) copilotConnect(c echo.Context) error {
	in, err := readBody(c.Request(), agui.ParseThread)
	if err != nil {
		return err
	}
	ctx, user := c.Request().Context(), userOf(c)
	open, err := m.openRuns(ctx, user, in.ThreadID)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		return m.interruptAgain(c, in)
	}
	w, err := sse.NewWriter(c.Response())
	if err != nil {
		return nil // the client has gone
	}
	slices.Reverse(open) // they run one after the other, oldest first
	for i, r := range open {
		more, err := m.copilotJoin(ctx, w, in, r, open[i:])
		if err != nil {
			flow.Log(ctx).Debug().Err(err).Str("runId", r.ID).Msg("stream ended")
		}
		if err != nil || !more {
			return nil
		}
	}
	return nil
}

// copilotJoin restates what was said before a run, without what this run and those behind it will show
// themselves (a client that got a text twice would join both), and then shows the run from its beginning. It
// tells whether the run has ended, so that the next may be shown.
func (m *Module) copilotJoin(ctx context.Context, w *sse.Writer, in agui.RunAgentInput, r agent.Run, ahead []agent.Run) (bool, error) {
	history, err := m.deps.Runs.History(ctx, r.UserID, r.ThreadID, false, newestMessages)
	if err != nil {
		return false, err
	}
	said := slices.DeleteFunc(history, func(msg agent.Message) bool {
		return msg.Role != agent.User && slices.ContainsFunc(ahead, func(a agent.Run) bool { return a.ID == msg.RunID })
	})
	r.ClientRunID, r.Modern = in.RunID, in.ProtocolVersion != ""
	s := &standardStream{runStream: m.newStream(w, r), m: m, r: r}
	if err := s.send("", s.says.Snapshots(said)...); err != nil {
		return false, err
	}
	s.follow(ctx, run.Cursor{})
	return s.agui.Ended() && !s.over, nil
}

// recentRuns is among how many runs of a conversation the open ones are looked for; they are the newest.
const recentRuns = 100

// openRuns lists a conversation's runs that have not ended, newest first.
func (m *Module) openRuns(ctx context.Context, user, thread string) ([]agent.Run, error) {
	all, _, err := m.deps.Runs.Runs(ctx, user, thread, agent.Page{Limit: recentRuns})
	return slices.DeleteFunc(all, func(r agent.Run) bool { return r.Status.Final() }), err
}

// copilotStop cancels what goes on in a conversation of the caller's. A page names the run whose stream it
// reads, so that it stops no other; the label of a connect is no run's, and then the whole conversation is meant.
func (m *Module) copilotStop(c echo.Context) error {
	var body struct {
		RunID string `json:"runId"`
	}
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	ctx, user := c.Request().Context(), userOf(c)
	thread := c.Param("thread")
	if thread == "" {
		return fault.New(fault.Invalid, "the path names no thread")
	}
	runs, _, err := m.deps.Runs.Runs(ctx, user, thread, agent.Page{Limit: recentRuns})
	if err != nil {
		return err
	}
	labelled := func(r agent.Run) bool { return r.ClientRunID == body.RunID }
	if slices.ContainsFunc(runs, labelled) {
		runs = slices.DeleteFunc(runs, func(r agent.Run) bool { return !labelled(r) })
	}
	stopped := false
	for _, r := range runs { // newest first, so that none of them begins because one before it ended
		if r.Status.Final() {
			continue
		}
		_, err := m.deps.Engine.Cancel(ctx, user, r.ID)
		if err != nil && fault.CodeOf(err) != fault.Conflict { // it may just have ended
			return err
		}
		stopped = stopped || err == nil
	}
	return c.JSON(http.StatusOK, map[string]bool{"stopped": stopped})
}
