// Package run is the engine: it takes an input through model rounds, tool calls, questions to the
// person and recovery, one durable step at a time. A run's progress is its journal; a goroutine is only
// its current worker (design, section 4). The package must not know HTTP, SQL, any protocol, or what a
// capability does.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
	"agentmesh/app/platform/wrap"
	"agentmesh/capability"
	"agentmesh/skills"
)

// Causes that end the context of a run's work.
var (
	ErrUserCancelled = errors.New("cancelled")
	ErrShutdown      = errors.New("the program stops")
)

// writeTime bounds a write that records what has happened; such a write does not end with its caller.
const writeTime = 5 * time.Second

// Config holds what an operator may set.
type Config struct {
	ConfirmationTTL time.Duration                  // how long a question stays open (D-97)
	Leave           map[agent.Origin]time.Duration // how long a run goes on with nobody watching (D-86); without an entry for ever
	Strict          bool                           // --recovery=fail: what a restart interrupted has FAILED (D-88)
	OffloadAfter    time.Duration                  // how long a call is waited for before it goes on in the background (S-18); 0: for ever
	Bounds          Bounds
	Zone            *time.Location // in which a model is told the time; nil: UTC
}

// Deps are the parts that the engine works with.
type Deps struct {
	Store    agent.RunStore
	Model    agent.Model
	Registry *capability.Registry
	Pipeline *capability.Pipeline
	Market   *skills.Marketplace
	Around   []wrap.Wrapper[Work] // put around the work on each run; the first is outermost
	Now      func() time.Time
	NewID    func(kind string) string
}

// Service runs runs.
type Service struct {
	deps    Deps
	config  Config
	owner   string  // of leases: this process
	active  *active // workers of runs
	tasks   *active // workers of what goes on in the background
	live    *live
	seen    seen
	expiry  chan struct{}
	learned learned
}

// New makes the engine; Start sets it going.
func New(deps Deps, config Config) *Service {
	config.Zone = cmp.Or(config.Zone, time.UTC)
	s := &Service{deps: deps, config: config, owner: deps.NewID("owner"), live: newLive(), expiry: make(chan struct{}, 1)}
	s.active, s.tasks = newActive(s.work), newActive(s.workTask)
	return s
}

// Start recovers what an earlier process left and begins to watch deadlines. The context carries the
// logger; the engine's work outlives the call and ends with Stop.
func (s *Service) Start(ctx context.Context) error {
	s.active.open(ctx)
	s.tasks.open(ctx)
	if err := s.recover(ctx); err != nil {
		return fmt.Errorf("recover runs: %w", err)
	}
	s.active.goWork(s.watchDeadlines)
	s.active.goWork(s.keepLeases)
	return nil
}

// Stop ends all work and waits for it. Runs stay as they are in the journal; the next process goes on.
func (s *Service) Stop(ctx context.Context) error {
	s.active.halt()
	s.tasks.halt()
	return errors.Join(s.active.wait(ctx), s.tasks.wait(ctx))
}

// Input is one message of a person.
type Input struct {
	UserID      string
	ThreadID    string
	ClientRunID string
	MessageID   string // empty: the client gave none
	Text        string
	Modern      bool
	Origin      agent.Origin
	Client      agent.Client
	Answers     []agent.CallAnswer // what the client says came of calls of its tools
	Mode        capability.Mode    // empty: the default one
}

