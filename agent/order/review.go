package order

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// abandonAfter is how long a hold may wait for the decision it was made for, before it counts as lost: a
// crash came between. It is well above the time that a review and its decision can take.
const abandonAfter = 2 * time.Minute

// Review quotes an order again once the person has agreed to it, with the arguments as they may have edited
// them. What they saw goes on with its hold. Anything else is held under the next n beside the old hold: the
// decision either takes it over and queues the old one's release, or the release of the new one is due. When
// it costs other than what they saw, they are to be asked again.
func (s *Service) Review(ctx context.Context, call capability.Call) (capability.Review, error) {
	args, err := arguments(call)
	if err != nil {
		return capability.Review{}, err
	}
	o, err := s.deps.Store.OrderByInvocation(ctx, call.ID)
	if err != nil {
		return capability.Review{}, fmt.Errorf("load the order of %s: %w", call.ID, err)
	}
	return s.review(ctx, call, o, args)
}

// ReviewText does the same for call_food. Words that order may be edited into others that order, and words
// that do not into others that do not; a new message is the way from one to the other.
func (s *Service) ReviewText(ctx context.Context, call capability.Call) (capability.Review, error) {
	args, err := s.intent(ctx, call)
	if err != nil {
		return capability.Review{}, err
	}
	o, err := s.deps.Store.OrderByInvocation(ctx, call.ID)
	switch none := errors.Is(err, agent.ErrNotFound); {
	case none && args == nil:
		return capability.Review{}, nil
	case none:
		return capability.Review{}, fault.New(fault.Invalid, "these words order something, and no order was asked about; say it as a new message")
	case err != nil:
		return capability.Review{}, fmt.Errorf("load the order of %s: %w", call.ID, err)
	case args == nil:
		return capability.Review{}, fault.New(fault.Invalid, "these words order nothing any more; reject the order instead")
	}
	return s.review(ctx, call, o, args)
}

func (s *Service) review(ctx context.Context, call capability.Call, o Order, args map[string]any) (capability.Review, error) {
	args["held"] = true // the order's own portions count; how much there is, the catalog says when they are held
	q, err := s.quote(ctx, call, args)
	if err != nil {
		return capability.Review{}, err
	}
	if o.is(q) { // with the hold that there is; what it warns of may be new
		p, err := prepared(q)
		return capability.Review{Prepared: p}, err
	}
	n, err := s.deps.Store.Requote(ctx, o, s.deps.Now().Add(abandonAfter))
	if errors.Is(err, agent.ErrStale) {
		return capability.Review{}, fault.Wrap(err, fault.Conflict, "the order is no longer waiting")
	}
	if err != nil {
		return capability.Review{}, err
	}
	key := Reservation(call.ID, n)
	if _, err := s.hold(ctx, call, key, q); err != nil {
		s.abandon(ctx, key)
		return capability.Review{}, err
	}
	p, err := prepared(q, Replace{Order: o.quoted(q, key, s.deps.Now()), Old: o.Reservation, Reason: "replaced"})
	return capability.Review{
		Prepared: p, Ask: !o.showed(q), Drop: func(ctx context.Context) { s.abandon(ctx, key) },
	}, err
}

// showed tells whether a person who saw the order has seen what a quote orders and costs: it is for the same
// day, and each of its dishes was there under the same name at the same price.
func (o Order) showed(q quote) bool {
	seen := map[Line]bool{}
	for _, l := range o.Lines {
		seen[l.dish()] = true
	}
	for _, l := range q.Lines {
		if !seen[l.dish()] {
			return false
		}
	}
	return q.Date == o.Date
}

// dish is what a line says of its dish, whatever is ordered of it.
func (l Line) dish() Line {
	return Line{DishID: l.DishID, Name: l.Name, NameEn: l.NameEn, UnitFen: l.UnitFen}
}

// abandon lets a hold go that no order takes over. Should this fail, it goes a little later.
func (s *Service) abandon(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTime)
	defer cancel()
	if err := s.deps.Store.Apply(ctx, Abandon{Reservation: key, At: s.deps.Now()}); err != nil {
		flow.Log(ctx).Warn().Err(err).Str("key", key).Msg("hold not let go at once")
	}
}

// abandonTime bounds the write that lets a hold go.
const abandonTime = 5 * time.Second
