package orchestrator

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
)

// runStandard is AG-UI as the standard has it: a run that needs a person ends with the interrupt outcome,
// and an input with resume answers it. It is a view of the same run and the same confirmation as the open
// stream is; a decision by POST lets the run go on as well.
func (m *Module) runStandard(c echo.Context) error {
	in, err := readInput(c.Request())
	if err != nil {
		return err
	}
	if len(in.Resume) > 0 {
		return m.resume(c, in)
	}
	r, err := m.create(c, in, agent.ByAGUI)
	var open *run.OpenConfirmationError
	if errors.As(err, &open) || errors.Is(err, run.ErrNothingWaits) {
		return m.interruptAgain(c, in)
	}
	if err != nil {
		return err
	}
	return m.openStandard(c, in, r, run.Cursor{}, func() refusals {
		m.deps.Engine.Begin(r.ID)
		return nil
	})
}

// resume records the answers and shows how the run goes on. Answers that come too late, or contradict,
// change nothing; the stream shows how things stand. A yes that cannot be, for what the person edited or
// for what has changed since, leaves an open question, and the stream ends with it and the reason. Unknown
// ids are skipped.
func (m *Module) resume(c echo.Context, in agui.RunAgentInput) error {
	if err := mayDecide(c); err != nil {
		return err
	}
	ctx, user := c.Request().Context(), userOf(c)
	known, err := m.answered(ctx, user, in)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return m.interruptAgain(c, in)
	}
	r, err := m.deps.Engine.Run(ctx, user, known[0].confirmation.RunID)
	if err != nil {
		return err
	}
	return m.openStandard(c, in, r, run.Cursor{Seq: r.Head}, func() refusals {
		refused := refusals{}
		if err := m.deps.Engine.AnswerOwn(ctx, user, r.ID, in.Answers()); err != nil {
			flow.Log(ctx).Warn().Err(err).Str("runId", r.ID).Msg("answers of the client's tools not taken")
		}
		for _, k := range known {
			m.decideAnswer(ctx, user, k, refused)
		}
		return refused
	})
}

// refusals says why an answer did not count, by the id of the question that is open all the same.
type refusals map[string]error

// answeredConfirmation is a confirmation of this conversation, and what the client says to it.
type answeredConfirmation struct {
	confirmation agent.Confirmation
	answer       agui.Answer
}

func (m *Module) answered(ctx context.Context, user string, in agui.RunAgentInput) ([]answeredConfirmation, error) {
	var known []answeredConfirmation
	for _, item := range in.Resume {
		q, err := m.deps.Runs.Confirmation(ctx, user, item.InterruptID)
		if errors.Is(err, agent.ErrNotFound) || (err == nil && q.ThreadID != in.ThreadID) {
			flow.Log(ctx).Warn().Str("interruptId", item.InterruptID).Msg("resume: no such interrupt in this conversation")
			continue
		}
		if err != nil {
			return nil, err
		}
		answer, err := item.Answer()
		if err != nil {
			return nil, err
		}
		known = append(known, answeredConfirmation{q, answer})
	}
	return known, nil
}

func (m *Module) decideAnswer(ctx context.Context, user string, k answeredConfirmation, refused refusals) {
	d := agent.Decision{Status: agent.ConfirmationRejected, Answer: k.answer.Outcome, Reason: k.answer.Reason, Remember: k.answer.Remember, By: user, Via: "agui"}
	if k.answer.Approved {
		d.Status = agent.ConfirmationConfirmed
	}
	if len(k.answer.EditedArgs) > 0 {
		d.Edited = &agent.Edit{Args: k.answer.EditedArgs}
	}
	q, err := m.deps.Engine.Decide(ctx, user, k.confirmation.RunID, k.confirmation.ID, d)
	if err == nil {
		return
	}
	line := flow.Log(ctx).Info()
	if fault.CodeOf(err) == fault.Internal {
		line = flow.Log(ctx).Error()
	}
	line.Err(err).Str("interruptId", k.confirmation.ID).Msg("resume did not decide")
	var replaced *run.ReplacedError
	switch {
	case errors.As(err, &replaced):
		refused[replaced.Confirmation.ID] = err
	case q.ID == "": // how it stands could not be read: the client hears why its answer may not count
		refused[k.confirmation.ID] = err
	case q.Status == agent.ConfirmationOpen:
		refused[q.ID] = err
	}
}

// interruptAgain tells a client that does not answer, or answers what nobody asked, how the conversation
// stands and what is open. It acts on nothing: silence is no answer.
func (m *Module) interruptAgain(c echo.Context, in agui.RunAgentInput) error {
	ctx, user := c.Request().Context(), userOf(c)
	open, err := m.openIn(ctx, user, func(q agent.Confirmation) bool { return q.ThreadID == in.ThreadID })
	if err != nil {
		return err
	}
	history, err := m.deps.Runs.History(ctx, user, in.ThreadID, false, newestMessages)
	if err != nil {
		return err
	}
	w, err := sse.NewWriter(c.Response())
	if err != nil {
		return nil // the client has gone
	}
	s := m.newStream(w, agent.Run{ThreadID: in.ThreadID, ClientRunID: in.RunID, Modern: in.ProtocolVersion != ""})
	last := s.says.Finished()
	if len(open) > 0 {
		last = s.says.Interrupted(m.asked(open, nil))
	}
	_ = s.send("", append(s.says.Snapshots(history), last)...)
	return nil
}

