package a2a

import (
	"context"
	"encoding/json"
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

// Stream sends a message and follows the task until it ends or asks for something; onUpdate, which may be nil, gets what the
// agent says on the way. Errors and the end of the context are as with Call.
func (c *Client) Stream(ctx context.Context, req Request, onUpdate func(Update)) (Outcome, error) {
	ctx, msg, err := c.message(ctx, req)
	if err != nil {
		return Outcome{}, err
	}
	var p progress
	err = c.follow(ctx, msg, &p, onUpdate)
	if err != nil {
		if ctx.Err() != nil {
			c.abandon(ctx, msg, p.task.ID)
			return Outcome{}, unreachable(ctx, err)
		}
		return Outcome{}, err
	}
	return p.outcome()
}

func (c *Client) follow(ctx context.Context, msg *wire.Message, p *progress, onUpdate func(Update)) error {
	resp, err := c.post(ctx, methodStream, "text/event-stream, application/json", wire.SendMessageRequest{Message: msg})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		if _, err := readAnswer(ctx, resp); err != nil {
			return err
		}
		return fault.New(fault.Unavailable, "the agent did not open a stream")
	}
	for event, err := range sse.Read(resp.Body) {
		if err != nil {
			return unreachable(ctx, err)
		}
		raw, err := openEnvelope([]byte(event.Data))
		if err != nil {
			return err
		}
		var e streamResponse
		if err := json.Unmarshal(raw, &e); err != nil {
			return fault.Wrap(err, fault.Unavailable, "the agent's stream is not readable")
		}
		p.add(e)
		if p.done() {
			return nil
		}
		if e.StatusUpdate != nil && onUpdate != nil {
			onUpdate(Update{State: e.StatusUpdate.Status.State, Text: e.StatusUpdate.Status.Message.text()})
		}
	}
	return fault.New(fault.Unavailable, "the agent's stream was cut")
}

// abandon cancels the task of a message in the background; Close waits for it. A blocking call that got no answer doesn't
// know its task, which is then looked up by context and message.
func (c *Client) abandon(ctx context.Context, msg *wire.Message, taskID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	c.background.Go(func() {
		defer cancel()
		if taskID == "" {
			taskID = string(msg.TaskID)
		}
		if taskID == "" {
			taskID = c.find(ctx, msg)
		}
		if taskID == "" {
			return
		}
		var task answerTask
		if err := c.call(ctx, methodCancel, wire.CancelTaskRequest{ID: wire.TaskID(taskID)}, &task); err != nil {
			flow.Log(ctx).Debug().Err(err).Msg("a2a task not cancelled")
		}
	})
}

// find looks for the unfinished task of a message. The agent may still be about to make it, so it asks a few times.
func (c *Client) find(ctx context.Context, msg *wire.Message) string {
	for pause := 20 * time.Millisecond; ; pause *= 2 {
		var list struct{ Tasks []answerTask }
		if err := c.call(ctx, methodTasks, wire.ListTasksRequest{ContextID: msg.ContextID, PageSize: 100}, &list); err != nil {
			flow.Log(ctx).Debug().Err(err).Msg("a2a tasks not listed")
			return ""
		}
		for _, task := range list.Tasks {
			for _, m := range task.History {
				if m.MessageID != msg.ID {
					continue
				}
				if task.Status.State.Terminal() {
					return ""
				}
				return task.ID
			}
		}
		if pause > time.Second {
			return ""
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ""
		}
	}
}
