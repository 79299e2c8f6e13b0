// Package agui is the wire of AG-UI: the input a client posts, and the events it reads, which are a
// projection of a run's log. It must not know HTTP routes, the engine's steps, or how a stream is kept.
package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// Limits of an input, in bytes and characters. MaxMessage is for the text of one message, MaxHistory for
// those that come with it.
const (
	maxID      = 128
	MaxMessage = 16 << 10
	MaxHistory = 10_000    // messages; only the last one counts
	MaxAnswer  = 256 << 10 // of a client's tool
)

// RunAgentInput is what a client posts to start a run. Unknown members are ignored (AG-UI 1.0).
type RunAgentInput struct {
	ThreadID        string         `json:"threadId"`
	RunID           string         `json:"runId"`
	ProtocolVersion string         `json:"protocolVersion"`
	Messages        []InputMessage `json:"messages"`
	Resume          []Resume       `json:"resume"`
	Tools           []ClientTool   `json:"tools"`
	Context         []Context      `json:"context"`
	Mode            string         `json:"mode"`
	ForwardedProps  any            `json:"forwardedProps"`
}

// RunMode is how much the run may do by itself, as the client wishes: mode, or the same in forwardedProps. A client may
// ask for less than usual, and for nothing else. What else is in forwardedProps is the client's own affair.
func (in RunAgentInput) RunMode() (capability.Mode, error) {
	wish := in.Mode
	if props, ok := in.ForwardedProps.(map[string]any); ok && wish == "" {
		if said, _ := props["mode"].(string); strings.EqualFold(said, string(capability.ModeExplore)) {
			wish = string(capability.ModeExplore)
		}
	}
	switch mode := capability.Mode(wish); mode {
	case "", capability.ModeDefault:
		return capability.ModeDefault, nil
	case capability.ModeExplore:
		return mode, nil
	}
	return "", fault.New(fault.Invalid, "mode must be default or explore, not %q", text.Clip(wish, 40))
}

// InputMessage is one message of the client's history. Only the last one, from the user, counts, and what tool
// messages say of the client's own tools: the history is the server's own.
type InputMessage struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  json.RawMessage `json:"toolCalls"`
	ToolCallID string          `json:"toolCallId"`
	Error      string          `json:"error"`

	unread error // why it cannot be read, which is nobody's trouble unless it is the last one
}

// UnmarshalJSON reads what can be read of a message.
func (m *InputMessage) UnmarshalJSON(raw []byte) error {
	type plain InputMessage
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		m.unread = unreadable(err)
	}
	return nil
}

// calls are the ids of the calls that a message makes.
func (m InputMessage) calls() []string {
	var made []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(m.ToolCalls, &made) != nil {
		return nil
	}
	ids := make([]string, len(made))
	for i, c := range made {
		ids[i] = c.ID
	}
	return ids
}

// ParseInput reads and checks an input. Its errors are faults that are answered before any stream.
func ParseInput(raw []byte) (RunAgentInput, error) {
	in, err := ParseThread(raw)
	switch {
	case err != nil:
		return RunAgentInput{}, err
	case len(in.Resume) > 0:
		return in, checkResume(in.Resume)
	}
	if _, err = in.Turn(); err == nil {
		_, err = in.Client()
	}
	return in, err
}

// ParseThread reads an input that only names a conversation, and a run to show it under.
func ParseThread(raw []byte) (RunAgentInput, error) {
	if !utf8.Valid(raw) {
		return RunAgentInput{}, fault.New(fault.Invalid, "the body is not UTF-8")
	}
	var in RunAgentInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return RunAgentInput{}, unreadable(err)
	}
	switch {
	case badID(in.ThreadID):
		return RunAgentInput{}, fault.New(fault.Invalid, "threadId must be a text of 1 to %d characters without control characters", maxID)
	case badID(in.RunID):
		return RunAgentInput{}, fault.New(fault.Invalid, "runId must be a text of 1 to %d characters without control characters", maxID)
	case in.Messages == nil:
		return RunAgentInput{}, fault.New(fault.Invalid, "messages is missing")
	case len(in.Messages) > MaxHistory:
		return RunAgentInput{}, fault.New(fault.TooLarge, "messages has %d entries, more than %d; the last one is enough", len(in.Messages), MaxHistory)
	}
	return in, nil
}

