package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/redact"
	"agentmesh/app/platform/sse"
	"agentmesh/app/platform/text"
)

// errUpstream is an error that an endpoint sent in place of an answer, with its own words. They may
// repeat a key, so they are not part of its text, which is logged.
type errUpstream struct{ words, code string }

func (errUpstream) Error() string { return "the endpoint reported an error" }

var (
	errNoStream = errors.New("the endpoint answered with something else than a chat completion")
	errCut      = errors.New("the stream ended before the answer was complete")
	errEndless  = errors.New("the answer is longer than the limit")
	errGarbled  = errors.New("a piece of the answer is not what the protocol says")
)

// MaxAnswer caps what a stream may say in one answer, text and arguments together, in bytes.
const MaxAnswer = 512 << 10

// callCost is what a call counts for beside its text, so that their number is bounded too.
const callCost = 4 << 10

// chunk is what is read of a stream's event, or of a whole answer: both have the same shape but for
// delta and message.
type chunk struct {
	Choices []struct {
		Delta        *delta `json:"delta"`
		Message      *delta `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
	// Some endpoints send an error without that word.
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"`
}

type delta struct {
	Content      content       `json:"content"`
	Thought      content       `json:"reasoning_content"`
	Reasoning    content       `json:"reasoning"` // the other word for it
	Refusal      string        `json:"refusal"`
	ToolCalls    []callDelta   `json:"tool_calls"`
	FunctionCall *functionPart `json:"function_call"` // the form before tool_calls
}

// says tells a piece of an answer from a heartbeat that looks like one.
func (d *delta) says() bool {
	return cmp.Or(d.Content, d.Thought, d.Reasoning) != "" || d.Refusal != "" || len(d.ToolCalls) > 0 || d.FunctionCall != nil
}

// content is a text, or the text parts of a list of parts.
type content string

// UnmarshalJSON takes both forms.
func (c *content) UnmarshalJSON(raw []byte) error {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return json.Unmarshal(raw, (*string)(c))
	}
	for _, p := range parts {
		if p.Type == "text" {
			*c += content(p.Text)
		}
	}
	return nil
}

// fold builds an answer from a stream's pieces.
type fold struct {
	onText  func(string)
	onPiece func() // something of the answer came, and not only a heartbeat
	secrets *redact.Set
	hidden  redact.Stream
	taken   map[string]bool // ids of calls, each of which names one call only

	text    strings.Builder
	thought strings.Builder
	tags    thinking
	written *written // nil: no tools are offered, so none can be called
	calls   []*call
	finish  string
	done    bool
	usage   agent.Usage
}

// read takes a whole response: a stream, or one JSON document from an endpoint that does not stream.
func (f *fold) read(r io.Reader) error {
	body := &peeked{r: r}
	first, err := body.first()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch first {
	case '{', '[':
		return f.whole(body)
	case '<':
		return errNoStream
	}
	for e, err := range sse.Read(body) {
		if err != nil {
			return err
		}
		if err := f.event(e.Name, strings.TrimSpace(e.Data)); err != nil || f.done {
			return err
		}
	}
	if f.finish == "" {
		return errCut
	}
	return nil
}

func (f *fold) event(name, data string) error {
	switch {
	case data == "[DONE]":
		f.done = true
		return nil
	case name == "error":
		return errUpstream{wordsOf([]byte(data)), codeOf([]byte(data))}
	case !strings.HasPrefix(data, "{"): // heartbeats of many shapes
		return nil
	}
	c, err := parse([]byte(data))
	if err != nil {
		return fmt.Errorf("%w: %w", errGarbled, err)
	}
	if c.failed() {
		return errUpstream{c.words(), codeOf([]byte(data))}
	}
	return f.add(c)
}

func (f *fold) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	c, err := parse(raw)
	if err != nil {
		return errNoStream
	}
	if len(c.Choices) == 0 && !c.failed() {
		return errNoStream
	}
	if c.failed() {
		return errUpstream{c.words(), codeOf(raw)}
	}
	f.done = true
	return f.add(c)
}

// parse reads a piece. What is no character in it becomes U+FFFD, as a stream's reader should have it; JSON would
// leave it as it is in what is kept unread.
func parse(raw []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(bytes.ToValidUTF8(raw, []byte(string(utf8.RuneError))), &c)
	return c, err
}

// failed tells whether a piece is an error in place of an answer.
func (c chunk) failed() bool {
	return !isNull(c.Error) || c.Object == "error" || len(c.Choices) == 0 && !isNull(c.Message)
}

