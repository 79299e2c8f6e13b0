package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// Translator turns one run's log into AG-UI events. It keeps the order rules of the protocol whatever
// the log holds: after a crash, a message or a step that was never ended is ended before the next.
type Translator struct {
	run      agent.Run
	now      func() time.Time
	started  bool
	message  string // the open text message
	step     string // the open step
	finished bool
}

// NewTranslator makes a translator for a run's stream.
func NewTranslator(r agent.Run, now func() time.Time) *Translator {
	return &Translator{run: r, now: now}
}

// Text translates a piece of text. An empty piece is left out: older clients throw on it.
func (t *Translator) Text(messageID, delta string) []Event {
	if t.finished || messageID == "" || delta == "" {
		return nil
	}
	out := append(t.start(time.Time{}), t.openMessage(messageID, time.Time{})...)
	return append(out, t.stamp(Event{Type: TextMessageContent, MessageID: messageID, Delta: delta}, time.Time{}))
}

// Spoken tells the translator that its client has seen the first pieces of the message for which a model was
// called: the stream goes on in the middle of it.
func (t *Translator) Spoken(called agent.Event) error {
	if called.Type != agent.ModelCalled {
		return nil // a place that there is not: nothing is in the middle
	}
	var d agent.ModelData
	if err := json.Unmarshal(called.Data, &d); err != nil {
		return fmt.Errorf("translate event %d (%s): %w", called.Seq, called.Type, err)
	}
	t.message = d.MessageID
	return nil
}

// Event translates one event of the log. After the run's end nothing more comes.
func (t *Translator) Event(e agent.Event) ([]Event, error) {
	if t.finished {
		return nil, nil
	}
	out, err := t.translate(e)
	if err != nil {
		return nil, fmt.Errorf("translate event %d (%s): %w", e.Seq, e.Type, err)
	}
	if len(out) > 0 {
		out = append(t.start(e.At), out...)
	}
	return out, nil
}

func (t *Translator) translate(e agent.Event) ([]Event, error) {
	switch e.Type {
	case agent.RunStarted:
		return t.start(e.At), nil
	case agent.SkillsRouted:
		return []Event{t.stamp(Event{Type: Custom, Name: SkillsRouted, Value: e.Data}, e.At)}, nil
	case agent.ContextCompressed:
		return []Event{t.stamp(Event{Type: Custom, Name: ContextCompressed, Value: e.Data}, e.At)}, nil
	case agent.ModelCalled, agent.ModelAnswered:
		return t.model(e)
	case agent.MessageEnded:
		return t.messageEnded(e)
	case agent.TaskEnded:
		return []Event{t.stamp(Event{Type: Custom, Name: TaskEnded, Value: e.Data}, e.At)}, nil
	case agent.CallProposed, agent.CallEnded, agent.CallOffloaded:
		return t.call(e)
	case agent.ConfirmationRequired, agent.ConfirmationResolved:
		return t.question(e)
	case agent.RunEnded:
		return t.end(e)
	}
	return nil, nil // unknown kinds are skipped: an older program may read a newer log
}

func (t *Translator) model(e agent.Event) ([]Event, error) {
	var d agent.ModelData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	out := append(t.closeMessage(e.At), t.closeStep(e.At)...)
	if e.Type == agent.ModelAnswered {
		return out, nil
	}
	t.step = fmt.Sprintf("model-%d", d.Round)
	return append(out, t.stamp(Event{Type: StepStarted, StepName: t.step}, e.At)), nil
}

func (t *Translator) messageEnded(e agent.Event) ([]Event, error) {
	var d agent.MessageData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	out := t.closeMessage(e.At)
	if d.Abandoned && len(out) > 0 { // so that a page can show that this text was never finished
		out[len(out)-1] = t.with(out[len(out)-1], e.At, map[string]any{"abandoned": true})
	}
	return out, nil
}

func (t *Translator) openMessage(id string, at time.Time) []Event {
	if t.message == id {
		return nil
	}
	out := t.closeMessage(at)
	t.message = id
	return append(out, t.stamp(Event{Type: TextMessageStart, MessageID: id, Role: "assistant"}, at))
}

func (t *Translator) closeMessage(at time.Time) []Event {
	if t.message == "" {
		return nil
	}
	id := t.message
	t.message = ""
	return []Event{t.stamp(Event{Type: TextMessageEnd, MessageID: id}, at)}
}

func (t *Translator) closeStep(at time.Time) []Event {
	if t.step == "" {
		return nil
	}
	name := t.step
	t.step = ""
	return []Event{t.stamp(Event{Type: StepFinished, StepName: name}, at)}
}

func (t *Translator) call(e agent.Event) ([]Event, error) {
	var d agent.CallData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	about := map[string]any{"kind": d.Kind, "invocationId": d.InvocationID}
	if e.Type != agent.CallProposed {
		about["status"], about["durationMs"], about["stage"] = d.Status, d.DurationMS, d.Stage
		if d.TaskID != "" {
			about["taskId"] = d.TaskID
		}
		if len(d.EditedArgs) > 0 {
			about["editedArgs"] = d.EditedArgs
		}
		return []Event{t.with(Event{
			Type: ToolCallResult, MessageID: d.InvocationID, ToolCallID: d.CallID, Content: cmp.Or(string(d.Result), "{}"), Role: "tool",
		}, e.At, about)}, nil
	}
	out := []Event{t.with(Event{Type: ToolCallStart, ToolCallID: d.CallID, ToolCallName: d.Name, ParentMessageID: d.MessageID}, e.At, about)}
	if len(d.Args) > 0 {
		out = append(out, t.stamp(Event{Type: ToolCallArgs, ToolCallID: d.CallID, Delta: string(d.Args)}, e.At))
	}
	return append(out, t.stamp(Event{Type: ToolCallEnd, ToolCallID: d.CallID}, e.At)), nil
}

