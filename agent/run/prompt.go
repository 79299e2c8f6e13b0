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
	if j.Run.Continues != "" && inputOf(j) == "" {
		return s.routedBefore(ctx, j.Run, on)
	}
	for _, r := range skills.Route(on, inputOf(j), previous) {
		out.Skills = append(out.Skills, agent.RoutedSkill{ID: r.ID, Name: r.Name, NameEn: r.NameEn, Reason: r.Reason})
		names = append(names, r.Capabilities...)
	}
	out.Tools = s.deps.Registry.Toolkit(names).Names()
	return out, nil
}

// routedBefore is what the run that this one goes on from was routed to: nobody has said anything since.
func (s *Service) routedBefore(ctx context.Context, r agent.Run, on []skills.Manifest) (agent.RoutedData, error) {
	earlier, err := s.deps.Store.Run(ctx, r.UserID, r.Continues)
	if err != nil {
		return agent.RoutedData{}, fmt.Errorf("route: %w", err)
	}
	var out agent.RoutedData
	var names []string
	for _, m := range on {
		if slices.Contains(earlier.Skills, m.ID) {
			out.Skills = append(out.Skills, agent.RoutedSkill{ID: m.ID, Name: m.Name, NameEn: m.NameEn, Reason: "goes on"})
			names = append(names, m.Capabilities...)
		}
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

// draft collects what the model is given: instructions, what is told of the past, this run so far, and the routed
// tools. In a last round it offers none.
func (s *Service) draft(ctx context.Context, j agent.Journal, last bool) (*draft, error) {
	on, off, err := s.deps.Market.Enabled(ctx, j.Run.UserID)
	if err != nil {
		return nil, fmt.Errorf("build prompt: %w", err)
	}
	past, err := s.deps.Store.Past(ctx, j.Run.UserID, j.Run.ThreadID, j.Run.Continues, HistoryLimit)
	if err != nil {
		return nil, fmt.Errorf("build prompt: %w", err)
	}
	hints, err := s.momentHints(ctx, j.Run, last)
	if err != nil {
		return nil, fmt.Errorf("build prompt: %w", err)
	}
	d := &draft{
		limits: limitsOf(s.size(j.Run)), factor: factor(past), zone: s.config.Zone, instructions: instructions(j.Run, on, off),
		summary: past.Summary.Text, hints: hints,
	}
	d.read(past, j.Run.Continues, current(j))
	d.bound()
	if !last {
		d.tools = append(slices.Clone(s.deps.Registry.Toolkit(j.Run.Tools).Definitions()), clientTools(j.Run)...)
		d.reader = s.deps.Registry.Toolkit([]string{ReadResult}).Definitions()
	}
	return d, nil
}

// toolkit is what a run may call: what was routed for it, and the reading of results that were cut.
func (s *Service) toolkit(r agent.Run) capability.Toolkit {
	return s.deps.Registry.Toolkit(append(slices.Clone(r.Tools), ReadResult))
}

func instructions(r agent.Run, on, off []skills.Manifest) string {
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
	return b.String()
}

// fromFirstTurn drops the messages before the first one of a user or of the program, which a limit may have cut off
// from their beginning.
func fromFirstTurn(messages []agent.Message) []agent.Message {
	i := slices.IndexFunc(messages, func(m agent.Message) bool { return m.Role == agent.User || m.Role == agent.Hint })
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
				out = append(out, agent.Message{ID: inv.ID, Role: agent.Tool, ToolCallID: inv.CallID, Text: inv.Words()})
			}
		}
	}
	return out
}
