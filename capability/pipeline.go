package capability

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
	"agentmesh/app/platform/wrap"
)

// summarySize caps the input and output summaries of an audit record, in characters.
const summarySize = 1024

// settleTime is how long a capability may take to settle after its call ended, in particular when the
// caller has gone: the outcome of an effect is always recorded.
const settleTime = 10 * time.Second

// Pipeline is the one place where calls are checked, confirmed, executed once and recorded. A run goes
// through it in two halves, Admit and Execute, since a person may think in between; everybody else
// uses Invoke.
type Pipeline struct {
	registry *Registry
	ledger   Ledger
	rules    []Rule
	grants   Grants
	around   []wrap.Wrapper[Handler]
	now      func() time.Time
}

// Grants gives what a person has allowed for good of a capability, as rules.
type Grants interface {
	Granted(ctx context.Context, userID, capability string) ([]Rule, error)
}

// NewPipeline makes the pipeline over a registry.
func NewPipeline(registry *Registry, ledger Ledger, now func() time.Time) *Pipeline {
	return &Pipeline{registry: registry, ledger: ledger, now: now}
}

// Govern puts calls under a policy: the configuration's rules, and people's grants, which may be nil. It is called
// before the first call.
func (p *Pipeline) Govern(rules []Rule, grants Grants) {
	p.rules, p.grants = rules, grants
}

// Admission is what the first half of the pipeline decided.
type Admission struct {
	Definition Definition
	Ask        bool
	Verdict    Verdict // of the policy
	Prepared   Prepared
	// Refusal is set when the call ended here; the model gets Result, and Changes are written with it.
	Refusal *Receipt
	Result  json.RawMessage
	Changes []Change
}

// Admit takes a proposed call through resolve, validate, policy, idempotency and prepare. It has no effect but
// what Prepare holds, and may be repeated.
func (p *Pipeline) Admit(ctx context.Context, kit Toolkit, call Call) Admission {
	return p.admit(ctx, kit, call, p.judge)
}

// admit is Admit under a judge.
func (p *Pipeline) admit(ctx context.Context, kit Toolkit, call Call, judge judgement) Admission {
	began := p.now()
	refuse := func(stage Stage, status Status, err error) Admission {
		r := p.receipt(call, began, status, stage, err)
		return Admission{Refusal: &r, Result: refusedResult(err)}
	}
	if !kit.Has(call.Name) {
		return refuse(StageResolve, Invalid, unknownTool(call.Name, kit))
	}
	e := p.registry.entries[call.Name]
	if err := validate(e.schema, call.Args); err != nil {
		return refuse(StageValidate, Invalid, err)
	}
	verdict, err := judge(ctx, e.Definition, call)
	switch {
	case err != nil:
		return refuse(StagePolicy, Failed, err)
	case verdict.Effect == Deny:
		return p.denied(call, began, verdict)
	}
	stored, known, err := p.known(ctx, call)
	switch {
	case err != nil:
		return refuse(StageIdempotency, Failed, err)
	case known:
		return stored
	case verdict.Effect == Allow:
		return Admission{Definition: e.Definition, Verdict: verdict}
	}
	out := Admission{Definition: e.Definition, Ask: true, Verdict: verdict}
	if e.Prepare == nil {
		return out
	}
	prepared, err := prepare(ctx, e.Definition, call)
	if err != nil {
		refused := refuse(StagePrepare, statusOf(err), err)
		refused.Changes = prepared.Changes
		return refused
	}
	out.Prepared = prepared
	return out
}

// AdmitOutside is Admit for a tool that no registry knows, since whoever brought it runs it: arguments that do not fit
// and calls that a rule or the mode denies are refused. Whether to ask is left to who runs it.
func (p *Pipeline) AdmitOutside(d Definition, call Call) Admission {
	began := p.now()
	if err := checkArgs(d.InputSchema, call.Args); err != nil {
		r := p.receipt(call, began, Invalid, StageValidate, err)
		return Admission{Refusal: &r, Result: refusedResult(err)}
	}
	if v := Judge(d, call.Args, call.Mode, p.rules, nil); v.Effect == Deny {
		return p.denied(call, began, v)
	}
	return Admission{Definition: d}
}

// judgement is how a call is judged.
type judgement func(ctx context.Context, d Definition, call Call) (Verdict, error)

// judge asks the policy. Grants are read only where they could silence a question.
func (p *Pipeline) judge(ctx context.Context, d Definition, call Call) (Verdict, error) {
	if call.Off {
		return Verdict{Effect: Deny, Rule: ruleSkill, Reason: "the skill that has " + d.Name + " is turned off"}, nil
	}
	v := Judge(d, call.Args, call.Mode, p.rules, nil)
	if v.Fixed || v.Effect != Ask && v.Rule != ruleUnattended || p.grants == nil {
		return v, nil
	}
	grants, err := p.grants.Granted(ctx, call.UserID, d.Name)
	if err != nil {
		return Verdict{}, fmt.Errorf("read the grants of %s: %w", d.Name, err)
	}
	return Judge(d, call.Args, call.Mode, p.rules, grants), nil
}

