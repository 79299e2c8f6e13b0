package a2a

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
)

// engine runs an Executor behind the SDK's request handler. The rest of the package knows it as a RequestHandler only, so
// that another engine can take its place.
type engine struct {
	a2asrv.RequestHandler
	executor Executor
	table    *taskTable
	now      func() time.Time

	mu      sync.Mutex
	running map[int]context.CancelCauseFunc
	last    int
	closed  bool
	work    sync.WaitGroup
}

func newEngine(executor Executor, now func() time.Time) *engine {
	gob.Register(json.RawMessage{}) // the SDK copies tasks through gob; our data parts are raw JSON
	e := &engine{executor: executor, table: newTaskTable(), now: now, running: map[int]context.CancelCauseFunc{}}
	e.RequestHandler = a2asrv.NewHandler(e,
		a2asrv.WithTaskStore(e.table),
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithExecutionPanicHandler(func(any) error { return wire.ErrInternalError }),
	)
	return e
}

// SendMessage refuses what a task cannot take and leaves the rest to the SDK.
func (e *engine) SendMessage(ctx context.Context, req *wire.SendMessageRequest) (wire.SendMessageResult, error) {
	if err := e.admit(ctx, req.Message); err != nil {
		return nil, err
	}
	return e.RequestHandler.SendMessage(ctx, req)
}

// SendStreamingMessage refuses what a task cannot take and leaves the rest to the SDK.
func (e *engine) SendStreamingMessage(ctx context.Context, req *wire.SendMessageRequest) iter.Seq2[wire.Event, error] {
	if err := e.admit(ctx, req.Message); err != nil {
		return func(yield func(wire.Event, error) bool) { yield(nil, err) }
	}
	return e.RequestHandler.SendStreamingMessage(ctx, req)
}

// SubscribeToTask tells an unknown task from an ended or a waiting one, which the SDK does not. Of a task that waits for its
// caller there is nothing to tell but that: its stream ends where every stream of such a task does.
func (e *engine) SubscribeToTask(ctx context.Context, req *wire.SubscribeToTaskRequest) iter.Seq2[wire.Event, error] {
	stored, err := e.table.Get(ctx, req.ID)
	switch {
	case err != nil:
	case stored.Task.Status.State.Terminal():
		err = wire.ErrUnsupportedOperation
	case State(stored.Task.Status.State).interrupted():
		return func(yield func(wire.Event, error) bool) { yield(stored.Task, nil) }
	default:
		return e.RequestHandler.SubscribeToTask(ctx, req)
	}
	return func(yield func(wire.Event, error) bool) { yield(nil, err) }
}

// admit holds sections 3.1.1 and 3.4: a message names a task that exists, waits and belongs to its context, or none.
func (e *engine) admit(ctx context.Context, msg *wire.Message) error {
	e.mu.Lock()
	closed := e.closed
	e.mu.Unlock()
	if closed {
		return fault.New(fault.Unavailable, "the agent is stopping")
	}
	if msg.TaskID == "" {
		return nil
	}
	stored, err := e.table.Get(ctx, msg.TaskID)
	if err != nil {
		return err
	}
	if msg.ContextID != "" && msg.ContextID != stored.Task.ContextID {
		return fault.New(fault.Invalid, "the task belongs to another context")
	}
	if !State(stored.Task.Status.State).interrupted() {
		return wire.ErrUnsupportedOperation
	}
	return nil
}

// Execute implements a2asrv.AgentExecutor.
func (e *engine) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		ctx, leave, ok := e.enter(ctx)
		if !ok {
			yield(nil, fault.New(fault.Unavailable, "the agent is stopping"))
			return
		}
		defer leave()
		if !yield(e.begin(call), nil) || !yield(e.status(call, wire.TaskStateWorking), nil) {
			return
		}
		ids := flow.From(ctx)
		ids.ContextID = call.ContextID
		ctx = flow.With(ctx, ids)
		gone := false // after a false, yield must not be called again
		emit := func(u Update) error {
			gone = gone || !yield(e.status(call, wire.TaskStateWorking, wire.NewTextPart(u.Text)), nil)
			if gone {
				return context.Canceled
			}
			return nil
		}
		result, err := e.run(ctx, requestOf(call), emit)
		if err != nil {
			span.Fail(ctx, string(fault.CodeOf(err)))
		}
		if gone {
			return
		}
		for _, event := range e.ending(ctx, call, result, err) {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// begin gives the first event of a turn, which is the task (section 3.1.2), of a later turn too. The question that is
// answered goes before its answer in the history; the SDK alone would put it behind.
func (e *engine) begin(call *a2asrv.ExecutorContext) *wire.Task {
	if call.StoredTask == nil {
		task := wire.NewSubmittedTask(call, call.Message)
		task.Status.Timestamp = e.stamp()
		return task
	}
	task := copyTask(call.StoredTask)
	if question := task.Status.Message; question != nil {
		at := len(task.History)
		if at > 0 && task.History[at-1].ID == call.Message.ID {
			at--
		}
		task.History = slices.Insert(task.History, at, question)
	}
	task.Status = e.status(call, wire.TaskStateWorking).Status
	return task
}

// Cancel implements a2asrv.AgentExecutor. The SDK ends the executor's context once the state is stored.
func (e *engine) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) { yield(e.status(call, wire.TaskStateCanceled), nil) }
}

// run calls the executor; a panic is an internal fault and nothing more.
func (e *engine) run(ctx context.Context, req Request, emit func(Update) error) (result Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("executor panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return e.executor.Execute(ctx, req, emit)
}

// enter counts a run in and gives it a context that close can end.
func (e *engine) enter(ctx context.Context) (context.Context, func(), bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e.last++
	key := e.last
	e.running[key] = cancel
	e.work.Add(1)
	return ctx, func() {
		e.mu.Lock()
		delete(e.running, key)
		e.mu.Unlock()
		cancel(nil)
		e.work.Done()
	}, true
}

// close ends what runs and waits for it.
func (e *engine) close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	for _, cancel := range e.running {
		cancel(fault.New(fault.Unavailable, "the agent is stopping"))
	}
	e.mu.Unlock()
	done := make(chan struct{})
	go func() { e.work.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop agent: %w", context.Cause(ctx))
	}
}
