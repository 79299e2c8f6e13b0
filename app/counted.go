package app

import (
	"context"

	"agentmesh/agent"
	"agentmesh/capability"
)

// countedStore counts what the engine has written: the receipts and model rounds of a step.
type countedStore struct {
	agent.RunStore
	counts *counts
	known  func(name string) bool
}

// Append writes a step and counts it.
func (s countedStore) Append(ctx context.Context, step agent.Step) error {
	err := s.RunStore.Append(ctx, step)
	if err == nil {
		s.count(step)
	}
	return err
}

// Decide closes a question and counts its step, if this call closed it.
func (s countedStore) Decide(ctx context.Context, id string, d agent.Decision, step agent.Step) (agent.Confirmation, bool, error) {
	c, won, err := s.RunStore.Decide(ctx, id, d, step)
	if won && err == nil {
		s.count(step)
	}
	return c, won, err
}

// EndTask writes the outcome of a task and counts it.
func (s countedStore) EndTask(ctx context.Context, e agent.TaskEnd) error {
	err := s.RunStore.EndTask(ctx, e)
	if err == nil {
		s.counts.called(s.known, e.Records...)
	}
	return err
}

func (s countedStore) count(step agent.Step) {
	s.counts.called(s.known, step.Records...)
	s.counts.asked(step.ModelCalls...)
}

// countedLedger counts the receipts of calls outside a run's journal.
type countedLedger struct {
	capability.Ledger
	counts *counts
	known  func(name string) bool
}

// Audit writes a record and counts it.
func (l countedLedger) Audit(ctx context.Context, r capability.Record) error {
	l.counts.called(l.known, r)
	return l.Ledger.Audit(ctx, r)
}
