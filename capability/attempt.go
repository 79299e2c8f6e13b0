package capability

import (
	"context"
	"encoding/json"
	"errors"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/wrap"
)

func prepare(ctx context.Context, d Definition, call Call) (p Prepared, err error) {
	limit, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	defer caught(ctx, d.Name, &err)
	return d.Prepare(limit, call)
}

// Handler does the work of one call and gives its result as JSON.
type Handler func(ctx context.Context, call Call) (json.RawMessage, error)

// Wrap puts functions around every attempt of a call, inside its limit of time; the first is outermost. They
// stand where a proxy before the tool would: what is admitted, settled and recorded is decided around them. It is called before the first call.
func (p *Pipeline) Wrap(wrappers ...wrap.Wrapper[Handler]) { p.around = wrappers }

// attempt runs the handler under its limit. A cancelled caller wins over whatever the handler made of it.
func (p *Pipeline) attempt(ctx context.Context, d Definition, call Call) (result json.RawMessage, err error) {
	if ctx.Err() != nil {
		return nil, &fault.Error{Code: fault.Cancelled, Message: "the call was cancelled", Err: ctx.Err(), Unsent: true}
	}
	limit, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	defer caught(ctx, d.Name, &err)
	result, err = wrap.Around(d.Handle, p.around...)(limit, call)
	switch {
	case err == nil && len(result) == 0:
		return json.RawMessage(`{}`), nil
	case err != nil && ctx.Err() != nil:
		return nil, fault.Wrap(err, fault.Cancelled, "the call was cancelled")
	case err != nil && errors.Is(limit.Err(), context.DeadlineExceeded):
		return nil, fault.Wrap(err, fault.Timeout, "the tool %s did not answer within %s", d.Name, d.timeout())
	}
	return result, err
}

// unknown tells whether nobody knows what an attempt did (notes on durability, 4.2): it had no answer, though
// its request may have arrived. What has no effect, or is recognised when it comes again, has no such state.
func unknown(d Definition, err error) bool {
	if d.Repeatable() || fault.Unsent(err) {
		return false
	}
	switch fault.CodeOf(err) {
	case fault.Timeout, fault.Unavailable, fault.Cancelled:
		return true
	}
	return false
}

func settle(ctx context.Context, d Definition, call Call, result json.RawMessage, failure error) (_ json.RawMessage, _ []Change, err error) {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	defer caught(ctx, d.Name, &err)
	return d.Settle(limit, call, result, failure)
}

// caught, deferred, turns a panic into a fault: one broken capability must not end every run of the
// process.
func caught(ctx context.Context, name string, err *error) {
	if r := recover(); r != nil {
		flow.Log(ctx).Error().Interface("panic", r).Str("tool", name).Msg("capability panicked")
		*err = fault.New(fault.Internal, "the tool %s broke", name)
	}
}
