package a2a

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
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

// SubscribeToTask tells an unknown task from an ended one, which the SDK does not.
func (e *engine) SubscribeToTask(ctx context.Context, req *wire.SubscribeToTaskRequest) iter.Seq2[wire.Event, error] {
	stored, err := e.table.Get(ctx, req.ID)
	if err == nil && stored.Task.Status.State.Terminal() {
		err = wire.ErrUnsupportedOperation
	}
	if err != nil {
		return func(yield func(wire.Event, error) bool) { yield(nil, err) }
	}
	return e.RequestHandler.SubscribeToTask(ctx, req)
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
		if call.StoredTask == nil {
			task := wire.NewSubmittedTask(call, call.Message)
			task.Status.Timestamp = e.stamp()
			if !yield(task, nil) {
				return
			}
		}
		if !yield(e.status(call, wire.TaskStateWorking), nil) {
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

// ending turns what the executor said into the last events of the task.
func (e *engine) ending(ctx context.Context, call *a2asrv.ExecutorContext, result Result, err error) []wire.Event {
	var data json.RawMessage
	if err == nil && result.Question == "" {
		data, err = json.Marshal(result.Data)
	}
	switch {
	case err != nil:
		var cause *fault.Error // why close ended the run
		if errors.As(context.Cause(ctx), &cause) {
			err = cause
		}
		if fault.CodeOf(err) == fault.Internal {
			flow.Log(ctx).Error().Err(err).Msg("task failed")
		}
		detail, _ := json.Marshal(failureOf(err))
		return []wire.Event{e.status(call, wire.TaskStateFailed, wire.NewTextPart(fault.MessageOf(err)), dataPart(detail))}
	case result.Question != "":
		return []wire.Event{e.status(call, wire.TaskStateInputRequired, wire.NewTextPart(result.Question))}
	}
	artifact := wire.NewArtifactEvent(call, wire.NewTextPart(result.Text))
	artifact.LastChunk = true
	if artifact.Artifact.Name = result.ArtifactName; result.ArtifactName == "" {
		artifact.Artifact.Name = ArtifactResult
	}
	if result.Data != nil {
		artifact.Artifact.Parts = append(artifact.Artifact.Parts, dataPart(data))
	}
	return []wire.Event{artifact, e.status(call, wire.TaskStateCompleted)}
}

func (e *engine) status(call *a2asrv.ExecutorContext, state wire.TaskState, parts ...*wire.Part) *wire.TaskStatusUpdateEvent {
	var msg *wire.Message
	if len(parts) > 0 {
		msg = wire.NewMessageForTask(wire.MessageRoleAgent, call, parts...)
	}
	event := wire.NewStatusUpdateEvent(call, state, msg)
	event.Status.Timestamp = e.stamp()
	return event
}

// stamp gives the time as section 5.6.1 wants it: UTC, milliseconds.
func (e *engine) stamp() *time.Time {
	t := e.now().UTC().Truncate(time.Millisecond)
	return &t
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

func requestOf(call *a2asrv.ExecutorContext) Request {
	req := Request{MessageID: call.Message.ID, TaskID: string(call.TaskID), ContextID: call.ContextID, Text: textOf(call.Message)}
	for _, part := range call.Message.Parts {
		var c command
		if raw, ok := part.Data().(json.RawMessage); ok && json.Unmarshal(raw, &c) == nil && c.Skill != "" {
			req.Skill, req.Arguments = c.Skill, c.Arguments
		}
	}
	if call.StoredTask != nil {
		for _, msg := range call.StoredTask.History {
			if msg.Role == wire.MessageRoleUser && msg.ID != call.Message.ID {
				req.Earlier = append(req.Earlier, textOf(msg))
			}
		}
	}
	return req
}

func textOf(msg *wire.Message) string {
	var texts []string
	for _, part := range msg.Parts {
		if text := strings.TrimSpace(part.Text()); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func dataPart(raw json.RawMessage) *wire.Part {
	part := wire.NewDataPart(raw)
	part.MediaType = "application/json"
	return part
}
