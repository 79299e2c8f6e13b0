package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app/platform/sse"
)

// watcher follows one run over all restarts: it comes back with the last place that it saw, and keeps
// nothing of a group of events whose place it did not see.
type watcher struct {
	w          *world
	user       string
	run        string
	seen       []group
	last       string // the last place
	pending    []agui.Event
	reconnects int
	ended      bool
	onQuestion func(question)
}

// question is what a visitor reads of one.
type question struct {
	ID           string `json:"confirmationId"`
	Kind         string `json:"kind"` // "outcome" asks whether a call happened
	RunID        string `json:"runId"`
	InvocationID string `json:"invocationId"`
}

// group is what one place of the stream brought.
type group struct {
	at     string
	events []agui.Event
}

func (w *world) watcher(user, run string) *watcher {
	wa := &watcher{w: w, user: user, run: run}
	w.tally.note(func() { w.tally.watchers = append(w.tally.watchers, wa) })
	return wa
}

// follow reads a stream, and then the run's events again and again, until the run has ended or ctx has.
func (wa *watcher) follow(ctx context.Context, stream io.ReadCloser) {
	for {
		if stream != nil {
			leave := context.AfterFunc(ctx, func() { _ = stream.Close() })
			wa.read(stream)
			leave()
			_ = stream.Close()
		}
		if wa.ended || ctx.Err() != nil {
			return
		}
		stream = wa.again(ctx)
		if stream == nil && !pause(ctx.Done(), 20*time.Millisecond) {
			return
		}
	}
}

// again opens the run's events after the last place.
func (wa *watcher) again(ctx context.Context) io.ReadCloser {
	header := http.Header{}
	if wa.last != "" {
		header.Set("Last-Event-ID", wa.last)
	}
	resp, err := wa.w.send(ctx, wa.user, http.MethodGet, "/api/v1/runs/"+wa.run+"/events", "", header)
	switch {
	case err != nil:
		return nil
	case resp.StatusCode == http.StatusOK:
		wa.reconnects++
		return resp.Body
	}
	raw, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode < http.StatusInternalServerError {
		wa.w.tally.oddity(fmt.Sprintf("I09: a watcher of %s at %q was refused with %d: %s", wa.run, wa.last, resp.StatusCode, raw))
		wa.ended = true
	}
	return nil
}

func (wa *watcher) read(stream io.Reader) {
	wa.pending = nil
	for raw, err := range sse.Read(stream) {
		if err != nil {
			return
		}
		var e agui.Event
		if err := json.Unmarshal([]byte(raw.Data), &e); err != nil {
			return // the last one, cut off by the kill
		}
		wa.pending = append(wa.pending, e)
		if raw.ID == "" {
			continue
		}
		wa.seen = append(wa.seen, group{raw.ID, wa.pending})
		wa.last = raw.ID
		wa.tell(wa.pending)
		wa.pending = nil
		if e.Type == agui.RunFinished || e.Type == agui.RunError {
			wa.ended = true
			return
		}
	}
}

func (wa *watcher) tell(events []agui.Event) {
	for _, e := range events {
		var q question
		if e.Name == agui.ConfirmationRequired && wa.onQuestion != nil && json.Unmarshal(e.Value, &q) == nil {
			wa.onQuestion(q)
		}
	}
}

// judge compares what a watcher saw with what is stored: each event exactly once, in order, and each
// message's text as it is stored.
func (wa *watcher) judge(r agent.Run, stored []agent.Event) error {
	want, texts, err := expected(r, stored)
	if err != nil {
		return err
	}
	got := []string{}
	said := map[string]*strings.Builder{}
	for _, g := range wa.seen {
		for _, e := range g.events {
			switch e.Type {
			case agui.TextMessageStart:
				if said[e.MessageID] != nil {
					return fmt.Errorf("message %s began twice", e.MessageID)
				}
				said[e.MessageID] = &strings.Builder{}
			case agui.TextMessageContent:
				if said[e.MessageID] == nil {
					return fmt.Errorf("message %s had text before it began", e.MessageID)
				}
				said[e.MessageID].WriteString(e.Delta)
			case agui.TextMessageEnd:
			default:
				got = append(got, place(g.at)+" "+sign(e))
			}
		}
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got) && !wa.ended:
			return nil // it had not seen the rest yet
		case i >= len(got):
			return fmt.Errorf("missed %s", want[i])
		case i >= len(want):
			return fmt.Errorf("saw %s, which is not stored", got[i])
		case got[i] != want[i]:
			return fmt.Errorf("saw %s where %s is stored", got[i], want[i])
		}
	}
	return sameTexts(said, texts, wa.ended)
}

func sameTexts(said map[string]*strings.Builder, texts map[string]agent.MessageData, ended bool) error {
	for id, m := range texts {
		text := ""
		if said[id] != nil {
			text = said[id].String()
		}
		if !m.Abandoned && ended && text != m.Text {
			return fmt.Errorf("message %s was shown as %q and is stored as %q", id, text, m.Text)
		}
	}
	for id := range said {
		if _, known := texts[id]; !known && ended {
			return fmt.Errorf("message %s was shown and is not stored", id)
		}
	}
	return nil
}

// place is the number of the stored event in a place of the stream.
func place(at string) string {
	seq, _, _ := strings.Cut(at, ".")
	return seq
}

// sign is what must be the same of an event however often it is shown. Seconds left are not.
func sign(e agui.Event) string {
	var value struct {
		ID     string `json:"confirmationId"`
		Status string `json:"status"`
	}
	_ = json.Unmarshal(e.Value, &value)
	return strings.TrimSpace(strings.Join([]string{e.Type, e.Name, e.StepName, e.ToolCallID, e.ToolCallName, e.Content, e.Code, value.ID, value.Status}, " "))
}

// expected translates what is stored as the program does for a watcher who was there from the beginning.
func expected(r agent.Run, stored []agent.Event) ([]string, map[string]agent.MessageData, error) {
	says, w := agui.NewTranslator(time.Now), agui.NewWriter(r)
	texts := map[string]agent.MessageData{}
	var out []string
	for _, e := range stored {
		events, err := says.Event(e)
		if err != nil {
			return nil, nil, errors.Join(errors.New("the journal cannot be translated"), err)
		}
		for _, line := range w.Write(events...) {
			var shown agui.Event
			if err := json.Unmarshal([]byte(line.String()), &shown); err != nil {
				return nil, nil, fmt.Errorf("event %d cannot be read: %w", e.Seq, err)
			}
			switch shown.Type {
			case agui.TextMessageStart, agui.TextMessageContent, agui.TextMessageEnd:
			default:
				out = append(out, fmt.Sprint(e.Seq, " ", sign(shown)))
			}
		}
		if e.Type != agent.MessageEnded {
			continue
		}
		var m agent.MessageData
		if err := json.Unmarshal(e.Data, &m); err != nil {
			return nil, nil, err
		}
		texts[m.MessageID] = m
	}
	return out, texts, nil
}
