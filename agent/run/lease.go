package run

import (
	"context"
	"errors"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
)

// ErrLeaseLost ends the work on a run that another process may have taken over. Nothing more is written for
// it here.
var ErrLeaseLost = errors.New("the lease of the run is lost")

// A lease is renewed well before its end. Work stops by itself shortly before that when it could not be, so
// that a process which cannot reach the database begins no effect that another one begins as well.
const (
	leaseTime   = 15 * time.Second
	renewEvery  = 5 * time.Second
	leaseMargin = 2 * time.Second
)

// workTime is how long work may go on under a lease that was asked for at a time, however late the answer came.
func workTime(asked time.Time) time.Duration { return leaseTime - leaseMargin - time.Since(asked) }

// pendingTime is how long a run may wait for the process that took it in, before any other begins it.
const pendingTime = 30 * time.Second

// takenFrom tells whether work must end without a word: the process stops, or the run is another's.
func takenFrom(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrLeaseLost)
}

// takeLease takes a run that has begun for this worker before it does anything for it, and ends the message that the
// worker before it left unfinished. It tells whether the run is this worker's.
func (s *Service) takeLease(ctx context.Context, w *worker, r agent.Run) (bool, error) {
	write, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	asked, now := time.Now(), s.deps.Now()
	lease, err := s.deps.Store.Claim(write, r.ID, s.owner, now, now.Add(leaseTime))
	if errors.Is(err, agent.ErrStale) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.active.leased(w, lease, asked)
	r.Epoch = lease.Epoch
	return true, ignoreStale(s.abandonMessage(ctx, r))
}

// firstLease is the claim that goes with the step that begins a run.
func (s *Service) firstLease(r agent.Run) *agent.Lease {
	return &agent.Lease{ID: r.ID, Owner: s.owner, Epoch: r.Epoch + 1, Until: s.deps.Now().Add(leaseTime)}
}

// release gives a worker's lease up, for whoever goes on with the run. Where that cannot be written, the
// lease ends by itself.
func (s *Service) release(ctx context.Context, w *worker) {
	lease, ok := s.active.unleased(w)
	if !ok {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	if err := s.deps.Store.Release(ctx, lease); err != nil {
		flow.Log(ctx).Warn().Err(err).Str("runId", w.id).Msg("lease not released")
	}
}

// keepLeases renews the leases of what is at work here, and looks for runs and tasks that nobody works on, and for
// outcomes that nobody has told.
func (s *Service) keepLeases(ctx context.Context) {
	beat := time.NewTicker(renewEvery)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			s.renew(ctx, s.active, s.deps.Store.Renew)
			s.renew(ctx, s.tasks, s.deps.Store.RenewTasks)
			s.adopt(ctx)
			s.adoptTasks(ctx)
			s.tellAll(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// renewing prolongs leases of runs, or of tasks.
type renewing func(ctx context.Context, leases []agent.Lease, until time.Time) (lost, cancelled []string, err error)

func (s *Service) renew(ctx context.Context, work *active, renew renewing) {
	held := work.leases()
	if len(held) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	asked := time.Now()
	lost, cancelled, err := renew(ctx, held, s.deps.Now().Add(leaseTime))
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Int("held", len(held)).Msg("leases not renewed")
		return
	}
	work.renewed(held, lost, asked)
	for _, id := range cancelled { // by way of another process
		work.cancel(id)
	}
}

// adopt takes up runs that nobody works on: their process died, or could not go on.
func (s *Service) adopt(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	now := s.deps.Now()
	orphans, err := s.deps.Store.Orphans(ctx, now, now.Add(-pendingTime))
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("orphaned runs not looked for")
		return
	}
	for _, runID := range orphans {
		if s.active.schedule(runID) {
			flow.Log(ctx).Info().Str("runId", runID).Msg("orphaned run taken up")
		}
	}
}