func unreadable(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field != "" {
		return fault.Wrap(err, fault.Invalid, "%s has the wrong type: %s", typed.Field, typed.Value)
	}
	return fault.Wrap(err, fault.Invalid, "the body is not a RunAgentInput: %s", err.Error())
}

func badID(id string) bool {
	return id == "" || id == "." || id == ".." || utf8.RuneCountInString(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// UserMessage is the input's last message as plain text.
type UserMessage struct {
	ID   string
	Text string
}

// Turn is what an input says: the last message, which must be the user's and hold text, or a tool's answer; and all
// answers of tools. Which of them count, what waits for them decides.
func (in RunAgentInput) Turn() (Turn, error) {
	if len(in.Messages) == 0 {
		return Turn{}, fault.New(fault.Invalid, "messages is empty: there is nothing to answer")
	}
	var err error
	t := Turn{Answers: in.Answers()}
	switch m := in.Messages[len(in.Messages)-1]; {
	case m.unread != nil:
		err = m.unread
	case m.Role == "user":
		t.Message, err = userMessage(m)
	case m.Role == "tool":
		_, err = answerOf(m)
	default:
		err = fault.New(fault.Invalid, "the last message must have the role user, or tool with a toolCallId, not %q", text.Clip(m.Role, 40))
	}
	return t, err
}

// Turn is what an input says. Without a message, its answers are what it says.
type Turn struct {
	Message UserMessage
	Answers []agent.CallAnswer
}

// Answers are what an input says of calls of the client's tools. What cannot be read of an old history is left out, and
// so is what stands before a call of the same id: an answer comes after its call, and ids of models may repeat.
func (in RunAgentInput) Answers() []agent.CallAnswer {
	var out []agent.CallAnswer
	later := map[string]bool{}
	for _, m := range slices.Backward(in.Messages) {
		if a, err := answerOf(m); m.Role == "tool" && err == nil && !later[a.CallID] {
			out = append(out, a)
		}
		for _, id := range m.calls() {
			later[id] = true
		}
	}
	slices.Reverse(out)
	return out
}

func answerOf(m InputMessage) (agent.CallAnswer, error) {
	if m.unread != nil {
		return agent.CallAnswer{}, m.unread
	}
	if m.ToolCallID == "" {
		return agent.CallAnswer{}, fault.New(fault.Invalid, "the last message has the role tool, and names no toolCallId")
	}
	content, err := textOf(m.Content)
	switch {
	case err != nil:
		return agent.CallAnswer{}, err
	case len(content)+len(m.Error) > MaxAnswer:
		return agent.CallAnswer{}, fault.New(fault.TooLarge, "the answer to %s is longer than %d bytes", text.Clip(m.ToolCallID, 80), MaxAnswer)
	case badID(m.ID):
		m.ID = ""
	}
	return agent.CallAnswer{CallID: m.ToolCallID, MessageID: m.ID, Content: content, Error: m.Error}, nil
}

func userMessage(m InputMessage) (UserMessage, error) {
	text, err := textOf(m.Content)
	if err != nil {
		return UserMessage{}, err
	}
	switch {
	case strings.TrimSpace(text) == "":
		return UserMessage{}, fault.New(fault.Invalid, "the last message holds no text")
	case len(text) > MaxMessage:
		return UserMessage{}, fault.New(fault.TooLarge, "the message is longer than %d bytes", MaxMessage)
	case m.ID != "" && badID(m.ID):
		return UserMessage{}, fault.New(fault.Invalid, "the message's id must have at most %d characters", maxID)
	}
	return UserMessage{ID: m.ID, Text: text}, nil
}

// textOf takes a content that is a string, or the text parts of a list; other parts are skipped.
func textOf(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fault.Wrap(err, fault.Invalid, "a message's content must be a text or a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n"), nil
}
