package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

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
