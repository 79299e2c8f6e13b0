package order

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/capability"
)

// reconcileEvery is how often orders without an outcome are looked for.
const reconcileEvery = time.Minute

// unsettledAgain is the pause before an order is asked about again that could not be settled.
const unsettledAgain = 5 * time.Second

// relay delivers the outbox and settles what a crash left open.
type relay struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// Start settles what an earlier process left and keeps delivering until Stop.
func (s *Service) Start(ctx context.Context) {
	ctx, s.relay.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.relay.wg.Go(func() { s.work(ctx) })
}

// Stop ends the relay and waits for it. What is undelivered stays in the outbox.
func (s *Service) Stop() {
	if s.relay.stop != nil {
		s.relay.stop()
	}
	s.relay.wg.Wait()
}

func (s *Service) work(ctx context.Context) {
	var due time.Time // the next look; what wakes us before it must not put it off
	for ctx.Err() == nil {
		began := time.Now()
		if look := began.Add(min(s.reconcile(ctx), s.deliver(ctx))); !due.After(began) || look.Before(due) {
			due = look
		}
		next := time.NewTimer(time.Until(due))
		select {
		case <-next.C:
		case <-s.deps.Store.OutboxChanged():
		case <-ctx.Done():
		}
		next.Stop()
	}
}

// atOnce is how many deliveries are under way at a time. Their order does not matter: no two are about the same
// reservation, as what was given up is never returned.
const atOnce = 8

// deliver sends what is due, each at least once, and gives the time until the next look.
func (s *Service) deliver(ctx context.Context) time.Duration {
	const batch = 50
	due, err := s.deps.Store.Outbox(ctx, "", s.deps.Now(), batch)
	if err != nil {
		return time.Second
	}
	waits := make([]time.Duration, len(due))
	var stuck atomic.Bool
	var sending sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, d := range due {
		free <- struct{}{}
		sending.Go(func() {
			wait, moved := s.deliverOne(ctx, d)
			waits[i] = wait
			if !moved {
				stuck.Store(true)
			}
			<-free
		})
	}
	sending.Wait()
	if len(due) == batch && !stuck.Load() {
		return 0 // there may be more
	}
	return slices.Min(append(waits, reconcileEvery))
}

// deliverOne sends one row, and gives the time until it is to be looked at again. It tells whether the store
// knows: a row of which it does not is due still.
func (s *Service) deliverOne(ctx context.Context, d Delivery) (wait time.Duration, moved bool) {
	err := s.send(ctx, d)
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.AfterDeliver)
	}
	if err == nil {
		err = s.deps.Store.Delivered(ctx, d.N, s.deps.Now())
	}
	if err == nil || ctx.Err() != nil {
		return reconcileEvery, err == nil
	}
	backoff := min(time.Minute, time.Second<<min(d.Attempts, 6))
	flow.Log(ctx).Warn().Err(err).Str("key", d.Key).Msg("outbox delivery failed")
	if err := s.deps.Store.Retry(ctx, d.N, s.deps.Now().Add(backoff)); err != nil {
		flow.Log(ctx).Error().Err(err).Msg("outbox row not put back")
		return backoff, false
	}
	return backoff, true
}

// deliverOwn sends what is due of one person's, before they order again: what they have given up counts neither against
// them nor as sold. The relay may send the same at the same time, to no harm.
func (s *Service) deliverOwn(ctx context.Context, userID string) {
	due, err := s.deps.Store.Outbox(ctx, userID, s.deps.Now(), ownDue)
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("what was given up is not looked up")
	}
	for _, d := range due {
		s.deliverOne(ctx, d)
	}
}

// ownDue bounds what one person can have given up and not returned yet.
const ownDue = 10

// send delivers one row, as a part of the chain that caused it. A reservation that turns out to be in a
// state that its order denies must not be, and is not repaired without a person.
func (s *Service) send(ctx context.Context, d Delivery) error {
	if err := failpoint.Hit(ctx, failpoint.BeforeDeliver); err != nil {
		return err
	}
	invocation := d.Key[:max(0, strings.LastIndexByte(d.Key, '/'))]
	ctx = flow.With(ctx, flow.IDs{
		TraceID: d.TraceID, SpanID: span.IDOf(invocation), RunID: d.RunID, ThreadID: d.ThreadID, UserID: d.UserID, ToolInvocationID: invocation,
	})
	call := capability.Call{UserID: d.UserID, RunID: d.RunID, ThreadID: d.ThreadID}
	switch d.Op {
	case Release:
		r, err := s.stock(ctx, call, d.Key+"/release", string(d.Op), d.Key, d.Reason)
		if err == nil && r.State == "COMMITTED" {
			return fmt.Errorf("the reservation %s was given up and is committed", d.Key)
		}
		return err
	case Return:
		r, err := s.stock(ctx, call, d.Key+"/return", string(d.Op), d.Key, "")
		if err == nil && r.State != "RETURNED" {
			return fmt.Errorf("the reservation %s of a cancelled order is %s", d.Key, r.State)
		}
		return err
	}
	return fmt.Errorf("no way to deliver %s", d.Op)
}

// reconcile settles the PLACING orders whose call has ended: the catalog says how each stands. It gives the
// time until the next look.
func (s *Service) reconcile(ctx context.Context) time.Duration {
	open, err := s.deps.Store.Unsettled(ctx)
	if ctx.Err() != nil {
		return reconcileEvery
	}
	if err != nil {
		flow.Log(ctx).Error().Err(err).Msg("unsettled orders not read")
		return unsettledAgain
	}
	wait := reconcileEvery
	for _, o := range open {
		change, err := s.outcome(ctx, o)
		if err == nil {
			err = s.deps.Store.Apply(ctx, change)
		}
		if err != nil {
			flow.Log(ctx).Warn().Err(err).Str("orderId", o.ID).Msg("order not settled yet")
			wait = unsettledAgain
		}
	}
	return wait
}

// outcome asks the catalog how an order ends whose call has ended. A yes whose commit was not answered is
// committed again; otherwise releasing asks and decides at once: what is not committed yet never will be.
func (s *Service) outcome(ctx context.Context, o Order) (capability.Change, error) {
	op, reason := "release_reservation", "unsettled"
	if o.Committing {
		op = "commit_reservation"
	}
	call := capability.Call{ID: o.InvocationID, UserID: o.UserID, ThreadID: o.ThreadID, RunID: o.RunID}
	r, err := s.stock(ctx, call, o.Reservation+"/reconcile", op, o.Reservation, reason)
	switch {
	case o.Committing && fault.CodeOf(err) == fault.NotFound:
		reason = "hold_lost"
	case err != nil:
		return nil, err
	case r.State == "COMMITTED":
		return Confirm{InvocationID: o.InvocationID, At: s.deps.Now()}, nil
	case o.Committing:
		reason = "hold_" + strings.ToLower(r.State)
	}
	return Reject{InvocationID: o.InvocationID, UserID: o.UserID, Reservation: o.Reservation, Reason: reason, At: s.deps.Now()}, nil
}
