package orchestrator

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
)

// startRun takes an AG-UI input, stores it as a PENDING run, and sets it going once the stream is open
// (D-42). What is wrong with the input is said before any stream.
func (m *Module) startRun(c echo.Context) error {
	in, err := readInput(c.Request())
	if err != nil {
		return err
	}
	if len(in.Resume) > 0 {
		return fault.New(fault.Invalid, "resume belongs to POST /agui; here a decision is POST /api/v1/runs/{id}/confirm or /reject")
	}
	r, err := m.create(c, in, agent.ByAPI)
	if err != nil {
		return err
	}
	c.Response().Header().Set("X-Run-Id", r.ID)
	c.Response().Header().Set("X-Trace-Id", r.TraceID)
	w, err := sse.NewWriter(c.Response())
	m.deps.Engine.Begin(r.ID) // also when the client has gone already: the run is theirs, and ends like any other
	if err != nil {
		return nil
	}
	m.stream(c.Request().Context(), w, r, run.Cursor{})
	return nil
}

// create stores what an input says and its PENDING run, or gives the run that it made before.
func (m *Module) create(c echo.Context, in agui.RunAgentInput, origin agent.Origin) (agent.Run, error) {
	turn, err := in.Turn()
	if err != nil {
		return agent.Run{}, err
	}
	client, err := in.Client()
	if err != nil {
		return agent.Run{}, err
	}
	mode, err := in.RunMode()
	if err != nil {
		return agent.Run{}, err
	}
	r, err := m.deps.Engine.Create(c.Request().Context(), run.Input{
		UserID: userOf(c), ThreadID: in.ThreadID, ClientRunID: in.RunID, MessageID: turn.Message.ID, Text: turn.Message.Text,
		Answers: turn.Answers, Client: client, Modern: in.ProtocolVersion != "", Origin: origin, Mode: mode,
	})
	if err != nil {
		return r, err
	}
	return r, m.mayTell(c.Request().Context(), r)
}

// mayTell refuses to tell again how a run went whose events are no longer kept. Before any stream, it is a 410.
func (m *Module) mayTell(ctx context.Context, r agent.Run) error {
	if !r.Status.Final() {
		return nil
	}
	_, err := m.deps.Runs.Events(ctx, r.ID, r.Head-1) // they go together, so the last one tells
	return err
}

func readInput(r *http.Request) (agui.RunAgentInput, error) { return readBody(r, agui.ParseInput) }

func readBody(r *http.Request, parse func([]byte) (agui.RunAgentInput, error)) (agui.RunAgentInput, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return agui.RunAgentInput{}, fault.Wrap(err, fault.Invalid, "the body could not be read")
	}
	return parse(raw)
}

// followRun shows a run again from a place on, then live; it works for ended runs.
func (m *Module) followRun(c echo.Context) error {
	r, err := m.ownRun(c)
	if err != nil {
		return err
	}
	place := c.Request().Header.Get("Last-Event-ID")
	if place == "" {
		place = c.QueryParam("after")
	}
	cursor, err := run.ParseCursor(place)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "Last-Event-ID or after: %s", err.Error())
	}
	if cursor.Seq > r.Head {
		return fault.New(fault.Invalid, "Last-Event-ID or after: the run has no event %d yet", cursor.Seq)
	}
	if err := m.mayTell(c.Request().Context(), r); err != nil {
		return err
	}
	c.Response().Header().Set("X-Run-Id", r.ID)
	w, err := sse.NewWriter(c.Response())
	if err != nil {
		return nil // the client has gone
	}
	m.stream(c.Request().Context(), w, r, cursor)
	return nil
}

// stream writes a run as AG-UI events until its end, or until the client has gone.
func (m *Module) stream(ctx context.Context, w *sse.Writer, r agent.Run, from run.Cursor) {
	s, err := m.resumed(ctx, w, r, from)
	if err != nil {
		flow.Log(ctx).Error().Err(err).Str("runId", r.ID).Msg("stream not opened")
		return
	}
	for u, err := range m.deps.Engine.Follow(ctx, r.ID, from) {
		if err != nil {
			s.leave(ctx, m, r, err)
			return
		}
		if err := s.show(u, u.At.String()); err != nil {
			flow.Log(ctx).Debug().Err(err).Str("runId", r.ID).Msg("stream ended")
			return
		}
	}
}

// runStream is a run's events on their way to one client. Every AG-UI stream of the program is one.
type runStream struct {
	sse  *sse.Writer
	agui *agui.Writer
	says agui.Translator
}

func (m *Module) newStream(w *sse.Writer, r agent.Run) *runStream {
	return &runStream{sse: w, agui: agui.NewWriter(r), says: agui.NewTranslator(m.deps.Now)}
}

// resumed makes a stream that has written what the client has seen, so that it goes on as if it had never been cut.
func (m *Module) resumed(ctx context.Context, w *sse.Writer, r agent.Run, from run.Cursor) (*runStream, error) {
	s := m.newStream(w, r)
	if from.Seq == 0 {
		return s, nil
	}
	seen, err := m.deps.Runs.Events(ctx, r.ID, 0)
	if err != nil {
		return nil, err
	}
	var said agent.Transcript
	for _, e := range seen {
		if e.Seq > from.Seq {
			break
		}
		if err := said.Apply(e); err != nil {
			return nil, err
		}
		events, err := s.says.Event(e)
		if err != nil {
			return nil, err
		}
		s.agui.Write(events...)
	}
	if open := said.Writing(); open != "" && from.Chars > 0 {
		s.agui.Write(s.says.Spoken(open))
	}
	return s, nil
}

// show sends what a watcher of the run has seen.
func (s *runStream) show(u run.Update, at string) error {
	switch {
	case u.Event == nil && u.Delta == "":
		return s.sse.Comment("alive")
	case u.Event == nil:
		return s.send(at, s.says.Text(u.MessageID, u.Delta))
	}
	events, err := s.says.Event(*u.Event)
	if err != nil {
		return err
	}
	return s.send(at, events...)
}

// send writes the events that one place of the log became. Only the last line carries the place, so that a client
// that saw half of them gets all of them again rather than none.
func (s *runStream) send(at string, events ...agui.Event) error {
	lines := s.agui.Write(events...)
	for i, line := range lines {
		id := ""
		if i == len(lines)-1 {
			id = at
		}
		if err := s.sse.Send(sse.Event{ID: id, Data: line.String()}); err != nil {
			return err
		}
	}
	return nil
}

// leave ends a stream before its run has ended. When the program stops while a question is open, the
// client learns of it as an interrupt (design, section 6); when the run cannot be read, that the stream broke.
func (s *runStream) leave(ctx context.Context, m *Module, r agent.Run, cause error) {
	if !errors.Is(cause, ErrShutdown) {
		if ctx.Err() == nil {
			flow.Log(ctx).Warn().Err(cause).Str("runId", r.ID).Msg("stream broke")
			_ = s.send("", s.says.Broken(cause))
		}
		return
	}
	mine, err := m.openIn(context.WithoutCancel(ctx), r.UserID, func(q agent.Confirmation) bool { return q.RunID == r.ID })
	if err == nil && len(mine) > 0 {
		_ = s.send("", s.says.Interrupted(m.asked(mine, nil)))
	}
}
