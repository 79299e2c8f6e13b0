package agui

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"agentmesh/agent"
)

// Line is an event as it goes over the wire. Only a Writer makes one, so whatever a client reads went through one.
type Line struct{ json string }

func (l Line) String() string { return l.json }

// Writer writes the events of one run's stream. It owns the grammar of AG-UI: whatever events it is given, in
// whatever order, the lines it makes are a stream that every client takes. It opens what is not open, closes
// what must be closed, leaves out what cannot be, splits what is too long, and holds half a character back
// until the rest of it comes (notes on AG-UI, 1.1 to 1.3). What is open of a stream is known nowhere else.
type Writer struct {
	run     agent.Run
	started bool
	ended   bool
	step    string
	text    message
	thought message
	call    message
	begun   map[string]bool // calls that were shown: a client would join the arguments of two
	settled map[string]bool // calls that have their result
	out     []Line
}

// message is something that is open and takes pieces of text; without an id nothing is.
type message struct{ id, rest string }

// NewWriter makes a writer for a stream of a run. The stream bears the run's label, and is made for the client
// that the run says it has.
func NewWriter(r agent.Run) *Writer {
	return &Writer{run: r, begun: map[string]bool{}, settled: map[string]bool{}}
}

// Ended tells whether the stream has had its last event.
func (w *Writer) Ended() bool { return w.ended }

// Write takes events and gives the lines that they become, which may be none.
func (w *Writer) Write(events ...Event) []Line {
	w.out = nil
	for _, e := range events {
		w.take(e.named())
	}
	return w.out
}

func (w *Writer) take(e Event) {
	if w.ended || !w.sound(e) {
		return
	}
	if !w.started {
		w.started = true
		w.put(e.beside(Event{Type: RunStarted}))
	}
	switch e.Type {
	case StepStarted, StepFinished:
		w.takeStep(e)
	case TextMessageStart, TextMessageContent, TextMessageEnd:
		w.takeText(e)
	case ReasoningMessageContent, ReasoningEnd:
		w.takeThought(e)
	case ToolCallStart, ToolCallArgs, ToolCallEnd, ToolCallResult:
		w.takeCall(e)
	case StateSnapshot, MessagesSnapshot: // they tell how things stand, so nothing is in the middle
		w.closeAll(e)
		w.put(e)
	case Custom:
		w.put(e)
	case RunFinished, RunError:
		w.closeAll(e)
		w.put(e)
		w.ended = true
	}
}

// sound tells whether an event names what it is about. One that does not is left out, as is any kind that is not
// sent: clients before 1.0 throw on what they do not know.
func (w *Writer) sound(e Event) bool {
	switch e.Type {
	case RunStarted, RunFinished, RunError, MessagesSnapshot:
		return true
	case StepStarted, StepFinished:
		return e.StepName != ""
	case TextMessageStart, TextMessageContent, TextMessageEnd, ReasoningMessageContent, ReasoningEnd:
		return e.MessageID != ""
	case ToolCallStart:
		return e.ToolCallID != "" && e.ToolCallName != ""
	case ToolCallArgs, ToolCallEnd:
		return e.ToolCallID != ""
	case ToolCallResult:
		return e.ToolCallID != "" && e.MessageID != ""
	case StateSnapshot:
		return json.Valid(e.Snapshot)
	case Custom:
		return e.Name != "" && (len(e.Value) == 0 || json.Valid(e.Value))
	}
	return false
}

// takeStep keeps at most one step open; one that begins again was left by a crash. What a step began, it ends.
func (w *Writer) takeStep(e Event) {
	switch {
	case e.Type == StepFinished && e.StepName == w.step:
		w.closeAll(e)
	case e.Type == StepStarted:
		w.closeAll(e)
		w.step = e.StepName
		w.put(e)
	}
}

// takeText keeps at most one text open. A client joins what comes under an id that was closed, so an id may be
// opened again.
func (w *Writer) takeText(e Event) {
	if e.Type == TextMessageEnd {
		if e.MessageID == w.text.id {
			w.closeText(e, e.about)
		}
		return
	}
	if e.MessageID != w.text.id && (e.Type == TextMessageStart || e.Delta != "") {
		w.closeText(e, nil)
		w.text.id = e.MessageID
		w.put(e.beside(Event{Type: TextMessageStart, MessageID: e.MessageID, Role: "assistant"}))
	}
	e.Type = TextMessageContent
	w.putText(&w.text, e)
}

