package capability

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// Invoke takes a call through the whole pipeline for a caller that is the program itself. It may call
// what the model never sees; what asks a person cannot be called this way, and no
// rule of the policy is in its way. The record goes to the ledger.
func (p *Pipeline) Invoke(ctx context.Context, call Call) (json.RawMessage, error) {
	began := p.now()
	out, err := p.invoke(ctx, call, began)
	if err != nil {
		out.Receipt.Code, out.Receipt.Message = string(fault.CodeOf(err)), fault.MessageOf(err)
	}
	p.audit(ctx, call, out.Receipt, out.Result)
	if err != nil {
		return nil, err
	}
	return out.Result, nil
}

func (p *Pipeline) invoke(ctx context.Context, call Call, began time.Time) (Outcome, error) {
	a := p.admit(ctx, p.registry.everything(), call, ownJudgement)
	switch {
	case a.Refusal != nil && a.Refusal.Status == Succeeded:
		return Outcome{Receipt: *a.Refusal, Result: a.Result}, nil
	case a.Refusal != nil:
		return Outcome{Receipt: *a.Refusal}, fault.New(fault.Code(a.Refusal.Code), "%s", a.Refusal.Message)
	case a.Ask:
		err := fault.New(fault.Denied, "%s needs a person's yes", call.Name)
		return Outcome{Receipt: p.receipt(call, began, Denied, StageConfirm, err)}, err
	}
	out := p.Execute(ctx, call)
	if out.Receipt.Status != Succeeded {
		return out, fault.New(fault.Code(out.Receipt.Code), "%s", out.Receipt.Message)
	}
	return out, nil
}

func (p *Pipeline) audit(ctx context.Context, call Call, receipt Receipt, result json.RawMessage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := p.ledger.Audit(ctx, p.RecordOf(ctx, call, receipt, result)); err != nil {
		flow.Log(ctx).Error().Err(err).Str("tool", call.Name).Msg("audit not written")
	}
}
