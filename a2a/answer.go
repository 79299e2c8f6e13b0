package a2a

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"agentmesh/app/platform/fault"
)

// Outcome is how a task ended, or what it waits for.
type Outcome struct {
	TaskID       string
	ContextID    string
	State        State
	Text         string
	ArtifactName string
	Data         json.RawMessage // of the last artifact's data part, as the agent wrote it
	Question     string          // what the task waits for, if it is in InputRequired
}

// The protocol's objects as a client reads them: only what it needs, and data parts raw.
type (
	streamResponse struct {
		Task           *answerTask    `json:"task"`
		Message        *answerMessage `json:"message"`
		StatusUpdate   *statusUpdate  `json:"statusUpdate"`
		ArtifactUpdate *struct {
			TaskID    string         `json:"taskId"`
			ContextID string         `json:"contextId"`
			Artifact  answerArtifact `json:"artifact"`
			Append    bool           `json:"append"`
		} `json:"artifactUpdate"`
	}
	answerTask struct {
		ID        string           `json:"id"`
		ContextID string           `json:"contextId"`
		Status    answerStatus     `json:"status"`
		Artifacts []answerArtifact `json:"artifacts"`
	}
	statusUpdate struct {
		TaskID    string       `json:"taskId"`
		ContextID string       `json:"contextId"`
		Status    answerStatus `json:"status"`
	}
	answerStatus struct {
		State   State          `json:"state"`
		Message *answerMessage `json:"message"`
	}
	answerMessage struct {
		TaskID    string `json:"taskId"`
		ContextID string `json:"contextId"`
		Parts     parts  `json:"parts"`
	}
	answerArtifact struct {
		ArtifactID string `json:"artifactId"`
		Name       string `json:"name"`
		Parts      parts  `json:"parts"`
	}
	part struct {
		Text *string         `json:"text"`
		Data json.RawMessage `json:"data"`
	}
	parts []part
)

func (m *answerMessage) text() string {
	if m == nil {
		return ""
	}
	return m.Parts.text()
}

func (ps parts) text() string {
	var b strings.Builder
	for _, p := range ps {
		if p.Text != nil {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

func (ps parts) data() json.RawMessage {
	for _, p := range ps {
		if len(p.Data) > 0 {
			return p.Data
		}
	}
	return nil
}

// progress is what is known of a task while its events come in.
type progress struct {
	task   answerTask
	direct *answerMessage // the agent answered with a message and no task
}

// add takes one event.
func (p *progress) add(e streamResponse) {
	switch {
	case e.Task != nil:
		p.task = *e.Task
	case e.Message != nil:
		p.direct = e.Message
	case e.StatusUpdate != nil:
		p.task.ID, p.task.ContextID = e.StatusUpdate.TaskID, e.StatusUpdate.ContextID
		p.task.Status = e.StatusUpdate.Status
	case e.ArtifactUpdate != nil:
		u := e.ArtifactUpdate
		p.task.ID, p.task.ContextID = u.TaskID, u.ContextID
		at := slices.IndexFunc(p.task.Artifacts, func(a answerArtifact) bool { return a.ArtifactID == u.Artifact.ArtifactID })
		switch {
		case at < 0:
			p.task.Artifacts = append(p.task.Artifacts, u.Artifact)
		case u.Append:
			p.task.Artifacts[at].Parts = append(p.task.Artifacts[at].Parts, u.Artifact.Parts...)
		default:
			p.task.Artifacts[at] = u.Artifact
		}
	}
}

// done tells whether the caller has nothing more to wait for.
func (p *progress) done() bool {
	return p.direct != nil || p.task.Status.State.Terminal() || p.task.Status.State.interrupted()
}

// outcome gives the end of the task; a task that did not succeed is a fault.
func (p *progress) outcome() (Outcome, error) {
	if m := p.direct; m != nil {
		return Outcome{
			TaskID: m.TaskID, ContextID: m.ContextID, State: Completed, Text: m.text(), Data: m.Parts.data(),
		}, nil
	}
	t := p.task
	out := Outcome{TaskID: t.ID, ContextID: t.ContextID, State: t.Status.State, Text: t.Status.Message.text()}
	if n := len(t.Artifacts); n > 0 {
		last := t.Artifacts[n-1]
		out.ArtifactName, out.Data, out.Text = last.Name, last.Parts.data(), last.Parts.text()
	}
	switch t.Status.State {
	case Completed:
		return out, nil
	case InputRequired:
		out.Question = t.Status.Message.text()
		return out, nil
	case AuthRequired:
		return out, fault.New(fault.Denied, "the agent asks for a sign-in that this program cannot give")
	case Rejected:
		return out, fault.New(fault.Denied, "%s", cmp.Or(t.Status.Message.text(), "the agent rejected the task"))
	case Canceled:
		return out, fault.New(fault.Cancelled, "the task was cancelled")
	case Failed:
		return out, failedTask(t.Status.Message)
	}
	return out, fault.New(fault.Unavailable, "the agent's answer is not readable")
}

// failedTask restores the fault of a failed task from its data part.
func failedTask(m *answerMessage) error {
	said := cmp.Or(m.text(), "the agent failed")
	if m != nil {
		var f failure
		if json.Unmarshal(m.Parts.data(), &f) == nil && fault.Known(f.Error.Code) {
			return fault.New(f.Error.Code, "%s", cmp.Or(f.Error.Message, said))
		}
	}
	return fault.New(fault.Internal, "%s", said)
}
