// Package aguicheck reads a stream as AG-UI clients do, and says which of their rules it breaks. It is written from
// the protocol (1.0: the verify step of its client, and what earlier clients throw on) and shares no code with what
// writes streams; only tests import it.
package aguicheck

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxEvent is the length in bytes above which an event is too slow for clients.
const MaxEvent = 256 << 10

// Checker reads one stream. Its zero value is not ready: see New.
type Checker struct {
	modern bool
	state  state

	texts, calls, steps, spans, thoughts map[string]bool // open
	begun, settled                       map[string]bool // calls of this run
	said                                 map[string]string
	kinds                                []string
}

type state int

const (
	before state = iota
	running
	ended
)

// New makes a checker for a client; a modern one names a protocolVersion.
func New(modern bool) *Checker {
	c := &Checker{modern: modern, said: map[string]string{}}
	c.fresh()
	return c
}

func (c *Checker) fresh() {
	c.texts, c.calls, c.steps = map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.spans, c.thoughts = map[string]bool{}, map[string]bool{}
	c.begun, c.settled = map[string]bool{}, map[string]bool{}
}

// Ended tells whether the stream has had its last event.
func (c *Checker) Ended() bool { return c.state == ended }

// Said gives the text of a message, the arguments of a call, or a thought, as a client has joined it.
func (c *Checker) Said(id string) string { return c.said[id] }

// Kinds lists the types of the events so far.
func (c *Checker) Kinds() []string { return c.kinds }

// Take reads the next event; its error says which rule was broken.
func (c *Checker) Take(data string) error {
	var e map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("no JSON object: %w", err)
	}
	var kind string
	if err := json.Unmarshal(e["type"], &kind); err != nil {
		return fmt.Errorf("no type: %.100s", data)
	}
	c.kinds = append(c.kinds, kind)
	if len(data) > MaxEvent {
		return fmt.Errorf("%s of %d bytes", kind, len(data))
	}
	if err := c.shape(kind, e); err != nil {
		return fmt.Errorf("%s: %w: %.300s", kind, err, data)
	}
	if err := c.place(kind); err != nil {
		return err
	}
	if err := c.pair(kind, words(e)); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// words gives the members of an event that are texts.
func words(e map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, raw := range e {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out[name] = s
		}
	}
	return out
}

// place checks where in a stream an event may stand. A run after the end of one is legal.
func (c *Checker) place(kind string) error {
	switch {
	case kind == "RUN_STARTED" && c.state == running:
		return errors.New("RUN_STARTED inside a run")
	case kind == "RUN_STARTED":
		c.state = running
		c.fresh()
	case c.state == before && kind != "RUN_ERROR":
		return fmt.Errorf("%s is first", kind)
	case c.state == ended:
		return fmt.Errorf("%s after the end", kind)
	}
	return nil
}

// pair checks that only what is open goes on, and that a finished run leaves nothing open.
func (c *Checker) pair(kind string, e map[string]string) error {
	message, call := e["messageId"], e["toolCallId"]
	switch kind {
	case "RUN_FINISHED":
		c.state = ended
		if n := len(c.texts) + len(c.calls) + len(c.steps) + len(c.spans) + len(c.thoughts); n > 0 {
			return fmt.Errorf("%d things are open", n)
		}
	case "RUN_ERROR":
		c.state = ended
	case "STEP_STARTED", "STEP_FINISHED":
		return turn(c.steps, e["stepName"], kind == "STEP_STARTED")
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_END":
		return turn(c.texts, message, kind == "TEXT_MESSAGE_START")
	case "REASONING_START", "REASONING_END":
		return turn(c.spans, message, kind == "REASONING_START")
	case "REASONING_MESSAGE_START", "REASONING_MESSAGE_END":
		return turn(c.thoughts, message, kind == "REASONING_MESSAGE_START")
	case "TEXT_MESSAGE_CONTENT":
		return c.join(c.texts, message, e["delta"])
	case "REASONING_MESSAGE_CONTENT":
		return c.join(c.thoughts, message, e["delta"])
	case "TOOL_CALL_ARGS":
		return c.join(c.calls, call, e["delta"])
	case "TOOL_CALL_START":
		if c.begun[call] {
			return fmt.Errorf("call %q is shown twice: a client joins the arguments", call)
		}
		c.begun[call] = true
		return turn(c.calls, call, true)
	case "TOOL_CALL_END":
		return turn(c.calls, call, false)
	case "TOOL_CALL_RESULT":
		if c.settled[call] {
			return fmt.Errorf("call %q has two results", call)
		}
		c.settled[call] = true
	}
	return nil
}

func (c *Checker) join(open map[string]bool, id, delta string) error {
	if !open[id] {
		return fmt.Errorf("%q is not open", id)
	}
	c.said[id] += delta
	return nil
}

func turn(open map[string]bool, id string, on bool) error {
	if open[id] == on {
		return fmt.Errorf("%q: open is %v already", id, on)
	}
	if on {
		open[id] = true
	} else {
		delete(open, id)
	}
	return nil
}
