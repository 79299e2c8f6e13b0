package a2a

import (
	"context"
	"encoding/json"
	"iter"
	"mime"
	"net/http"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
)

// cancelLimit is how long a client tries to cancel a task that nobody waits for any more.
const cancelLimit = 5 * time.Second

// Call sends a message and waits until the task ends or asks for something. A task that failed is a *fault.Error. When the
// context ends first, the task is cancelled in the background. It is the streaming call of the protocol, because the first
// event names the task to cancel; all our agents stream, and one whose card says otherwise is not supported.
func (c *Client) Call(ctx context.Context, req Request) (Outcome, error) {
	return c.Stream(ctx, req, nil)
}

// Stream is Call, and onUpdate, which may be nil, gets what the agent says on the way.
func (c *Client) Stream(ctx context.Context, req Request, onUpdate func(Update)) (Outcome, error) {
	ctx, msg, err := c.message(ctx, req)
	if err != nil {
		return Outcome{}, err
	}
	type end struct {
		outcome Outcome
		err     error
	}
	updates, ended := make(chan Update), make(chan end, 1)
	request, stop := context.WithCancel(context.WithoutCancel(ctx))
	started := c.spawn(func() {
		defer stop()
		out, err := c.follow(ctx, request, stop, msg, updates)
		ended <- end{out, err}
	})
	if !started {
		stop()
		return Outcome{}, fault.New(fault.Unavailable, "the client is closed")
	}
	for {
		select {
		case u := <-updates:
			if onUpdate != nil {
				onUpdate(u)
			}
		case e := <-ended:
			return e.outcome, e.err
		case <-ctx.Done():
			time.AfterFunc(cancelLimit, stop) // the task may not have a name yet
			return Outcome{}, unreachable(ctx, ctx.Err())
		}
	}
}

// spawn runs a function that Close waits for. It refuses once the client is closed.
func (c *Client) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Go(run)
	}
	return !c.closed
}

// follow reads a task's events to its end. The request has a context of its own, which stop ends: it outlives the caller's
// until the first event has named the task, so that the task can be cancelled.
func (c *Client) follow(ctx, request context.Context, stop func(), msg *wire.Message, updates chan<- Update) (Outcome, error) {
	p := progress{task: answerTask{ID: string(msg.TaskID)}}
	named := false
	for e, err := range c.events(request, msg) {
		if err != nil && ctx.Err() != nil {
			c.cancel(ctx, p.task.ID)
			return Outcome{}, unreachable(ctx, err)
		}
		if err != nil {
			return Outcome{}, err
		}
		p.add(e)
		if p.done() {
			return p.outcome()
		}
		if !named {
			named = true
			defer context.AfterFunc(ctx, stop)()
		}
		if e.StatusUpdate != nil {
			select {
			case updates <- Update{State: e.StatusUpdate.Status.State, Text: e.StatusUpdate.Status.Message.text()}:
			case <-ctx.Done():
			}
		}
	}
	return Outcome{}, fault.New(fault.Unavailable, "the agent's stream was cut")
}

// events sends a message and gives what the agent streams. An error is the last of it.
func (c *Client) events(ctx context.Context, msg *wire.Message) iter.Seq2[streamResponse, error] {
	return func(yield func(streamResponse, error) bool) {
		resp, err := c.post(ctx, methodStream, "text/event-stream, application/json", wire.SendMessageRequest{Message: msg})
		if err != nil {
			yield(streamResponse{}, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
			if _, err = readAnswer(ctx, resp); err == nil {
				err = fault.New(fault.Unavailable, "the agent did not open a stream")
			}
			yield(streamResponse{}, err)
			return
		}
		for event, err := range sse.Read(resp.Body) {
			var e streamResponse
			if err != nil {
				err = unreachable(ctx, err)
			} else {
				e, err = readEvent(event)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func readEvent(event sse.Event) (streamResponse, error) {
	var e streamResponse
	raw, err := openEnvelope([]byte(event.Data))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fault.Wrap(err, fault.Unavailable, "the agent's stream is not readable")
	}
	return e, nil
}

// cancel cancels a task that nobody waits for any more, as far as its name is known.
func (c *Client) cancel(ctx context.Context, taskID string) {
	if taskID == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer stop()
	resp, err := c.post(ctx, methodCancel, "application/json", wire.CancelTaskRequest{ID: wire.TaskID(taskID)})
	if err == nil {
		_, err = readAnswer(ctx, resp)
		_ = resp.Body.Close()
	}
	if err != nil {
		flow.Log(ctx).Debug().Err(err).Msg("a2a task not cancelled")
	}
}
