package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
)

// errUpstream is an error that an endpoint sent in place of an answer, with its own words.
type errUpstream struct{ message string }

func (e errUpstream) Error() string { return "the endpoint reported: " + e.message }

var (
	errNoStream = errors.New("the endpoint answered with something else than a chat completion")
	errCut      = errors.New("the stream ended before the answer was complete")
)

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
}

type delta struct {
	Content   string      `json:"content"`
	Refusal   string      `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// fold builds an answer from a stream's pieces.
type fold struct {
	onText func(string)

	text   strings.Builder
	tail   string // the bytes of a character that is not complete yet
	calls  []*call
	finish string
	done   bool
	usage  agent.Usage
}

type call struct {
	index int
	id    string
	name  string
	args  strings.Builder
}

// read takes a whole response: a stream, or one JSON document from an endpoint that does not stream.
func (f *fold) read(resp *http.Response) error {
	body := &peeked{r: resp.Body}
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
		if err := f.event(strings.TrimSpace(e.Data)); err != nil || f.done {
			return err
		}
	}
	if f.finish == "" {
		return errCut
	}
	return nil
}

func (f *fold) event(data string) error {
	switch {
	case data == "[DONE]":
		f.done = true
		return nil
	case !strings.HasPrefix(data, "{"): // heartbeats of many shapes
		return nil
	}
	var c chunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return fmt.Errorf("read a piece of the answer: %w", err)
	}
	return f.add(c)
}

func (f *fold) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return errNoStream
	}
	if len(c.Choices) == 0 && isNull(c.Error) {
		return errNoStream
	}
	f.done = true
	return f.add(c)
}

func (f *fold) add(c chunk) error {
	if !isNull(c.Error) {
		return errUpstream{errorText(c.Error)}
	}
	if c.Usage != nil { // a running total on some endpoints: the last one counts
		f.usage = agent.Usage{Input: c.Usage.Prompt, Output: c.Usage.Completion}
	}
	for _, choice := range c.Choices[:min(1, len(c.Choices))] {
		for _, d := range []*delta{choice.Delta, choice.Message} {
			if d == nil {
				continue
			}
			f.say(d.Content + d.Refusal)
			for _, part := range d.ToolCalls {
				f.call(part)
			}
		}
		if choice.FinishReason != "" {
			f.finish = choice.FinishReason
		}
	}
	return nil
}

// say passes text on in whole characters.
func (f *fold) say(text string) {
	if text == "" {
		return
	}
	text = f.tail + text
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if utf8.RuneStart(text[len(text)-i]) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				whole = len(text) - i
			}
			break
		}
	}
	f.tail = text[whole:]
	if whole > 0 {
		f.text.WriteString(text[:whole])
		f.onText(text[:whole])
	}
}

// call adds a part of a call: by its id if that is known, by its index, or else to the call begun last.
func (f *fold) call(part callDelta) {
	target := f.target(part)
	if target.id == "" {
		target.id = part.ID
	}
	if target.name == "" {
		target.name = part.Function.Name
	}
	target.args.WriteString(argumentText(part.Function.Arguments))
}

func (f *fold) target(part callDelta) *call {
	var last, sameIndex *call
	for _, c := range f.calls {
		if part.ID != "" && c.id == part.ID {
			return c
		}
		if part.Index != nil && c.index == *part.Index {
			sameIndex = c
		}
		last = c
	}
	newHead := part.ID != "" || part.Function.Name != ""
	switch {
	case sameIndex != nil && !(newHead && sameIndex.id != "" && part.ID != "" && part.ID != sameIndex.id):
		return sameIndex
	case part.Index == nil && last != nil && !newHead:
		return last
	}
	c := &call{index: -1}
	if part.Index != nil {
		c.index = *part.Index
	}
	f.calls = append(f.calls, c)
	return c
}

// argumentText takes arguments as text; an endpoint that sends an object gets its JSON taken.
func argumentText(raw json.RawMessage) string {
	var text string
	if isNull(raw) {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// into completes an answer. Ids are ours where the endpoint gave none, or one twice.
func (f *fold) into(a *agent.Answer) {
	a.Text, a.Usage, a.Finish = f.text.String(), f.usage, f.finish
	a.Complete = f.complete()
	seen := map[string]bool{}
	for _, c := range f.calls {
		if c.id == "" || seen[c.id] {
			c.id = flow.NewID("call")
		}
		seen[c.id] = true
		args := strings.TrimSpace(c.args.String())
		if args == "" || args == "null" {
			args = "{}"
		}
		if !json.Valid([]byte(args)) { // kept as text; the schema check says what is wrong
			raw, _ := json.Marshal(args)
			args = string(raw)
		}
		a.Calls = append(a.Calls, agent.ToolCall{ID: c.id, Name: c.name, Args: json.RawMessage(args)})
	}
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

func errorText(raw json.RawMessage) string {
	var object struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(raw, &object) == nil && object.Message != "":
		return object.Message
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
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
