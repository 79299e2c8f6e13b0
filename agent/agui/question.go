package agui

import (
	"encoding/json"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// Asked is an open question as a stream ends with it.
type Asked struct {
	agent.Confirmation
	// ArgsSchema is that of the arguments which a person may put in place of those asked about; empty when
	// they cannot be edited.
	ArgsSchema json.RawMessage
	// Refused is why the answer that this stream carried did not count.
	Refused error
}

func (a Asked) interrupt() Interrupt {
	about := map[string]any{"kind": a.Kind, "deadline": a.Deadline, "args": a.Args, "argsDigest": a.ArgsDigest}
	if len(a.Summary) > 0 {
		about["summary"] = a.Summary
	}
	if len(a.Warnings) > 0 {
		about["warnings"] = a.Warnings
	}
	if a.Because != "" {
		about["because"] = a.Because
	}
	if len(a.Suggestions) > 0 {
		about["suggestions"] = a.Suggestions
	}
	if a.Attempt != nil {
		about["attempt"] = a.Attempt
	}
	message := a.message()
	if a.Refused != nil {
		refused := fault.ProblemOf(a.Refused)
		about["problem"] = map[string]any{"code": refused.Code, "detail": refused.Detail}
		message = refused.Detail + " — " + message
	}
	out := Interrupt{
		ID: a.ID, Reason: "tool_call", ToolCallID: a.CallID, Message: message, ResponseSchema: answerSchema(a.ArgsSchema, a.Suggestions),
		Metadata: map[string]any{"agentmesh": about},
	}
	if a.Kind == agent.AskOutcome { // with tool_call, clients offer yes and no
		out.Reason, out.ResponseSchema = "input_required", replySchema(a.Answers)
	}
	return out
}

// message is the question in words, for a client that shows nothing else: what would happen, where its
// capability says it.
func (a Asked) message() string {
	if a.Attempt != nil {
		n, began := a.Attempt.Number, a.Attempt.Began.UTC().Format(time.RFC3339)
		return fmt.Sprintf("%s 发生了吗？第 %d 次执行于 %s 开始，结果未知。 / Did %s happen? Attempt %d began at %s: %s.", a.Tool, n, began, a.Tool, n, began, a.Attempt.Message)
	}
	var summary struct {
		Words string `json:"words"`
	}
	_ = json.Unmarshal(a.Summary, &summary) // a capability's summary may have any form
	if summary.Words == "" {
		return "May " + a.Tool + " run?"
	}
	return summary.Words + " — may " + a.Tool + " run?"
}

// replySchema describes the payload of a Resume that says whether a call happened.
func replySchema(replies []agent.Reply) map[string]any {
	return map[string]any{
		"type": "object", "required": []string{"answer"}, "additionalProperties": false,
		"properties": map[string]any{
			"answer": map[string]any{"type": "string", "enum": replies},
			"reason": map[string]any{"type": "string", "description": "How the person knows."},
		},
	}
}

// answerSchema describes the payload of a Resume that says whether a call may run.
func answerSchema(args json.RawMessage, suggestions []agent.Suggestion) map[string]any {
	properties := map[string]any{
		"approved": map[string]any{"type": "boolean"},
		"reason":   map[string]any{"type": "string", "description": "With a no: why."},
	}
	if len(args) > 0 {
		properties["editedArgs"] = args
	}
	if len(suggestions) > 0 {
		var ids []string
		for _, s := range suggestions {
			ids = append(ids, s.ID)
		}
		properties["remember"] = map[string]any{
			"type": "string", "enum": ids, "description": "With a yes: do not ask again for calls of this tool (tool), or for those with exactly these arguments (args).",
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": []string{"approved"}, "additionalProperties": false}
}
