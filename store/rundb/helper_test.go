package rundb_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 123000, time.UTC)

// later gives a time some seconds after the beginning.
func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

func open(t *testing.T) *rundb.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "orchestrator.db"))
}

func openAt(t *testing.T, path string) *rundb.DB {
	t.Helper()
	db, err := rundb.Open(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// create stores a PENDING run whose user message has the run's name.
func create(t *testing.T, db *rundb.DB, user, thread, id string) agent.Run {
	t.Helper()
	r := agent.Run{ID: id, ClientRunID: "client-" + id, UserID: user, ThreadID: thread, TraceID: "trace-" + id, Origin: agent.ByAGUI, Mode: capability.ModeDefault, CreatedAt: at}
	must(t, db.CreateRun(t.Context(), r, "title of "+thread, agent.Message{ID: "msg-" + id, Role: agent.User, Text: "ask " + id, CreatedAt: at}))
	return r
}

// begin takes a run to RUNNING.
func begin(t *testing.T, db *rundb.DB, id string) {
	t.Helper()
	must(t, db.Append(t.Context(), step(id, agent.Pending, agent.Running)))
}

func step(id string, from, to agent.Status) agent.Step {
	return agent.Step{RunID: id, From: []agent.Status{from}, To: to, At: later(1)}
}

// saying is what a run's events tell of an assistant's message.
func saying(m agent.Message) []agent.Event {
	var out []agent.Event
	if m.Text != "" {
		out = append(out, agent.NewEvent(agent.MessageEnded, agent.MessageData{MessageID: m.ID, Text: m.Text, Abandoned: m.Abandoned}, m.CreatedAt))
	}
	for _, c := range m.Calls {
		out = append(out, agent.NewEvent(agent.CallProposed, agent.CallData{MessageID: m.ID, CallID: c.ID, Name: c.Name, Args: c.Args}, m.CreatedAt))
	}
	return out
}

// finish ends a run that is RUNNING, with an answer.
func finish(t *testing.T, db *rundb.DB, id string, to agent.Status) {
	t.Helper()
	s := step(id, agent.Running, to)
	s.Events = append(s.Events, saying(agent.Message{ID: "answer-" + id, Role: agent.Assistant, Text: "answer " + id, CreatedAt: later(1)})...)
	must(t, db.Append(t.Context(), s))
}

func invocation(id, message string, position int, status capability.Status) agent.Invocation {
	return agent.Invocation{
		ID: id, MessageID: message, CallID: "call-" + id, Round: 1, Position: position, Name: "look",
		Args: json.RawMessage(`{"n":` + strconv.Itoa(position) + `}`), Status: status, CreatedAt: at,
	}
}

// done gives an invocation its result.
func done(inv agent.Invocation) agent.Invocation {
	inv.Status, inv.Result, inv.EndedAt = capability.Succeeded, json.RawMessage(`{"of":"`+inv.ID+`"}`), later(2)
	inv.Receipt = capability.Receipt{InvocationID: inv.ID, Capability: "look", Status: capability.Succeeded, Stage: capability.StageReceipt}
	return inv
}

func question(id, inv string) agent.Confirmation {
	return agent.Confirmation{
		ID: id, Kind: agent.AskConfirm, InvocationID: inv, CallID: "call-" + inv, Tool: "place_order", Args: json.RawMessage(`{"items":[]}`), ArgsDigest: "d",
		Summary: json.RawMessage(`{"totalFen":3200}`), Status: agent.ConfirmationOpen, CreatedAt: at, Deadline: later(300),
	}
}

// await takes a RUNNING run to AWAITING_CONFIRMATION with open questions.
func await(t *testing.T, db *rundb.DB, id string, questions ...agent.Confirmation) {
	t.Helper()
	s := step(id, agent.Running, agent.AwaitingConfirmation)
	s.Confirmations = questions
	must(t, db.Append(t.Context(), s))
}

func placed(inv, user string) order.Place {
	return order.Place{Order: order.Order{
		ID: "order-" + inv, UserID: user, RunID: "run-1", ThreadID: "t1", InvocationID: inv, Reservation: inv + "/1",
		Status: order.Placing, Date: "2026-11-29", Note: "快一点", TotalFen: 6700, CreatedAt: at, UpdatedAt: at,
		Lines: []order.Line{
			{DishID: "food-001", Name: "水煮牛肉", NameEn: "Sichuan boiled beef", Quantity: 2, UnitFen: 3200, AmountFen: 6400, Note: "不要辣"},
			{DishID: "food-002", Name: "米饭", NameEn: "Rice", Quantity: 1, UnitFen: 300, AmountFen: 300},
		},
	}}
}

func statusOf(t *testing.T, db *rundb.DB, user, id string) agent.Status {
	t.Helper()
	r, err := db.Run(t.Context(), user, id)
	must(t, err)
	return r.Status
}

func wantStatus(t *testing.T, db *rundb.DB, user, id string, want agent.Status) {
	t.Helper()
	if got := statusOf(t, db, user, id); got != want {
		t.Errorf("%s: got %s, want %s", id, got, want)
	}
}

func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }
