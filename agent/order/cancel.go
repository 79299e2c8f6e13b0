package order

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// Cancel takes a confirmed order back for its owner: it is CANCELLED, and the return of its portions is
// queued, in one transaction (design, section 7). The same again gives the order as it stands. Errors:
// not_found when it is not this user's, conflict when it is not confirmed or its day is over.
func (s *Service) Cancel(ctx context.Context, userID, id, reason string) (Order, error) {
	o, err := s.deps.Store.Order(ctx, userID, id)
	if err != nil {
		return Order{}, err
	}
	if o.Status == Confirmed {
		if today := s.deps.Now().In(s.deps.Zone).Format(time.DateOnly); o.Date < today {
			return Order{}, fault.New(fault.Conflict, "the day of this order, %s, is over", o.Date)
		}
		if err := s.deps.Store.CancelOrder(ctx, o.ID, reason, s.deps.Now()); err != nil && !errors.Is(err, agent.ErrStale) {
			return Order{}, fmt.Errorf("cancel order %s: %w", id, err)
		}
		if o, err = s.deps.Store.Order(ctx, userID, id); err != nil {
			return Order{}, err
		}
	}
	switch o.Status {
	case Cancelled:
		return o, nil
	case Placing:
		return Order{}, fault.New(fault.Conflict, "the order is not placed yet; reject its question, or cancel its run")
	}
	return Order{}, fault.New(fault.Conflict, "the order is %s, so there is nothing to cancel", o.Status)
}
