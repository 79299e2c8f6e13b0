// Package orchestrator is the module in front: AG-UI, the REST API and the page, over the run engine. It
// holds no logic of runs (D-43); it is the door of echo, and must not know SQL or any model.
package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/agent/run"
	"agentmesh/agent/schedule"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/limit"
	"agentmesh/app/platform/mesh"
	"agentmesh/app/platform/span"
	"agentmesh/capability"
	"agentmesh/skills"
)

// ErrShutdown is the cause of a server's context when the program stops; a stream whose run waits for a
// person then ends as an interrupt.
var ErrShutdown = run.ErrShutdown

// Orders reads a user's orders.
type Orders interface {
	Orders(ctx context.Context, userID string, p agent.Page) (list []order.Order, next string, err error)
	Order(ctx context.Context, userID, id string) (order.Order, error)
}

// Canceller takes confirmed orders back.
type Canceller interface {
	Cancel(ctx context.Context, userID, id, reason string) (order.Order, error)
}

// Audit reads a user's audit records.
type Audit interface {
	Records(ctx context.Context, userID string, s capability.Selection, p agent.Page) (list []capability.Record, next string, err error)
}

// Runs reads runs and what belongs to them; the engine alone writes.
type Runs interface {
	Journal(ctx context.Context, runID string) (agent.Journal, error)
	Runs(ctx context.Context, userID, threadID string, p agent.Page) (list []agent.Run, next string, err error)
	Events(ctx context.Context, runID string, after int64) ([]agent.Event, error)
	ModelCalls(ctx context.Context, runID string) ([]agent.ModelCall, error)
	History(ctx context.Context, userID, threadID string, onlySuccessful bool, limit int) ([]agent.Message, error)
	Confirmation(ctx context.Context, userID, id string) (agent.Confirmation, error)
	OpenConfirmations(ctx context.Context, userID string) ([]agent.Confirmation, error)
	// OpenQuestions is OpenConfirmations in parts.
	OpenQuestions(ctx context.Context, userID string, p agent.Page) (list []agent.Confirmation, next string, err error)
	Task(ctx context.Context, userID, id string) (agent.Task, error)
	Tasks(ctx context.Context, userID string, f agent.TaskFilter, p agent.Page) (list []agent.Task, next string, err error)
	RunsOfTrace(ctx context.Context, userID, traceID string, limit int) ([]agent.Run, error)
}

// Preferences shows a user's active preferences, and takes them out of use.
type Preferences interface {
	Preferences(ctx context.Context, userID string, p agent.Page) (list []agent.Preference, next string, err error)
	Preference(ctx context.Context, userID, id string) (agent.Preference, error)
	Forget(ctx context.Context, userID string, ids []string, at time.Time) error
}

// Agents tells which A2A agents there are.
type Agents interface {
	Agents(ctx context.Context) ([]Agent, error)
}

// Spans reads what other modules recorded of a chain, and names the modules that did not answer.
type Spans interface {
	Spans(ctx context.Context, traceID string) (found []span.Span, missing []string)
}

// Relay settles orders in the background.
type Relay interface {
	Start(ctx context.Context)
	Stop()
}

// Deps are the parts behind the routes.
type Deps struct {
	Engine        *run.Service
	Runs          Runs
	Conversations agent.ConversationStore
	Orders        Orders
	Cancel        Canceller
	Audit         Audit
	Preferences   Preferences
	Grants        agent.GrantStore
	Schedules     *schedule.Service
	Agents        Agents
	Spans         Spans
	Relay         Relay
	Market        *skills.Marketplace
	Registry      *capability.Registry
	Page          http.Handler
	About         About
	Ping          func(ctx context.Context) error
	Now           func() time.Time
}

// About is what the page shows of the program.
type About struct {
	Version string `json:"version"`
	Model   struct {
		Name string `json:"name"`
		Demo bool   `json:"demo"`
	} `json:"model"`
}

// Module is the orchestrator.
type Module struct {
	deps    Deps
	streams *limit.Gate
	handler http.Handler
}

var _ mesh.Module = (*Module)(nil)

// New makes the module.
func New(deps Deps) *Module {
	m := &Module{deps: deps, streams: limit.NewGate("open streams", MaxStreamsOfUser, MaxStreams)}
	e := echo.New()
	e.HTTPErrorHandler = handleError
	e.Use(recoverPanics, requireCaller, plainParams, limitBody, requireJSON)
	m.routes(e)
	m.handler = e
	return m
}

// Name is the flag value, the log field and the host name.
func (m *Module) Name() string { return "orchestrator" }

// Prefixes are the paths that the module serves: all that no other module has.
func (m *Module) Prefixes() []string { return []string{"/"} }

// Handler serves the module's paths.
func (m *Module) Handler() http.Handler { return m.handler }

// Start recovers runs and orders and begins to work.
func (m *Module) Start(ctx context.Context) error {
	m.deps.Relay.Start(ctx)
	if err := m.deps.Engine.Start(ctx); err != nil {
		return err
	}
	m.deps.Schedules.Start(ctx)
	return nil
}

// Stop ends all work; runs stay as they are in their journals.
func (m *Module) Stop(ctx context.Context) error {
	m.deps.Schedules.Stop()
	err := m.deps.Engine.Stop(ctx)
	m.deps.Relay.Stop()
	return err
}

// Ready tells whether the database answers.
func (m *Module) Ready(ctx context.Context) error { return m.deps.Ping(ctx) }

// handleError answers with a problem document, whatever went wrong where.
func handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var open *run.OpenConfirmationError
	if errors.As(err, &open) {
		p := fault.ProblemOf(fault.New(fault.Conflict, "%s", open.Error()))
		p.Code, p.Extra = "confirmation_open", map[string]any{"confirmation": open.Confirmation}
		fault.WriteProblem(c.Response(), p)
		return
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		if he.Code == http.StatusMethodNotAllowed {
			fault.MethodNotAllowed(c.Response(), c.Response().Header().Get(echo.HeaderAllow))
			return
		}
		err = fromEcho(he)
	}
	if errors.Is(err, agent.ErrNotFound) {
		err = fault.New(fault.NotFound, "there is nothing with this id")
	}
	logError(c, err)
	fault.Write(c.Response(), err)
}

func fromEcho(he *echo.HTTPError) error {
	switch he.Code {
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "there is no such path")
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "the body is too large")
	}
	return fmt.Errorf("http %d: %v", he.Code, he.Message)
}
