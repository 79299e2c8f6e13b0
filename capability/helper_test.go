package capability_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

const dishSchema = `{"type":"object","properties":{"dish":{"type":"string","minLength":1},"quantity":{"type":"integer","minimum":1,"maximum":20}},"required":["dish"],"additionalProperties":false}`

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// ledger is a store of outcomes and records in memory.
type ledger struct {
	finishedFunc func(userID, id string) (capability.Finished, bool, error)
	auditErr     error

	mu      sync.Mutex
	records []capability.Record
}

func (l *ledger) Finished(_ context.Context, userID, id string) (capability.Finished, bool, error) {
	if l.finishedFunc == nil {
		return capability.Finished{}, false, nil
	}
	return l.finishedFunc(userID, id)
}

func (l *ledger) Audit(ctx context.Context, r capability.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.records = append(l.records, r)
	return l.auditErr
}

// changed is a change of a made-up capability.
type changed string

func (changed) Change() {}

// look is a capability that only reads.
func look(handle func(context.Context, capability.Call) (json.RawMessage, error)) capability.Definition {
	return capability.Definition{
		Name: "look", Kind: capability.Local, Description: "Looks.", ReadOnly: true,
		InputSchema: json.RawMessage(dishSchema), Handle: handle,
	}
}

// ask is a capability that a person must allow.
func ask(handle func(context.Context, capability.Call) (json.RawMessage, error)) capability.Definition {
	d := look(handle)
	d.Name, d.Kind, d.ReadOnly, d.RequiresConfirmation = "ask", capability.A2A, false, true
	return d
}

func says(result string) func(context.Context, capability.Call) (json.RawMessage, error) {
	return func(context.Context, capability.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }
}

func fails(err error) func(context.Context, capability.Call) (json.RawMessage, error) {
	return func(context.Context, capability.Call) (json.RawMessage, error) { return nil, err }
}

func registry(t *testing.T, definitions ...capability.Definition) *capability.Registry {
	t.Helper()
	r, err := capability.NewRegistry(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pipeline gives a pipeline over definitions, with a clock that stands still.
func pipeline(t *testing.T, l *ledger, definitions ...capability.Definition) (*capability.Pipeline, capability.Toolkit) {
	t.Helper()
	r := registry(t, definitions...)
	var names []string
	for _, d := range definitions {
		names = append(names, d.Name)
	}
	return capability.NewPipeline(r, l, func() time.Time { return at }), r.Toolkit(names)
}

func call(name, args string) capability.Call {
	return capability.Call{ID: "inv-1", Name: name, Args: json.RawMessage(args), UserID: "anna", ThreadID: "t1", RunID: "run-1", Source: "model"}
}

// wantReceipt compares how far a call came.
func wantReceipt(t *testing.T, got capability.Receipt, status capability.Status, stage capability.Stage, code fault.Code) {
	t.Helper()
	if got.Status != status || got.Stage != stage || got.Code != string(code) {
		t.Errorf("got %s at %s with %q (%s), want %s at %s with %q", got.Status, got.Stage, got.Code, got.Message, status, stage, code)
	}
}

func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