// ownJudgement is that of a call which the program makes by itself, in the service of one that was judged or to
// undo one: no rule is in its way, but what needs a person's yes needs it.
func ownJudgement(_ context.Context, d Definition, _ Call) (Verdict, error) {
	if d.RequiresConfirmation {
		return Verdict{Effect: Ask, Rule: ruleDefinition, Fixed: true}, nil
	}
	return Verdict{Effect: Allow, Rule: ruleDefault}, nil
}

// denied is the end of a call that the policy denies. The model is told why, and the run goes on.
func (p *Pipeline) denied(call Call, began time.Time, v Verdict) Admission {
	r := p.receipt(call, began, Denied, StagePolicy, nil)
	r.Code, r.Message, r.Rule = string(fault.Denied), v.Reason, v.Rule
	return Admission{Refusal: &r, Verdict: v, Result: closedResult(Denied, "policy", v.Reason)}
}

func unknownTool(name string, kit Toolkit) error {
	names, _ := json.Marshal(kit.Names())
	return fault.New(fault.NotFound, "there is no tool %q in this turn; the tools are %s", text.Clip(name, 64), names)
}

// Outcome is what the second half of the pipeline gave.
type Outcome struct {
	Receipt Receipt
	Result  json.RawMessage
	Changes []Change
}

// Execute makes the attempt of an admitted call, settles it, and gives its receipt. The caller writes
// receipt, result and changes in one transaction. A call whose caller gave up is not settled: its
// outcome is Cancelled, and whoever owns the call either makes it again or denies it. One that may have
// happened, and would happen twice if it were made again, is Indeterminate.
func (p *Pipeline) Execute(ctx context.Context, call Call) Outcome {
	began := p.now()
	e, ok := p.registry.entries[call.Name]
	if !ok {
		err := fault.New(fault.NotFound, "the tool %q is no longer there", text.Clip(call.Name, 64))
		return Outcome{Receipt: p.receipt(call, began, Failed, StageResolve, err), Result: ErrorResult(err)}
	}
	result, err := p.attempt(ctx, e.Definition, call)
	if err != nil && ctx.Err() != nil {
		if unknown(e.Definition, err) {
			return Outcome{Receipt: p.receipt(call, began, Indeterminate, StageAttempt, err), Result: unknownResult(err)}
		}
		return Outcome{Receipt: p.receipt(call, began, Cancelled, StageAttempt, err), Result: ErrorResult(err)}
	}
	var changes []Change
	if e.Settle != nil {
		result, changes, err = settle(ctx, e.Definition, call, result, err)
	}
	if err != nil && unknown(e.Definition, err) {
		return Outcome{Receipt: p.receipt(call, began, Indeterminate, StageAttempt, err), Result: unknownResult(err), Changes: changes}
	}
	if err != nil {
		line := flow.Log(ctx).Warn()
		if code := fault.CodeOf(err); code == fault.NotFound || code == fault.Invalid { // an answer, and no trouble
			line = flow.Log(ctx).Info()
		}
		line.Err(err).Str("tool", call.Name).Msg("capability failed")
		return Outcome{Receipt: p.receipt(call, began, statusOf(err), StageAttempt, err), Result: ErrorResult(err), Changes: changes}
	}
	return Outcome{Receipt: p.receipt(call, began, Succeeded, StageReceipt, nil), Result: bounded(result), Changes: changes}
}

// known answers a call whose id has an outcome already: the same arguments get the stored one, others are
// a conflict.
func (p *Pipeline) known(ctx context.Context, call Call) (Admission, bool, error) {
	stored, found, err := p.ledger.Finished(ctx, call.UserID, call.ID)
	if err != nil || !found {
		return Admission{}, false, err
	}
	if !bytes.Equal(stored.Args, call.Args) {
		return Admission{}, false, fault.New(fault.Conflict, "the call id %s was used with other arguments", call.ID)
	}
	stored.Receipt.Replayed = true
	return Admission{Refusal: &stored.Receipt, Result: stored.Result}, true, nil
}

// RecordOf makes the audit record of a call.
func (p *Pipeline) RecordOf(ctx context.Context, call Call, r Receipt, result json.RawMessage) Record {
	out := Record{
		Receipt: r, At: p.now(), UserID: call.UserID, ThreadID: call.ThreadID, RunID: call.RunID,
		TraceID: flow.From(ctx).TraceID, Source: call.Source, ArgsDigest: Digest(call.Args),
		Input: text.Clip(string(call.Args), summarySize), Output: text.Clip(string(result), summarySize),
	}
	if len(call.Proposed) > 0 {
		out.ProposedDigest = Digest(call.Proposed)
	}
	return out
}

func (p *Pipeline) receipt(call Call, began time.Time, status Status, stage Stage, err error) Receipt {
	r := Receipt{
		InvocationID: call.ID, Capability: call.Name, Kind: p.registry.entries[call.Name].Kind,
		Status: status, Stage: stage, Rule: call.Rule, Began: began, Duration: p.now().Sub(began),
	}
	if err != nil {
		r.Code, r.Message = string(fault.CodeOf(err)), fault.MessageOf(err)
	}
	return r
}

// Lookup gives a registered definition.
func (p *Pipeline) Lookup(name string) (Definition, bool) {
	return p.registry.Lookup(name)
}
