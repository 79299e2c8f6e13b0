package run

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/skills"
)

//go:embed prompts/system.md
var systemPrompt string

// HistoryLimit and ResultLimit bound a prompt.
const (
	HistoryLimit = 60       // messages of earlier runs in a prompt
	ResultLimit  = 16 << 10 // bytes of one tool result in a prompt
)

// route decides which skills, and so which tools, this message gets. It reads the user's installations
// anew, so a switch holds for the next message (D-52).
func (s *Service) route(ctx context.Context, j agent.Journal) (agent.RoutedData, error) {
	on, _, err := s.deps.Market.Enabled(ctx, j.Run.UserID)
	if err != nil {
		return agent.RoutedData{}, fmt.Errorf("route: %w", err)
	}
	previous, err := s.previousSkills(ctx, j.Run)
	if err != nil {
		return agent.RoutedData{}, err
	}
	var out agent.RoutedData
	var names []string
	for _, r := range skills.Route(on, inputOf(j), previous) {
		out.Skills = append(out.Skills, agent.RoutedSkill{ID: r.ID, Name: r.Name, NameEn: r.NameEn, Reason: r.Reason})
		names = append(names, r.Capabilities...)
	}
	out.Tools = s.deps.Registry.Toolkit(names).Names()
	return out, nil
}

func (s *Service) previousSkills(ctx context.Context, r agent.Run) ([]string, error) {
	runs, _, err := s.deps.Store.Runs(ctx, r.UserID, r.ThreadID, agent.Page{Limit: 10})
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	for _, earlier := range runs {
		if earlier.ID != r.ID && earlier.Status == agent.Succeeded {
			return earlier.Skills, nil
		}
	}
	return nil, nil
}

func inputOf(j agent.Journal) string {
	for _, m := range j.Messages {
		if m.Role == agent.User {
			return m.Text
		}
	}
	return ""
}

// prompt builds what the model is given: instructions, successful history (D-85), this run so far, and
// the routed tools. In a last round it offers none.
func (s *Service) prompt(ctx context.Context, j agent.Journal, last bool) (agent.Prompt, error) {
	on, off, err := s.deps.Market.Enabled(ctx, j.Run.UserID)
	if err != nil {
		return agent.Prompt{}, fmt.Errorf("build prompt: %w", err)
	}
	history, err := s.deps.Store.History(ctx, j.Run.UserID, j.Run.ThreadID, true, HistoryLimit)
	if err != nil {
		return agent.Prompt{}, fmt.Errorf("build prompt: %w", err)
	}
	messages := []agent.Message{{Role: agent.System, Text: instructions(j.Run, on, off, last)}}
	messages = append(messages, fromFirstUser(history)...)
	messages = append(messages, current(j)...)
	p := agent.Prompt{Messages: capResults(hintsAsUser(messages))}
	if !last {
		p.Tools = s.deps.Registry.Toolkit(j.Run.Tools).Definitions()
	}
	return p, nil
}

func instructions(r agent.Run, on, off []skills.Manifest, last bool) string {
	var b strings.Builder
	b.WriteString(systemPrompt)
	for _, m := range on {
		if slices.Contains(r.Skills, m.ID) {
			fmt.Fprintf(&b, "\n## Skill: %s\n%s\n", m.NameEn, m.Instructions)
		}
	}
	for _, m := range off {
		fmt.Fprintf(&b, "\nThe person has turned the skill %q (%s) off. If they ask for it, say that it can be switched on in the skill list.\n", m.NameEn, m.Name)
	}
	if last {
		b.WriteString("\nNo more tools can be called in this run. Say briefly what was found, and what is still open.\n")
	}
	return b.String()
}

// fromFirstUser drops the messages before the first user message, which a limit may have cut off from
// their beginning.
func fromFirstUser(messages []agent.Message) []agent.Message {
	i := slices.IndexFunc(messages, func(m agent.Message) bool { return m.Role == agent.User })
	if i < 0 {
		return nil
	}
	return messages[i:]
}

// current lists the messages of this run with each call's result straight after its answer, in the
// order of the calls.
func current(j agent.Journal) []agent.Message {
	var out []agent.Message
	for _, m := range j.Messages {
		if m.Abandoned {
			continue
		}
		out = append(out, m.AsRun(j.Invocations))
		for _, inv := range j.Invocations {
			if m.Role == agent.Assistant && inv.MessageID == m.ID {
				out = append(out, agent.Message{Role: agent.Tool, ToolCallID: inv.CallID, Text: string(inv.Told())})
			}
		}
	}
	return out
}

// capResults bounds each tool result, and gives a call without one a result that says so: no prompt may
// hold a call without an answer.
func capResults(messages []agent.Message) []agent.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		if m.Role != agent.Tool {
			continue
		}
		switch {
		case m.Text == "":
			out[i].Text = string(capability.NoResult())
		case len(m.Text) > ResultLimit:
			out[i].Text = strings.ToValidUTF8(m.Text[:ResultLimit], "") + "\n[cut: the result was longer; ask for less]"
		}
	}
	return out
}
