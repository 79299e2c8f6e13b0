package order

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// commitTries is how often a commit is sent when the catalog does not answer. Each repeats safely: it
// carries the reservation's key.
const commitTries = 3

// Settle has the last word on a call of place_order: the Food agent's ORDER_DATA must equal the quote
// that the person agreed to, and then the catalog commits. That commit is the point of no return.
func (s *Service) Settle(ctx context.Context, call capability.Call, result json.RawMessage, failure error) (json.RawMessage, []capability.Change, error) {
	o, err := s.deps.Store.OrderByInvocation(ctx, call.ID)
	if errors.Is(err, agent.ErrNotFound) {
		return result, nil, failure // call_food that only recommended
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load the order of %s: %w", call.ID, err)
	}
	if failure == nil {
		failure = compare(o, result)
	}
	if failure != nil {
		return s.giveUp(ctx, call, o, failure)
	}
	r, err := s.commit(ctx, call, o.Reservation)
	if failpoint.On(failpoint.BestEffort) {
		r.State, err = "COMMITTED", nil
	}
	if fault.CodeOf(err) == fault.NotFound {
		return nil, s.Dismiss(call, "hold_lost"), fault.New(fault.Conflict, "食堂已经没有为您留的份数，所以没有下单 / the canteen no longer knows the held portions, so nothing was ordered")
	}
	if err != nil {
		// Whether it was committed is not known, and the person said yes: the reconciler commits until it is.
		return nil, []capability.Change{Committing{InvocationID: call.ID}}, fault.Wrap(err, fault.Unavailable, "食堂没有回应，结果请看订单列表 / the canteen does not answer; the order list shows how it ends")
	}
	if r.State != "COMMITTED" {
		reason := "hold_" + strings.ToLower(r.State)
		return nil, s.Dismiss(call, reason), fault.New(fault.Conflict, "为您留的份数已经没有了，所以没有下单 / the held portions are gone (%s), so nothing was ordered", strings.ToLower(r.State))
	}
	out, err := confirmedResult(o)
	return out, []capability.Change{Confirm{InvocationID: call.ID, At: s.deps.Now()}}, err
}

// giveUp ends an order whose call failed. Whether it does is the catalog's to say: an earlier attempt of
// the same call, before a crash, may have committed already.
func (s *Service) giveUp(ctx context.Context, call capability.Call, o Order, failure error) (json.RawMessage, []capability.Change, error) {
	r, err := s.stock(ctx, call, o.Reservation+"/release", "release_reservation", o.Reservation, string(fault.CodeOf(failure)))
	switch {
	case err != nil:
		return nil, nil, failure // the reconciler asks until it is known
	case r.State == "COMMITTED":
		out, err := confirmedResult(o)
		return out, []capability.Change{Confirm{InvocationID: call.ID, At: s.deps.Now()}}, err
	}
	return nil, s.Dismiss(call, string(fault.CodeOf(failure))), failure
}

// Dismiss says what is written when a call of place_order will not run: the order is rejected, and the
// release of its hold is queued in the same transaction. When there is no order yet, its hold may still be
// there or come later: the release is queued all the same.
func (s *Service) Dismiss(call capability.Call, reason string) []capability.Change {
	return []capability.Change{Reject{
		InvocationID: call.ID, UserID: call.UserID, Reservation: Reservation(call.ID, 1), Reason: reason, At: s.deps.Now(),
	}}
}

// compare refuses an ORDER_DATA that differs from what the person agreed to.
func compare(o Order, result json.RawMessage) error {
	var data quote
	if err := json.Unmarshal(result, &data); err != nil {
		return fault.Wrap(err, fault.Internal, "the Food agent's order cannot be read")
	}
	if !o.is(data) {
		return fault.New(fault.Conflict, "您确认之后订单变了，所以没有下单，请重新下单 / the order changed after you were asked, so nothing was ordered; please order again")
	}
	return nil
}

// is tells whether a quote is the order as it stands.
func (o Order) is(q quote) bool {
	return q.TotalFen == o.TotalFen && q.Date == o.Date && q.Note == o.Note && slices.Equal(q.Lines, o.Lines)
}

func (s *Service) commit(ctx context.Context, call capability.Call, key string) (reservation, error) {
	var r reservation
	var err error
	for try := range commitTries {
		if try > 0 {
			pause(ctx, time.Duration(try)*300*time.Millisecond)
		}
		if err = failpoint.Hit(ctx, failpoint.BeforeCommit); err == nil {
			r, err = s.stock(ctx, call, key+"/commit", "commit_reservation", key, "")
			err = errors.Join(err, failpoint.Hit(ctx, failpoint.AfterCommit))
		}
		if code := fault.CodeOf(err); err == nil || (code != fault.Unavailable && code != fault.Timeout) {
			return r, err
		}
	}
	return r, err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func confirmedResult(o Order) (json.RawMessage, error) {
	out, err := json.Marshal(map[string]any{
		"orderId": o.ID, "status": Confirmed, "lines": o.Lines, "totalFen": o.TotalFen,
		"total": text.Yuan(o.TotalFen), "date": o.Date, "note": o.Note,
	})
	if err != nil {
		return nil, fmt.Errorf("write the order's result: %w", err)
	}
	return out, nil
}