// openStandard streams a run under the client's label from a place on, until it ends or waits for nothing
// but a person. Act happens once the stream is open; what it refuses is said at the stream's end.
func (m *Module) openStandard(c echo.Context, in agui.RunAgentInput, r agent.Run, from run.Cursor, act func() refusals) error {
	ctx := c.Request().Context()
	c.Response().Header().Set("X-Run-Id", r.ID)
	c.Response().Header().Set("X-Trace-Id", r.TraceID)
	r.ClientRunID, r.Modern = in.RunID, in.ProtocolVersion != ""
	w, err := sse.NewWriter(c.Response())
	s := &standardStream{runStream: m.newStream(w, r), m: m, r: r, refused: act()}
	if err != nil {
		return nil
	}
	if from.Seq > 0 {
		if err = s.send("", s.says.Start()); err == nil {
			err = s.interruptIfUnchanged(ctx, from)
		}
	}
	switch {
	case err != nil:
		s.broke(ctx, err)
	case !s.agui.Ended():
		s.follow(ctx, from)
	}
	return nil
}

// standardStream is one run on a stream of POST /agui.
type standardStream struct {
	*runStream
	m       *Module
	r       agent.Run
	refused refusals // of the answers that the stream began with
	over    bool     // nothing may follow on its connection: it ended with an interrupt, or broke
}

// follow shows the run from a place on, until it ends or waits for nothing but a person.
func (s *standardStream) follow(ctx context.Context, from run.Cursor) {
	for u, err := range s.m.deps.Engine.Follow(ctx, s.r.ID, from) {
		if err == nil {
			err = s.show(ctx, u)
		}
		if err != nil {
			s.broke(ctx, err)
			return
		}
		if s.agui.Ended() {
			return
		}
	}
	if s.agui.Ended() {
		return
	}
	if err := s.finish(ctx, s.says.Finished()); err != nil { // the run had ended before
		s.broke(ctx, err)
	}
}

// broke ends a stream that cannot go on. Where the client is still there it hears that the stream broke, not
// the run, which it may follow again.
func (s *standardStream) broke(ctx context.Context, err error) {
	s.over = true
	if ctx.Err() != nil || errors.Is(err, ErrShutdown) {
		flow.Log(ctx).Debug().Err(err).Str("runId", s.r.ID).Msg("stream ended")
		return
	}
	flow.Log(ctx).Warn().Err(err).Str("runId", s.r.ID).Msg("stream broke")
	_ = s.send("", s.says.Broken(err))
}

// show sends what a watcher has seen; the standard's view of it may end there.
func (s *standardStream) show(ctx context.Context, u run.Update) error {
	if u.Event != nil && u.Event.Type == agent.RunEnded {
		last, err := s.says.Event(*u.Event)
		if err != nil {
			return err
		}
		return s.finish(ctx, last...)
	}
	if err := s.runStream.show(u, ""); err != nil {
		return err
	}
	if u.Event != nil && (u.Event.Type == agent.ConfirmationRequired || u.Event.Type == agent.CallEnded) {
		return s.interruptIfWaiting(ctx)
	}
	return nil
}

// finish ends the stream with both snapshots before its last event, so that a client holds what is stored.
func (s *standardStream) finish(ctx context.Context, last ...agui.Event) error {
	history, err := s.m.deps.Runs.History(ctx, s.r.UserID, s.r.ThreadID, false, newestMessages)
	if err != nil {
		return err
	}
	return s.send("", append(s.says.Snapshots(history), last...)...)
}

// interruptIfUnchanged ends the stream when the answers changed nothing, and a question is open: no event will come
// to tell of it.
func (s *standardStream) interruptIfUnchanged(ctx context.Context, from run.Cursor) error {
	now, err := s.m.deps.Engine.Run(ctx, s.r.UserID, s.r.ID)
	if err != nil || now.Head != from.Seq {
		return err
	}
	return s.interruptIfWaiting(ctx)
}

// interruptIfWaiting ends the stream when nothing but a person can let the run go on.
func (s *standardStream) interruptIfWaiting(ctx context.Context) error {
	j, err := s.m.deps.Runs.Journal(ctx, s.r.ID)
	if err != nil || j.Run.Status != agent.AwaitingConfirmation {
		return err
	}
	for _, inv := range j.Invocations {
		if !inv.Status.Settled() && !inv.Status.Waits() {
			return nil // another call is at work
		}
	}
	open, err := s.m.openIn(ctx, s.r.UserID, func(q agent.Confirmation) bool { return q.RunID == s.r.ID })
	if err != nil || len(open) == 0 {
		return err
	}
	s.over = true
	return s.finish(ctx, s.says.Interrupted(s.m.asked(open, s.refused)))
}

// asked shows open questions with what may be answered to them, and why an answer did not count.
func (m *Module) asked(open []agent.Confirmation, refused refusals) []agui.Asked {
	out := make([]agui.Asked, 0, len(open))
	for _, q := range open {
		a := agui.Asked{Confirmation: q, Refused: refused[q.ID]}
		if d, ok := m.deps.Registry.Lookup(q.Tool); ok && d.Editable() {
			a.ArgsSchema = d.InputSchema
		}
		out = append(out, a)
	}
	return out
}

// openIn lists a user's open confirmations that fit.
func (m *Module) openIn(ctx context.Context, user string, fits func(agent.Confirmation) bool) ([]agent.Confirmation, error) {
	all, err := m.deps.Runs.OpenConfirmations(ctx, user)
	if err != nil {
		return nil, err
	}
	var open []agent.Confirmation
	for _, q := range all {
		if fits(q) {
			open = append(open, q)
		}
	}
	return open, nil
}
