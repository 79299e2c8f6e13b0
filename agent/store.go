package agent

import (
	"context"
	"errors"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// Sentinels that callers of a store branch on.
var (
	// ErrNotFound says that there is no such row, or none of this user's.
	ErrNotFound = errors.New("not found")
	// ErrStale says that the run is no longer in a state in which the step may be written.
	ErrStale = errors.New("the run has moved on")
	// ErrBusy says that another run of the conversation is active.
	ErrBusy = errors.New("another run of the conversation is active")
	// ErrConfirmationOpen says that a question of the conversation is open.
	ErrConfirmationOpen = errors.New("a confirmation of the conversation is open")
	// ErrNothingSaid says that an input has neither a message nor an answer that anything waits for.
	ErrNothingSaid = errors.New("nothing is said, and nothing is answered")
	// ErrMessageExists says that a message's id is taken.
	ErrMessageExists = errors.New("the message id is taken")
	// ErrEventsGone says that the events of a run were pruned.
	ErrEventsGone error = fault.New(fault.Gone, "the events of this run are no longer kept; its messages and orders are")
	// ErrAmbiguous says that a client's label names several runs.
	ErrAmbiguous = errors.New("the label is not unique")
)

// SameInputError says that an input is one that a run exists of already.
type SameInputError struct{ RunID string }

func (e *SameInputError) Error() string { return "run " + e.RunID + " is of this input" }

// Journal is what a run resumes from: its row, what was said, what was called, and what was asked.
type Journal struct {
	Run           Run
	Messages      []Message // the user's input and each finished model answer, in order
	Invocations   []Invocation
	Confirmations []Confirmation
	Untold        []Task // ended tasks of the conversation of which no run has told yet
	Tellings      int    // how many runs that only tell of tasks there are, up to this one, since somebody said something
}

// Step is what one step of a run writes, in one transaction: nothing of it, or all.
type Step struct {
	RunID string
	From  []Status // the run must be in one of these
	To    Status   // may equal the state it is in; Keep leaves it
	Epoch int64    // when not 0, the claim under which the step was taken; it is refused when there was another one since
	Lease *Lease   // with the step that begins a run: its first claim
	Head  int64    // when not 0, the run's last event must still have this number: the step holds for that journal only

	Finish       FinishReason // with a final To
	ErrorCode    string
	ErrorMessage string
	Model        string
	Usage        Usage         // added to the run's
	Active       time.Duration // added to the run's working time
	Skills       []string      // with a Lease
	Tools        []string      // with a Lease
	At           time.Time

	Events        []Event        // the messages that they tell of are written with them (Transcript)
	Invocations   []Invocation   // inserted, or advanced while not final
	Confirmations []Confirmation // opened
	Closed        []Confirmation // closed because the run ended, if they are still open
	Grants        []Grant        // made with a decision
	ModelCalls    []ModelCall
	Summaries     []Summary
	Records       []capability.Record
	Changes       []capability.Change
	Tasks         []Task // begun: calls that go on in the background, under TaskLease
	TaskLease     Lease
	Told          []string // ids of ended tasks that the step's hints tell of; it is refused if another has told of one
}

// Lease is a process's right to work on a run or a task: nobody else may claim it before Until. Epoch counts the claims
// of it; it goes with every step, so that a process that was frozen for longer than its lease writes nothing
// when it wakes up (design, section 11).
type Lease struct {
	ID    string // of the run or task
	Owner string
	Epoch int64
	Until time.Time
}

// RunStore keeps runs. Every change is a compare-and-set that writes what goes with it in the same
// transaction.
type RunStore interface {
	TaskStore
	// CreateRun stores conversation, user message and PENDING run together. A *SameInputError: a run has this
	// InputKey already, whatever else there is. ErrConfirmationOpen: a question
	// of the conversation is open. ErrMessageExists: a message has this id already. Answered are calls of ended runs
	// whose results come with it; ErrStale: one has its result already. ErrNothingSaid: neither a message, which has
	// an id, nor an answer.
	CreateRun(ctx context.Context, r Run, title string, input Message, answered ...Answered) error
	// Answer stores the result of a call that somebody else made. If its run is open, the event goes into that;
	// otherwise, when no other call of it waits outside, next is stored as a PENDING run, which began tells. ErrStale:
	// the call has its result.
	Answer(ctx context.Context, a Answered, next Run) (began bool, err error)
	// Waiting lists the calls of ended runs of a conversation that wait for somebody outside, oldest first.
	Waiting(ctx context.Context, userID, threadID string) ([]Invocation, error)
	// AnsweredFor lists the calls that were answered with the input of a run.
	AnsweredFor(ctx context.Context, runID string) ([]Invocation, error)
	// Append writes a step. ErrStale: the run is in none of the states of From, its last event is not Head, another
	// has claimed it, or it would succeed and was cancelled. ErrBusy: the step would make a second active run in the
	// conversation.
	Append(ctx context.Context, s Step) error
	// Decide closes a question and writes the step, if the question was open. A run that has no other
	// open question then goes from AWAITING_CONFIRMATION to RUNNING in the same transaction. It gives the
	// question as it now stands, and whether this call closed it. ErrNotFound: no such question. ErrStale:
	// the step cannot be written any more, and the question is as it was.
	Decide(ctx context.Context, confirmationID string, d Decision, s Step) (c Confirmation, won bool, err error)
	// RequestCancel records the wish, once, while the run is open; it tells whether the run is open.
	RequestCancel(ctx context.Context, runID string, why FinishReason) (open bool, err error)

	// Claim takes a run that is RUNNING or AWAITING_CONFIRMATION for a process until a time. ErrStale: it is
	// neither, or another's lease holds.
	Claim(ctx context.Context, runID, owner string, now, until time.Time) (Lease, error)
	// Renew prolongs leases. It tells which are lost, since another has claimed the run or it has ended, and which
	// runs somebody wants cancelled.
	Renew(ctx context.Context, leases []Lease, until time.Time) (lost, cancelled []string, err error)
	// Release gives a lease up, if it still holds.
	Release(ctx context.Context, l Lease) error
	// ReleaseDead drops the leases of processes that cannot live any more, where that is known.
	ReleaseDead(ctx context.Context) error
	// Orphans lists the runs that nobody works on: RUNNING without a lease that holds now,
	// AWAITING_CONFIRMATION without one though a call can go on or the run was cancelled, and PENDING since before a
	// time though it is their turn.
	Orphans(ctx context.Context, now, since time.Time) ([]string, error)

	Journal(ctx context.Context, runID string) (Journal, error)
	Run(ctx context.Context, userID, runID string) (Run, error)
	// RunByLabel finds a run by the client's label. ErrAmbiguous: several runs have it.
	RunByLabel(ctx context.Context, userID, clientRunID string) (Run, error)
	// Runs lists a user's runs, newest first; of one conversation when threadID is not empty.
	Runs(ctx context.Context, userID, threadID string, p Page) (list []Run, next string, err error)
	// PendingRuns lists the ids of a conversation's PENDING runs, oldest first.
	PendingRuns(ctx context.Context, userID, threadID string) ([]string, error)
	// OpenRuns lists all users' runs that have not ended, oldest first.
	OpenRuns(ctx context.Context) ([]Run, error)
	// Events lists a run's events after a number. ErrNotFound: there is no such run (any more).
	// ErrEventsGone: they were pruned.
	Events(ctx context.Context, runID string, after int64) ([]Event, error)
	ModelCalls(ctx context.Context, runID string) ([]ModelCall, error)

	// History lists a conversation's messages, oldest first, tool results in their places; only those of
	// successful runs when onlySuccessful is set.
	History(ctx context.Context, userID, threadID string, onlySuccessful bool, limit int) ([]Message, error)

	// Past gives what a prompt of a conversation is made from, at most limit messages of it. The run that is named by
	// continues, and those that it goes on from, are among them also where a summary covers them.
	Past(ctx context.Context, userID, threadID, continues string, limit int) (Past, error)
	// ResultOf gives the result of a call of a conversation, in the words that a prompt has of it: by the id of the
	// invocation or of the client's answer, or by the newest call with the model's id for it. ErrNotFound: the conversation has no such result.
	ResultOf(ctx context.Context, userID, threadID, id string) ([]byte, error)

	// Confirmation gives one question. ErrNotFound: no such question, or not this user's.
	Confirmation(ctx context.Context, userID, id string) (Confirmation, error)
	// OpenConfirmations lists a user's open questions, oldest first; all users' when userID is empty.
	OpenConfirmations(ctx context.Context, userID string) ([]Confirmation, error)
}
