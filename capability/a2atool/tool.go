// Package a2atool turns the skills of A2A agents into capabilities. An agent's card says what it can do
// in words; the arguments that the model must give are laid down here.
package a2atool

import (
	"context"
	"encoding/json"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// New completes a definition with a handler that gives the call to an agent's skill (D-74). A question
// of the agent becomes the result, so that the model can ask the person.
func New(client *a2a.Client, skill string, d capability.Definition) capability.Definition {
	d.Kind = capability.A2A
	d.Handle = func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
		out, err := client.Call(ctx, a2a.Request{
			Skill: skill, Arguments: call.Args, Text: sentence(skill, call.Args), ContextID: call.ThreadID,
		})
		switch {
		case err != nil:
			return nil, err
		case out.State == a2a.InputRequired:
			return json.Marshal(map[string]string{"status": "INPUT_REQUIRED", "question": out.Question, "taskId": out.TaskID})
		case len(out.Data) > 0:
			return out.Data, nil
		case out.Text != "":
			return json.Marshal(map[string]string{"text": out.Text})
		}
		return nil, fault.New(fault.Internal, "the agent %s answered without content", d.Provider)
	}
	return d
}

// sentence is what an agent that reads only text gets; ours read the data part.
func sentence(skill string, args json.RawMessage) string {
	var text struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(args, &text) == nil && text.Text != "" {
		return text.Text
	}
	return skill + " " + string(args)
}