func (f *fold) add(c chunk) error {
	if c.Usage != nil { // a running total on some endpoints: the last one counts
		f.usage = agent.Usage{Input: c.Usage.Prompt, Output: c.Usage.Completion}
	}
	for _, choice := range c.Choices[:min(1, len(c.Choices))] {
		if d := cmp.Or(choice.Delta, choice.Message); d != nil { // both: the same twice
			if d.says() {
				f.onPiece()
			}
			f.thought.WriteString(string(cmp.Or(d.Thought, d.Reasoning)))
			f.say(string(d.Content) + d.Refusal)
			for _, part := range d.ToolCalls {
				f.call(part)
			}
			if d.FunctionCall != nil {
				f.call(callDelta{Function: *d.FunctionCall})
			}
		}
		if choice.FinishReason != "" {
			f.finish = choice.FinishReason
		}
	}
	if f.size() > MaxAnswer {
		return errEndless
	}
	return nil
}

func (f *fold) size() int {
	n := f.text.Len() + f.thought.Len() + len(f.tags.held)
	if f.written != nil {
		n += len(f.written.held)
	}
	for _, c := range f.calls {
		n += c.args.Len() + len(c.name) + len(c.id) + callCost
	}
	return n
}

// say passes text on, which JSON made whole characters.
func (f *fold) say(text string) {
	said, thought := f.tags.push(text)
	f.thought.WriteString(thought)
	f.show(f.hidden.Push(f.withoutCalls(said)))
}

// withoutCalls takes the calls that are written in a text out of it.
func (f *fold) withoutCalls(text string) string {
	if f.written == nil {
		return text
	}
	said, calls := f.written.push(text)
	f.take(calls)
	return said
}

// take adds calls that were written in the text.
func (f *fold) take(calls []callDelta) {
	for _, c := range calls {
		f.calls = append(f.calls, &call{index: -1, name: c.Function.Name})
		f.calls[len(f.calls)-1].args.WriteString(argumentText(c.Function.Arguments))
	}
}

// flush shows what was held back because a tag or a secret might have begun with it.
func (f *fold) flush() {
	said, thought := f.tags.end()
	f.thought.WriteString(thought)
	said = f.withoutCalls(said)
	if f.written != nil {
		rest, calls := f.written.end()
		f.take(calls)
		said += rest
	}
	f.show(f.hidden.Push(said) + f.hidden.End())
}

func (f *fold) show(text string) {
	if text != "" {
		f.text.WriteString(text)
		f.onText(text)
	}
}

// Limits of the ids of calls, in bytes, and of the names of tools, in characters. A longer name is no tool's; of it, as much as tells which it was is kept.
const (
	maxID   = 256
	maxName = 256
)

// into completes an answer. Ids are ours where the endpoint gave none, one that is taken, or one that is too long.
func (f *fold) into(a *agent.Answer) {
	a.Text, a.Usage, a.Finish = f.text.String(), f.usage, f.secrets.Text(f.finish)
	a.Reasoning, a.Complete = f.secrets.Text(f.thought.String()), f.complete()
	for _, c := range f.calls {
		if c.id == "" || len(c.id) > maxID || f.taken[c.id] {
			c.id = flow.NewID("call")
		}
		f.taken[c.id] = true
		a.Calls = append(a.Calls, agent.ToolCall{
			ID: f.secrets.Text(c.id), Name: cmp.Or(text.Clip(f.secrets.Text(c.name), maxName), unnamed), Extra: f.extra(c),
			Args: arguments(f.secrets.Text(unwrapped(c.args.String()))),
		})
	}
}

// extra gives what the endpoint wants back with a call, if it holds no secret.
func (f *fold) extra(c *call) json.RawMessage {
	if isNull(c.extra) || f.secrets.Text(string(c.extra)) != string(c.extra) {
		return nil
	}
	return c.extra
}

func (f *fold) complete() bool {
	switch f.finish {
	case "stop", "tool_calls", "function_call":
		return true
	case "":
		return f.done
	}
	return false
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// peeked lets the first byte of a body be looked at before it is read.
type peeked struct {
	r    io.Reader
	held []byte
}

// first gives the first byte that is not white space.
func (p *peeked) first() (byte, error) {
	one := make([]byte, 1)
	for {
		n, err := p.r.Read(one)
		if n == 1 && !strings.ContainsRune(" \t\r\n", rune(one[0])) {
			p.held = one
			return one[0], nil
		}
		if err == io.EOF {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (p *peeked) Read(b []byte) (int, error) {
	if len(p.held) > 0 {
		n := copy(b, p.held)
		p.held = p.held[n:]
		return n, nil
	}
	return p.r.Read(b)
}