// key names an input, so that it is known when it comes again: all that a client repeats when it sends it
// again. It is empty where the client did not name it.
func (in Input) key() string {
	id, said := in.MessageID, in.Text
	if n := len(in.Answers); said == "" && n > 0 { // it is about what was answered
		id, said = in.Answers[n-1].MessageID, in.Answers[n-1].CallID+"\n"+in.Answers[n-1].Content
	}
	if in.ClientRunID == "" || id == "" {
		return ""
	}
	sum := sha256.New()
	for _, part := range []string{in.UserID, in.ThreadID, in.ClientRunID, id, said} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// OpenConfirmationError refuses an input because the conversation has an open question (F-24).
type OpenConfirmationError struct{ Confirmation agent.Confirmation }

func (e *OpenConfirmationError) Error() string {
	return "a question of this conversation is open: confirm, reject or cancel it first"
}

// ErrNothingWaits refuses an input that says nothing but what came of calls which do not wait for it.
var ErrNothingWaits error = fault.New(fault.Conflict,
	"no call of this conversation waits for this answer: it has its result already, or is not of a tool of the client's")

// titleLength is how much of its first message names a conversation, in characters.
const titleLength = 40

// Create stores an input and its PENDING run. Begin sets it going, once somebody can watch it. The same input
// again, from a client that lost the answer, gives the run that there is, however far that has come.
func (s *Service) Create(ctx context.Context, in Input) (agent.Run, error) {
	if err := s.checkTools(in.Client); err != nil {
		return agent.Run{}, err
	}
	for range createTries {
		r, err := s.create(ctx, in)
		if !errors.Is(err, agent.ErrStale) { // somebody else answered a call meanwhile: what still waits is looked for again
			return r, err
		}
	}
	return agent.Run{}, fault.New(fault.Conflict, "a call of this conversation was answered just now; send the message again")
}

// createTries is how often an input is stored that answers calls which others answer too.
const createTries = 3

func (s *Service) create(ctx context.Context, in Input) (agent.Run, error) {
	answered, continues, err := s.answersOfClient(ctx, in)
	if err != nil {
		return agent.Run{}, err
	}
	now := s.deps.Now()
	r := agent.Run{
		ID: s.deps.NewID("run"), ClientRunID: in.ClientRunID, UserID: in.UserID, ThreadID: in.ThreadID, Client: in.Client, Continues: continues,
		TraceID: flow.From(ctx).TraceID, Modern: in.Modern, Origin: in.Origin, Mode: cmp.Or(in.Mode, capability.ModeDefault), InputKey: in.key(), CreatedAt: now,
	}
	message := agent.Message{UserID: in.UserID, ThreadID: in.ThreadID, RunID: r.ID, Role: agent.User, Text: in.Text, CreatedAt: now}
	if in.Text != "" {
		message.ID = cmp.Or(in.MessageID, s.deps.NewID("msg"))
	}
	err = s.deps.Store.CreateRun(ctx, r, text.Clip(in.Text, titleLength), message, answered...)
	if errors.Is(err, agent.ErrMessageExists) { // a client that sends a message again under its old id
		message.ID = s.deps.NewID("msg")
		err = s.deps.Store.CreateRun(ctx, r, text.Clip(in.Text, titleLength), message, answered...)
	}
	var same *agent.SameInputError
	switch {
	case errors.As(err, &same):
		flow.Log(ctx).Info().Str("runId", same.RunID).Msg("the same input again: no second run")
		return s.Run(ctx, in.UserID, same.RunID)
	case errors.Is(err, agent.ErrConfirmationOpen):
		return agent.Run{}, s.openConfirmation(ctx, in)
	case errors.Is(err, agent.ErrNothingSaid):
		return agent.Run{}, ErrNothingWaits
	}
	if err != nil {
		return agent.Run{}, fmt.Errorf("create run: %w", err)
	}
	return r, nil
}

// openConfirmation is the refusal that shows the question in the way.
func (s *Service) openConfirmation(ctx context.Context, in Input) error {
	open, err := s.deps.Store.OpenConfirmations(ctx, in.UserID)
	if err != nil {
		return fmt.Errorf("create run: %w", err)
	}
	for _, c := range open {
		if c.ThreadID == in.ThreadID {
			return &OpenConfirmationError{c}
		}
	}
	return fault.New(fault.Conflict, "a question of this conversation was open just now; send the message again")
}

// Begin lets a worker take the run's next step, now and whenever something happens to it.
func (s *Service) Begin(runID string) { s.active.schedule(runID) }

// Cancel records the wish to end a run, ends its work, and gives the run as it then stands. It is
// idempotent; a run that ended otherwise is a conflict.
func (s *Service) Cancel(ctx context.Context, userID, runID string) (agent.Run, error) {
	r, err := s.Run(ctx, userID, runID)
	if err != nil {
		return agent.Run{}, err
	}
	open, err := s.requestCancel(ctx, r.ID, agent.ByUser)
	if err != nil {
		return agent.Run{}, err
	}
	if open {
		s.awaitEnd(ctx, r.ID)
	}
	if r, err = s.Run(ctx, userID, runID); err != nil {
		return agent.Run{}, err
	}
	if r.Status.Final() && r.Status != agent.Cancelled {
		return r, fault.New(fault.Conflict, "the run has ended: %s", r.Status)
	}
	return r, nil
}

func (s *Service) requestCancel(ctx context.Context, runID string, why agent.FinishReason) (bool, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	open, err := s.deps.Store.RequestCancel(ctx, runID, why)
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.CancelWritten)
	}
	if err != nil {
		return false, fmt.Errorf("cancel run %s: %w", runID, err)
	}
	if open {
		s.tasks.cancelOf(runID)
		s.active.cancel(runID)
		s.active.schedule(runID)
	}
	return open, nil
}

// awaitEnd waits a little for a cancelled run to end, so that the answer can say so.
func (s *Service) awaitEnd(ctx context.Context, runID string) {
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	for u, err := range s.Follow(ctx, runID, Cursor{}) {
		if err != nil || (u.Event != nil && u.Event.Type == agent.RunEnded) {
			return
		}
	}
}

// Run gives one run by our id, or by the client's label where that is unique for the user.
func (s *Service) Run(ctx context.Context, userID, id string) (agent.Run, error) {
	r, err := s.deps.Store.Run(ctx, userID, id)
	if errors.Is(err, agent.ErrNotFound) {
		r, err = s.deps.Store.RunByLabel(ctx, userID, id)
	}
	switch {
	case errors.Is(err, agent.ErrNotFound):
		return agent.Run{}, fault.New(fault.NotFound, "there is no run %q", text.Clip(id, 80))
	case errors.Is(err, agent.ErrAmbiguous):
		return agent.Run{}, fault.New(fault.Conflict, "several runs have the label %q: use the id from X-Run-Id", text.Clip(id, 80))
	case err != nil:
		return agent.Run{}, fmt.Errorf("load run: %w", err)
	}
	return r, nil
}
