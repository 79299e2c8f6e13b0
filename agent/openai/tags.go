package openai

import (
	"encoding/json"
	"strings"
)

// The tags that some models write into their text in place of the fields of the protocol.
const (
	thinkBegin, thinkEnd = "<think>", "</think>"
	callBegin, callEnd   = "<tool_call>", "</tool_call>"
)

// thinking takes what a model thought aloud in tags at the beginning of its text out of it.
type thinking struct {
	held  string
	open  bool // inside of the tags
	ended bool // behind them
	told  bool // something of the text was let through
}

// push takes a piece of text and gives what of it is text, and what is thought.
func (t *thinking) push(piece string) (said, thought string) {
	t.held += piece
	switch {
	case t.told:
		return t.all(), ""
	case t.open:
		return t.inside()
	}
	start := strings.TrimLeft(t.held, " \t\r\n")
	switch {
	case start == "" && t.ended:
		t.held = "" // white space behind the tags
		return "", ""
	case !t.ended && strings.HasPrefix(start, thinkBegin):
		t.held, t.open = start[len(thinkBegin):], true
		return t.inside()
	case !t.ended && strings.HasPrefix(thinkBegin, start):
		return "", "" // it may become the tag
	case t.ended:
		t.held = start
	}
	t.told = true
	return t.all(), ""
}

func (t *thinking) inside() (said, thought string) {
	before, after, closed := strings.Cut(t.held, thinkEnd)
	if !closed {
		keep := overlap(t.held, thinkEnd)
		thought, t.held = t.held[:len(t.held)-keep], t.held[len(t.held)-keep:]
		return "", thought
	}
	t.open, t.ended, t.held = false, true, ""
	said, _ = t.push(after)
	return said, before
}

// end gives what was held back.
func (t *thinking) end() (said, thought string) {
	if t.open {
		return "", t.all()
	}
	return t.all(), ""
}

func (t *thinking) all() string {
	out := t.held
	t.held = ""
	return out
}

// overlap is how much of the end of a text may be the beginning of a tag.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// written takes calls that a model wrote into its text in tags out of it.
type written struct {
	held string
	open bool
}

// push takes a piece of text and gives what of it is text, and the calls that were in it. What is in the tags
// and is no call is text.
func (w *written) push(piece string) (said string, calls []callDelta) {
	w.held += piece
	for {
		if !w.open {
			before, after, found := strings.Cut(w.held, callBegin)
			if !found {
				keep := overlap(w.held, callBegin)
				said, w.held = said+w.held[:len(w.held)-keep], w.held[len(w.held)-keep:]
				return said, calls
			}
			said, w.held, w.open = said+before, after, true
		}
		inside, after, closed := strings.Cut(w.held, callEnd)
		if !closed {
			return said, calls
		}
		w.held, w.open = after, false
		if c, ok := callIn(inside); ok {
			calls = append(calls, c)
			continue
		}
		said += callBegin + inside + callEnd
	}
}

// end gives what was held back: a call whose end tag the model left out, or else text.
func (w *written) end() (said string, calls []callDelta) {
	if !w.open {
		return w.held, nil
	}
	if c, ok := callIn(w.held); ok {
		return "", []callDelta{c}
	}
	return callBegin + w.held, nil
}

func callIn(text string) (callDelta, bool) {
	var c callDelta
	err := json.Unmarshal([]byte(strings.TrimSpace(text)), &c.Function)
	return c, err == nil && c.Function.Name != ""
}
