package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

// toTell adds the outcomes of ended tasks to a journal, as hints, and gives the tasks and the events that tell of them in
// the step: a hint each, and the end of each task of another run. This run's own have theirs already.
func (s *Service) toTell(j *agent.Journal) (told []string, news []agent.Event) {
	now := s.deps.Now()
	for _, t := range j.Untold {
		hint := agent.MessageData{MessageID: "told-" + t.ID, Text: hintOf(t)}
		told = append(told, t.ID)
		j.Messages = append(j.Messages, agent.Message{ID: hint.MessageID, RunID: j.Run.ID, Role: agent.Hint, Text: hint.Text, CreatedAt: now})
		if t.RunID != j.Run.ID {
			news = append(news, agent.NewEvent(agent.TaskEnded, t.Data(), now))
		}
		news = append(news, agent.NewEvent(agent.HintGiven, hint, now))
	}
	j.Untold = nil
	return told, news
}

// hintOf says how a task ended, in the words that the model reads. JSON keeps what a capability gave from looking like
// the end of a hint.
func hintOf(t agent.Task) string {
	result := t.Result
	if len(result) > ResultLimit {
		result, _ = json.Marshal(cutResult(agent.Message{ID: t.InvocationID, Role: agent.Tool, Text: string(result)}, ResultLimit).Text)
	}
	body, err := json.Marshal(struct {
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
	}{t.Args, result})
	if err != nil { // a capability gave something that is no JSON
		body, _ = json.Marshal(map[string]string{"result": string(result)})
	}
	return "task " + t.ID + ": " + t.Capability + " " + ending(t.Status) + ": " + string(body)
}

func ending(s capability.Status) string {
	switch s {
	case capability.Succeeded:
		return "finished"
	case capability.Cancelled:
		return "was cancelled"
	case capability.Indeterminate:
		return "ended, and it is not known whether it happened"
	}
	return "failed"
}

// tell has a conversation told of its ended tasks. A run of it that is open tells of them in its next round, or has this
// asked again by its end; otherwise a run begins that does. It may be called at any time, by anybody.
func (s *Service) tell(ctx context.Context, userID, threadID string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	untold, err := s.deps.Store.Untold(ctx, userID, threadID)
	if err != nil {
		flow.Log(ctx).Error().Err(err).Msg("ended tasks not looked for")
	}
	if len(untold) == 0 {
		return
	}
	id := s.deps.NewID("run")
	telling := agent.Run{
		ID: id, ClientRunID: id, UserID: userID, ThreadID: threadID, TraceID: untold[0].TraceID, Origin: agent.ByTask, CreatedAt: s.deps.Now(),
	}
	if err = s.likeTheirs(ctx, &telling, untold); err == nil {
		err = s.deps.Store.CreateTelling(ctx, telling)
	}
	switch {
	case errors.Is(err, agent.ErrBusy) || errors.Is(err, agent.ErrStale):
	case err != nil: // looked for again with the next heartbeat
		flow.Log(ctx).Error().Err(err).Msg("ended tasks not told yet")
	default:
		s.active.schedule(id)
	}
}

// likeTheirs gives a run that tells of tasks the mode of the runs that they are from, the strictest of them: what may
// only read, or is unattended, is so to the end.
func (s *Service) likeTheirs(ctx context.Context, telling *agent.Run, tasks []agent.Task) error {
	for _, t := range tasks {
		r, err := s.deps.Store.Run(ctx, t.UserID, t.RunID)
		switch {
		case errors.Is(err, agent.ErrNotFound): // pruned
			continue
		case err != nil:
			return fmt.Errorf("load the run of task %s: %w", t.ID, err)
		}
		telling.Mode, telling.Modern = capability.Stricter(telling.Mode, r.Mode), r.Modern
	}
	return nil
}

// tellAll has all conversations told of what nobody has told them: a process ended between an outcome and the telling.
func (s *Service) tellAll(ctx context.Context) {
	read, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	talks, err := s.deps.Store.UntoldTalks(read)
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("untold tasks not looked for")
	}
	for _, t := range talks {
		s.tell(ctx, t.UserID, t.ThreadID)
	}
}