// takeThought keeps at most one span of reasoning open, with one message in it.
func (w *Writer) takeThought(e Event) {
	if e.Type == ReasoningEnd {
		if e.MessageID == w.thought.id {
			w.closeThought(e)
		}
		return
	}
	if e.MessageID != w.thought.id && e.Delta != "" {
		w.closeThought(e)
		w.thought.id = e.MessageID
		w.put(e.beside(Event{Type: ReasoningStart, MessageID: e.MessageID}))
		w.put(e.beside(Event{Type: ReasoningMessageStart, MessageID: e.MessageID, Role: "reasoning"}))
	}
	w.putText(&w.thought, e)
}

// takeCall keeps at most one call open, begins none twice, and gives none two results.
func (w *Writer) takeCall(e Event) {
	id := e.ToolCallID
	switch e.Type {
	case ToolCallStart:
		if w.begun[id] {
			return
		}
		w.closeCall(e)
		w.begun[id], w.call = true, message{id: id}
		w.put(e)
	case ToolCallArgs:
		if id == w.call.id {
			w.putText(&w.call, e)
		}
	case ToolCallEnd:
		if id == w.call.id {
			w.closeCall(e)
		}
	case ToolCallResult:
		if w.settled[id] {
			return
		}
		if id == w.call.id {
			w.closeCall(e)
		}
		w.begun[id], w.settled[id] = true, true
		w.put(e)
	}
}

// putText sends a piece of what is open, in parts that are short enough. What is not a whole character yet waits for
// the rest of it.
func (w *Writer) putText(m *message, e Event) {
	said := m.rest + e.Delta
	whole := len(said) - unfinished(said)
	m.rest = said[whole:]
	for _, part := range split(strings.ToValidUTF8(said[:whole], string(utf8.RuneError))) {
		e.Delta = part
		w.put(e)
	}
}

// unfinished gives how many bytes at the end of a text are the beginning of a character.
func unfinished(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// flush sends what was held back of a message that ends: a character that never came whole.
func (w *Writer) flush(m *message, e Event) {
	if m.rest != "" {
		e.Delta = string(utf8.RuneError)
		w.put(e)
	}
	*m = message{}
}

// closeText ends the open text, and says of that what is known.
func (w *Writer) closeText(cause Event, about map[string]any) {
	id := w.text.id
	if id == "" {
		return
	}
	w.flush(&w.text, cause.beside(Event{Type: TextMessageContent, MessageID: id}))
	end := cause.beside(Event{Type: TextMessageEnd, MessageID: id})
	end.about = about
	w.put(end)
}

func (w *Writer) closeThought(cause Event) {
	id := w.thought.id
	if id == "" {
		return
	}
	w.flush(&w.thought, cause.beside(Event{Type: ReasoningMessageContent, MessageID: id}))
	w.put(cause.beside(Event{Type: ReasoningMessageEnd, MessageID: id}))
	w.put(cause.beside(Event{Type: ReasoningEnd, MessageID: id}))
}

func (w *Writer) closeCall(cause Event) {
	id := w.call.id
	if id == "" {
		return
	}
	w.flush(&w.call, cause.beside(Event{Type: ToolCallArgs, ToolCallID: id}))
	w.put(cause.beside(Event{Type: ToolCallEnd, ToolCallID: id}))
}

// closeAll ends whatever is open.
func (w *Writer) closeAll(cause Event) {
	w.closeThought(cause)
	w.closeText(cause, nil)
	w.closeCall(cause)
	if w.step != "" {
		w.put(cause.beside(Event{Type: StepFinished, StepName: w.step}))
		w.step = ""
	}
}

// put completes an event, makes it fit the client, and writes it.
func (w *Writer) put(e Event) {
	about := map[string]any{"runId": w.run.ID}
	if !e.at.IsZero() {
		e.Timestamp = e.at.UnixMilli()
		about["at"] = e.at.UTC().Format(time.RFC3339Nano)
	}
	for k, v := range e.about {
		about[k] = v
	}
	e.Metadata = map[string]any{"agentmesh": about}
	w.out = append(w.out, w.fit(e))
}
