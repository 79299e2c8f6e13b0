package run

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"agentmesh/agent"
)

// What the program tells the model stands in a user's turn between these marks, and never in the system prompt:
// that stays the same from turn to turn, so that an endpoint need not read it anew.
const (
	hintOpen  = "<hint>"
	hintClose = "</hint>"
)

// hintTag finds the marks of a hint, however they are written.
var hintTag = regexp.MustCompile(`(?i)<(\s*/?\s*hint)`)

// plain takes from a text that comes from elsewhere what would look like a hint of the program.
func plain(s string) string { return hintTag.ReplaceAllString(s, "‹$1") }

func hint(s string) string { return hintOpen + plain(s) + hintClose }

// saidAt tells when a person said something. Each message of a person carries its own, which stays the same in all
// later prompts.
func saidAt(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("Monday 2006-01-02 15:04") + " (" + zone.String() + ")"
}

// asTurns writes messages as an endpoint takes them: hints become part of the user's turn that follows or
// precedes them, since strict endpoints refuse two messages of a user in a row, and nobody else's words can pass
// for a hint.
func asTurns(messages []agent.Message, zone *time.Location) []agent.Message {
	out := make([]agent.Message, 0, len(messages))
	for _, m := range messages {
		switch m.Role {
		case agent.Hint:
			m = agent.Message{Role: agent.User, Text: hint(m.Text)}
		case agent.User:
			m.Text = plain(m.Text)
			if !m.CreatedAt.IsZero() {
				m.Text += "\n\n" + hint(saidAt(m.CreatedAt, zone))
			}
		case agent.Tool, agent.Assistant:
			m.Text = plain(m.Text)
		}
		if last := len(out) - 1; m.Role == agent.User && last >= 0 && out[last].Role == agent.User {
			out[last].Text += "\n\n" + m.Text
			continue
		}
		out = append(out, m)
	}
	return out
}

// addHints puts what holds at the moment into the last turn of a user.
func addHints(messages []agent.Message, hints []string) []agent.Message {
	if len(hints) == 0 {
		return messages
	}
	text := hint(strings.Join(hints, "\n"))
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == agent.User {
			messages[i].Text += "\n\n" + text
			return messages
		}
	}
	return append(messages, agent.Message{Role: agent.User, Text: text})
}

const (
	lastRoundHint = "No more tools can be called in this run. Say briefly what was found, and what is still open."
	goOnHint      = "Go on from here: results that were waited for have come in above."
	fullHint      = "The context is nearly full: older messages will soon be replaced by a summary. Ask tools for no more than is needed."
)

// momentHints tell what holds for this round.
func (s *Service) momentHints(ctx context.Context, r agent.Run, last bool) ([]string, error) {
	var out []string
	running, err := s.runningTasks(ctx, r)
	if err != nil {
		return nil, err
	}
	if told := clientContext(r); told != "" {
		out = append(out, told)
	}
	if len(running) > 0 {
		out = append(out, "Still running in the background: "+strings.Join(running, "; "))
	}
	if last {
		out = append(out, lastRoundHint)
	}
	return out, nil
}

// runningTasks lists what goes on in the background of a conversation, in words.
func (s *Service) runningTasks(ctx context.Context, r agent.Run) ([]string, error) {
	tasks, err := s.deps.Store.RunningTasks(ctx, r.UserID, r.ThreadID)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	out := make([]string, 0, len(tasks))
	for _, t := range tasks {
		out = append(out, t.ID+" ("+t.Capability+" since "+saidAt(t.StartedAt, s.config.Zone)+")")
	}
	return out, nil
}
