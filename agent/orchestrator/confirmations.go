package orchestrator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

// decisionBody is what a decision may carry. Args, with a yes, take the place of the call's arguments as a
// whole; argsDigest says which ones the person saw, and must be that of those asked about. Answer is what a
// question whether a call happened is answered with.
type decisionBody struct {
	ConfirmationID json.RawMessage `json:"confirmationId"` // left out: the run's one open question
	Args           json.RawMessage `json:"args"`
	ArgsDigest     string          `json:"argsDigest"`
	Answer         agent.Reply     `json:"answer"`
	Reason         string          `json:"reason"`
	Remember       string          `json:"remember"` // with a yes: the id of one of the question's suggestions
}

// question is the id that was sent, or nothing. An id that was lost on its way, so that it is empty, names none: it
// must not come to mean whichever is open.
func (b decisionBody) question() (id string, err error) {
	if len(b.ConfirmationID) == 0 {
		return "", nil
	}
	if json.Unmarshal(b.ConfirmationID, &id) != nil || id == "" {
		return "", fault.New(fault.Invalid, "confirmationId must be the id of a question; leave it out to mean the run's one open question")
	}
	return id, nil
}

func (m *Module) confirm(c echo.Context) error { return m.decide(c, agent.ConfirmationConfirmed) }

func (m *Module) reject(c echo.Context) error { return m.decide(c, agent.ConfirmationRejected) }

func (m *Module) decide(c echo.Context, status agent.ConfirmationStatus) error {
	if err := mayDecide(c); err != nil {
		return err
	}
	user := userOf(c)
	var body decisionBody
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	if body.Answer != "" && status != agent.ConfirmationConfirmed {
		return fault.New(fault.Invalid, "answer goes to /confirm, whatever it says")
	}
	id, err := body.question()
	if err != nil {
		return err
	}
	d := agent.Decision{Status: status, Answer: body.Answer, Reason: body.Reason, ArgsDigest: body.ArgsDigest, Remember: body.Remember, By: user, Via: "rest"}
	if len(body.Args) > 0 && !bytes.Equal(body.Args, []byte("null")) {
		if status != agent.ConfirmationConfirmed {
			return fault.New(fault.Invalid, "args go with a yes; a no has none")
		}
		d.Edited = &agent.Edit{Args: body.Args}
	}
	q, err := m.deps.Engine.Decide(c.Request().Context(), user, c.Param("id"), id, d)
	if err != nil {
		return decided(c, err, q)
	}
	return c.JSON(http.StatusOK, map[string]any{"confirmation": q})
}

// decided answers a decision that did not count: it came too late, contradicts, or cannot be. The problem
// shows how the question stands; where another has taken its place, that one.
func decided(c echo.Context, err error, q agent.Confirmation) error {
	var replaced *run.ReplacedError
	if errors.As(err, &replaced) {
		q = replaced.Confirmation
	}
	if q.ID == "" {
		return err
	}
	logError(c, err)
	p := fault.ProblemOf(err)
	p.Extra = map[string]any{"confirmation": q}
	if replaced != nil {
		p.Code, p.Extra["confirmationId"] = "confirmation_replaced", q.ID
	}
	fault.WriteProblem(c.Response(), p)
	return nil
}

func (m *Module) listConfirmations(c echo.Context) error {
	if status := c.QueryParam("status"); status != "" && status != "open" {
		return fault.New(fault.Invalid, "status must be open")
	}
	part, err := partOf(c, "confirmations", usualLimit)
	if err != nil {
		return err
	}
	open, next, err := m.deps.Runs.OpenQuestions(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, open, next, err)
}

// readJSON reads a small body; an empty one is an empty object.
func readJSON(body io.Reader, into any) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the body could not be read")
	}
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields() // a guard that is misspelt must not count as none
	if err := dec.Decode(into); err != nil || dec.More() || bytes.HasPrefix(bytes.TrimSpace(raw), []byte("null")) {
		return fault.Wrap(err, fault.Invalid, "the body is not the JSON object that is expected here")
	}
	return nil
}
