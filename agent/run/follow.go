package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
)

// Heartbeat is how often a silent stream shows that it is alive; the journal is read again with it.
const Heartbeat = 15 * time.Second

// Cursor is a place in a run's stream: the number of the last event seen and, if a message is being written there, how
// many of its characters were seen.
type Cursor struct {
	Seq   int64
	Chars int
}

// String writes a cursor as an SSE id.
func (c Cursor) String() string {
	if c.Chars == 0 {
		return fmt.Sprint(c.Seq)
	}
	return fmt.Sprintf("%d.%d", c.Seq, c.Chars)
}

// ParseCursor reads an SSE id. An empty one is the beginning.
func ParseCursor(id string) (Cursor, error) {
	if id == "" {
		return Cursor{}, nil
	}
	seq, chars, inMessage := strings.Cut(id, ".")
	var c Cursor
	var err error
	if c.Seq, err = strconv.ParseInt(seq, 10, 64); err == nil && inMessage {
		c.Chars, err = strconv.Atoi(chars)
	}
	if err != nil || c.Seq < 0 || c.Chars < 0 {
		return Cursor{}, fmt.Errorf("%q is no place in a stream", text.Clip(id, 40))
	}
	return c, nil
}

// Update is one thing that a watcher sees: an event, a piece of text, or with neither a sign of life.
type Update struct {
	At        Cursor
	Event     *agent.Event
	MessageID string
	Delta     string
}

// Follow shows a run from a cursor on: the journal first, then what happens, until the run's end. Any
// number may follow; a slow one takes larger pieces and slows nobody.
func (s *Service) Follow(ctx context.Context, runID string, from Cursor) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		leave := s.live.watch(runID)
		f := &follower{s: s, runID: runID, seq: from.Seq, chars: from.Chars, yield: yield}
		ended := f.follow(ctx)
		if leave() == 0 {
			s.left(runID, ended)
		}
	}
}

// follower is one watcher's place.
type follower struct {
	s     *Service
	runID string
	yield func(Update, error) bool

	seq     int64
	said    agent.Transcript // since the watcher came
	chars   int              // characters seen of the message that is being written
	ended   bool
	stopped bool
}

// follow tells whether the run has ended.
func (f *follower) follow(ctx context.Context) bool {
	beat := time.NewTimer(Heartbeat)
	defer beat.Stop()
	if err := f.resume(ctx); err != nil {
		f.yield(Update{}, err)
		return false
	}
	for {
		messageID, said, changed := f.s.live.look(f.runID)
		if err := f.readEvents(ctx); err != nil {
			f.yield(Update{}, err)
			return false
		}
		if f.ended || f.stopped {
			return f.ended
		}
		if err := f.s.live.troubled(f.runID); err != nil {
			f.yield(Update{}, err)
			return false
		}
		if f.said.Writing() != "" && f.said.Writing() == messageID && !f.show(messageID, said) {
			return false
		}
		select {
		case <-changed:
		case <-beat.C:
			beat.Reset(Heartbeat)
			if !f.yield(Update{At: f.place()}, nil) {
				return false
			}
		case <-ctx.Done():
			f.yield(Update{}, context.Cause(ctx))
			return false
		}
	}
}

// resume takes in what the watcher has seen, for the message that is open at its place.
func (f *follower) resume(ctx context.Context) error {
	if f.seq == 0 {
		f.chars = 0
		return nil
	}
	events, err := f.s.deps.Store.Events(ctx, f.runID, 0)
	if err != nil {
		return fmt.Errorf("follow run %s: %w", f.runID, err)
	}
	at := slices.IndexFunc(events, func(e agent.Event) bool { return e.Seq == f.seq })
	if at < 0 {
		return fault.New(fault.Invalid, "the run has no event %d", f.seq)
	}
	for _, e := range events[:at+1] {
		if err := f.said.Apply(e); err != nil {
			return fmt.Errorf("follow run %s: %w", f.runID, err)
		}
	}
	f.ended = events[at].Type == agent.RunEnded
	if f.said.Writing() == "" {
		f.chars = 0
	}
	return nil
}

func (f *follower) readEvents(ctx context.Context) error {
	events, err := f.s.deps.Store.Events(ctx, f.runID, f.seq)
	if err != nil {
		return fmt.Errorf("follow run %s: %w", f.runID, err)
	}
	for _, e := range events {
		if err := f.event(e); err != nil || f.stopped {
			return err
		}
	}
	return nil
}

// event shows an event; before a message's end, what is missing of its text.
func (f *follower) event(e agent.Event) error {
	open := f.said.Writing()
	if err := f.said.Apply(e); err != nil {
		return fmt.Errorf("follow run %s: %w", f.runID, err)
	}
	switch e.Type {
	case agent.ModelCalled:
		f.chars = 0
	case agent.MessageEnded:
		var ended agent.MessageData
		_ = json.Unmarshal(e.Data, &ended) // it was read just now
		if open != ended.MessageID {       // the log of an older program
			f.chars = 0
		}
		if !f.show(ended.MessageID, ended.Text) {
			return nil
		}
		f.chars = 0
	case agent.RunEnded:
		f.ended = true
	}
	f.seq = e.Seq
	f.stopped = !f.yield(Update{At: f.place(), Event: &e}, nil)
	return nil
}

// show gives the part of a message's text that this watcher has not seen.
func (f *follower) show(messageID, said string) bool {
	rest := said
	for range f.chars {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	if rest == "" {
		return true
	}
	f.chars += utf8.RuneCountInString(rest)
	f.stopped = !f.yield(Update{At: f.place(), MessageID: messageID, Delta: rest}, nil)
	return !f.stopped
}

func (f *follower) place() Cursor { return Cursor{Seq: f.seq, Chars: f.chars} }

// left is called when a run's last watcher has gone. A run that goes on with nobody watching is cancelled
// after a time that depends on who started it, not on who looked, unless a question is open (design,
// section 4).
func (s *Service) left(runID string, ended bool) {
	if ended {
		s.live.forget(runID)
		return
	}
	s.active.goWork(func(base context.Context) {
		j, err := s.load(base, runID)
		if err != nil {
			s.stillLeft(base, runID, err)
			return
		}
		grace, limited := s.config.Leave[j.Run.Origin]
		if !limited {
			return
		}
		time.AfterFunc(grace, func() {
			s.active.goWork(func(base context.Context) {
				if s.live.watchers(runID) == 0 {
					s.stillLeft(base, runID, s.abandon(base, runID))
				}
			})
		})
	})
}

// stillLeft ends the watch over a run that nobody came back to.
func (s *Service) stillLeft(ctx context.Context, runID string, err error) {
	if err != nil && !errors.Is(err, agent.ErrNotFound) {
		flow.Log(ctx).Error().Err(err).Str("runId", runID).Msg("run that nobody watches goes on")
	}
	s.live.forget(runID)
}

// abandon cancels a run that its clients have left, unless it waits for a person or has ended.
func (s *Service) abandon(ctx context.Context, runID string) error {
	j, err := s.load(ctx, runID)
	if errors.Is(err, agent.ErrNotFound) {
		return nil // deleted with its conversation
	}
	if err != nil || j.Run.Status == agent.AwaitingConfirmation || j.Run.Status.Final() {
		return err
	}
	_, err = s.requestCancel(ctx, runID, agent.ClientLeft)
	return err
}