func (t *Translator) question(e agent.Event) ([]Event, error) {
	if e.Type == agent.ConfirmationRequired {
		value, err := t.Question(e.Data)
		if err != nil {
			return nil, err
		}
		return []Event{t.stamp(Event{Type: Custom, Name: ConfirmationRequired, Value: value}, e.At)}, nil
	}
	return []Event{t.stamp(Event{Type: Custom, Name: ConfirmationResolved, Value: e.Data}, e.At)}, nil
}

// Question adds to a confirmation's JSON how many seconds are left, so that a client's clock does not
// matter.
func (t *Translator) Question(raw json.RawMessage) (json.RawMessage, error) {
	var c agent.Confirmation
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	c.Kind = cmp.Or(c.Kind, agent.AskConfirm) // an older program wrote none
	left := min(c.Deadline.Sub(t.now()), c.Deadline.Sub(c.CreatedAt))
	return json.Marshal(struct {
		agent.Confirmation
		TTL int64 `json:"ttlSeconds"`
	}{c, max(0, int64(left.Round(time.Second)/time.Second))})
}

func (t *Translator) end(e agent.Event) ([]Event, error) {
	var d agent.EndData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	out := append(t.closeMessage(e.At), t.closeStep(e.At)...)
	usage := usageOf(d)
	last := Event{Type: RunFinished, ThreadID: t.run.ThreadID, RunID: t.run.ClientRunID, Usage: usage}
	switch {
	case d.Status == agent.Cancelled.String() && t.run.Modern:
		last.Outcome = &Outcome{Type: "cancelled"}
	case d.Status == agent.Cancelled.String():
		last = Event{Type: RunError, Message: "the run was cancelled", Code: "cancelled", Usage: usage}
	case d.Status == agent.Failed.String():
		last = Event{Type: RunError, Message: cmp.Or(d.Message, "the run failed"), Code: d.Code, Usage: usage}
	}
	t.finished = true
	return append(out, t.with(last, e.At, map[string]any{"finishReason": d.Reason})), nil
}

// usageOf gives the run's counts; what no endpoint reported is left out rather than said to be 0.
func usageOf(d agent.EndData) []Usage {
	if d.Usage == (agent.Usage{}) {
		return nil
	}
	return []Usage{{
		Model: d.Model, InputTokens: d.Usage.Input, OutputTokens: d.Usage.Output, TotalTokens: d.Usage.Input + d.Usage.Output,
	}}
}

// start gives RUN_STARTED if the stream has none yet: every stream must begin with it.
func (t *Translator) start(at time.Time) []Event {
	if t.started {
		return nil
	}
	t.started = true
	e := Event{Type: RunStarted, ThreadID: t.run.ThreadID, RunID: t.run.ClientRunID}
	if t.run.Modern {
		e.ProtocolVersion = ProtocolVersion
	}
	return []Event{t.stamp(e, at)}
}

// Start begins a stream that shows no run.
func (t *Translator) Start() []Event { return t.start(t.now()) }

// Restart begins a stream under another label in the middle of a run, as a resume does.
func (t *Translator) Restart() []Event {
	t.started, t.finished = false, false
	return t.start(t.now())
}

// Finished ends a stream whose run had ended before it was opened.
func (t *Translator) Finished() []Event {
	now := t.now()
	t.finished = true
	return append(t.start(now), t.stamp(Event{Type: RunFinished, ThreadID: t.run.ThreadID, RunID: t.run.ClientRunID}, now))
}

// Interrupted ends a stream whose run waits on, as the standard's interrupt (design, section 6). Without
// an open question there is nothing to wait for, and the stream just breaks off.
func (t *Translator) Interrupted(open []Asked) []Event {
	if t.finished || len(open) == 0 {
		return nil
	}
	now := t.now()
	out := t.start(now)
	out = append(out, t.closeMessage(now)...)
	out = append(out, t.closeStep(now)...)
	outcome := &Outcome{Type: "interrupt"}
	for _, a := range open {
		outcome.Interrupts = append(outcome.Interrupts, a.interrupt())
	}
	t.finished = true
	return append(out, t.stamp(Event{Type: RunFinished, ThreadID: t.run.ThreadID, RunID: t.run.ClientRunID, Outcome: outcome}, now))
}

// Broken ends a stream that cannot show its run any further. The run goes on; its own stream shows it again.
func (t *Translator) Broken(err error) []Event {
	if t.finished {
		return nil
	}
	now := t.now()
	t.finished = true
	message := "the stream broke, not the run (" + fault.MessageOf(err) + "); follow it again"
	return append(t.start(now), t.stamp(Event{Type: RunError, Message: message, Code: string(fault.CodeOf(err))}, now))
}

func (t *Translator) stamp(e Event, at time.Time) Event { return t.with(e, at, nil) }

// with adds our run id, the time, and what else is known of an event.
func (t *Translator) with(e Event, at time.Time, more map[string]any) Event {
	e.Timestamp = millis(at)
	about := map[string]any{"runId": t.run.ID}
	if !at.IsZero() {
		about["at"] = at.UTC().Format(time.RFC3339Nano)
	}
	for k, v := range more {
		about[k] = v
	}
	e.Metadata = map[string]any{"agentmesh": about}
	return e
}
