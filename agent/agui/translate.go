package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// Translator says what the entries of a run's log mean in AG-UI. It knows nothing of a stream: what is open in one,
// and what may be sent, its Writer knows.
type Translator struct{ now func() time.Time }

// NewTranslator makes a translator.
func NewTranslator(now func() time.Time) Translator { return Translator{now} }

// Text translates a piece of text that is being said.
func (t Translator) Text(messageID, delta string) Event {
	return Event{Type: TextMessageContent, MessageID: messageID, Delta: delta}
}

// Spoken is what a client has seen that knows the first pieces of a message.
func (t Translator) Spoken(messageID string) Event {
	return Event{Type: TextMessageStart, MessageID: messageID}
}

// Event translates one event of the log. Each of what it gives happened when that did.
func (t Translator) Event(e agent.Event) ([]Event, error) {
	out, err := t.translate(e)
	if err != nil {
		return nil, fmt.Errorf("translate event %d (%s): %w", e.Seq, e.Type, err)
	}
	for i := range out {
		out[i].at = e.At
	}
	return out, nil
}

func (t Translator) translate(e agent.Event) ([]Event, error) {
	switch e.Type {
	case agent.RunStarted:
		return []Event{{Type: RunStarted}}, nil
	case agent.SkillsRouted, agent.ContextCompressed, agent.ModelRetried, agent.TaskEnded, agent.ConfirmationResolved:
		return []Event{{Type: Custom, Name: customName(e.Type), Value: e.Data}}, nil
	case agent.ConfirmationRequired:
		value, err := t.Question(e.Data)
		return []Event{{Type: Custom, Name: ConfirmationRequired, Value: value}}, err
	case agent.ModelCalled, agent.ModelAnswered:
		return modelRound(e)
	case agent.MessageEnded:
		return messageEnded(e)
	case agent.ReasoningEnded:
		return reasoningEnded(e)
	case agent.CallProposed:
		return callProposed(e)
	case agent.CallOffloaded, agent.CallEnded:
		return callEnded(e)
	case agent.RunEnded:
		return runEnded(e)
	}
	return nil, nil // unknown kinds are skipped: an older program may read a newer log
}

// customName names the CUSTOM event that passes an entry of the log on as it is.
func customName(t agent.EventType) string {
	switch t {
	case agent.SkillsRouted:
		return SkillsRouted
	case agent.ContextCompressed:
		return ContextCompressed
	case agent.TaskEnded:
		return TaskEnded
	case agent.ModelRetried:
		return ModelRetry
	}
	return ConfirmationResolved
}

func modelRound(e agent.Event) ([]Event, error) {
	var d agent.ModelData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	out := Event{Type: StepStarted, StepName: fmt.Sprintf("model-%d", d.Round)}
	if e.Type == agent.ModelAnswered {
		out.Type = StepFinished
	}
	return []Event{out}, nil
}

// reasoningSuffix makes the id of what a model thought of that of the message that it became.
const reasoningSuffix = "-reasoning"

// reasoningEnded shows what a model thought before it answered, as a message of its own and never as text.
func reasoningEnded(e agent.Event) ([]Event, error) {
	var d agent.MessageData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	id := d.MessageID + reasoningSuffix
	return []Event{{Type: ReasoningMessageContent, MessageID: id, Delta: d.Text}, {Type: ReasoningEnd, MessageID: id}}, nil
}

func messageEnded(e agent.Event) ([]Event, error) {
	var d agent.MessageData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	end := Event{Type: TextMessageEnd, MessageID: d.MessageID}
	if d.Abandoned { // so that a page can show that this text was never finished
		end.about = map[string]any{"abandoned": true}
	}
	return []Event{end}, nil
}

func aboutCall(d agent.CallData) map[string]any {
	return map[string]any{"kind": d.Kind, "invocationId": d.InvocationID}
}

func callProposed(e agent.Event) ([]Event, error) {
	var d agent.CallData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	return []Event{
		{Type: ToolCallStart, ToolCallID: d.CallID, ToolCallName: d.Name, ParentMessageID: d.MessageID, about: aboutCall(d)},
		{Type: ToolCallArgs, ToolCallID: d.CallID, Delta: string(d.Args)},
		{Type: ToolCallEnd, ToolCallID: d.CallID},
	}, nil
}

func callEnded(e agent.Event) ([]Event, error) {
	var d agent.CallData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	if d.Kind == string(capability.Client) && d.Stage == string(capability.StageAnswer) {
		return nil, nil // the client has said so itself
	}
	about := aboutCall(d)
	about["status"], about["durationMs"], about["stage"] = d.Status, d.DurationMS, d.Stage
	if d.TaskID != "" {
		about["taskId"] = d.TaskID
	}
	if len(d.EditedArgs) > 0 {
		about["editedArgs"] = d.EditedArgs
	}
	return []Event{{Type: ToolCallResult, MessageID: d.InvocationID, ToolCallID: d.CallID, Content: agent.AnswerWords(capability.Stage(d.Stage), d.Result), about: about}}, nil
}

// Question adds to a confirmation's JSON how many seconds are left, so that a client's clock does not
// matter.
func (t Translator) Question(raw json.RawMessage) (json.RawMessage, error) {
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

func runEnded(e agent.Event) ([]Event, error) {
	var d agent.EndData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	last := Event{Type: RunFinished, Usage: usageOf(d), about: map[string]any{"finishReason": d.Reason}}
	if len(d.Pending) > 0 {
		last.Outcome = &Outcome{Type: outcomeSuccess, PendingToolCallIDs: d.Pending}
	}
	switch d.Status {
	case agent.Cancelled.String():
		last.Outcome = &Outcome{Type: outcomeCancelled}
	case agent.Failed.String():
		last.Type, last.Message, last.Code = RunError, d.Message, d.Code
	}
	return []Event{last}, nil
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

// Start begins a stream, be it in the middle of a run.
func (t Translator) Start() Event { return Event{Type: RunStarted, at: t.now()} }

// Finished ends a stream that shows no run, or one that had ended before it was opened.
func (t Translator) Finished() Event { return Event{Type: RunFinished, at: t.now()} }

// Interrupted ends a stream whose run waits on, as the standard's interrupt (design, section 6).
func (t Translator) Interrupted(open []Asked) Event {
	outcome := &Outcome{Type: outcomeInterrupt}
	for _, a := range open {
		outcome.Interrupts = append(outcome.Interrupts, a.interrupt())
	}
	return Event{Type: RunFinished, Outcome: outcome, at: t.now()}
}

// Broken ends a stream that cannot show its run any further. The run goes on; its own stream shows it again.
func (t Translator) Broken(err error) Event {
	message := "the stream broke, not the run (" + fault.MessageOf(err) + "); follow it again"
	return Event{Type: RunError, Message: message, Code: string(fault.CodeOf(err)), at: t.now()}
}
