package demo

import (
	"fmt"
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// asksSummary is how the instruction of a request for a summary begins.
const asksSummary = "You write the summary that takes the place of the older messages of a conversation"

// The parts of a summary, in their order.
const (
	partTask      = "## Task overview"
	partState     = "## Current state"
	partFound     = "## Discoveries"
	partNext      = "## Next steps"
	partPreserved = "## Context to preserve"
)

// How much a summary by rules holds: lines of a part, and characters of a line.
const (
	summaryLines = 8
	keptLines    = 40 // of what is to be preserved
	summaryLine  = 160
)

// isSummary tells whether a request is for a summary.
func isSummary(messages []message) bool {
	return len(messages) == 2 && messages[0].Role == "system" && strings.HasPrefix(string(messages[0].Content), asksSummary)
}

// summarise writes a summary by rules: what was asked, answered, called and ordered last, and what the person
// wanted remembered. What an earlier summary preserved goes on; of everything else the newest lines do.
func summarise(request string) string {
	earlier := between(request, "<earlier-summary>\n", "\n</earlier-summary>")
	parts := map[string][]string{}
	for _, part := range []string{partTask, partState, partFound, partPreserved} {
		parts[part] = linesOf(earlier, part)
	}
	add := func(part, line string) {
		line = "- " + text.Clip(strings.Join(strings.Fields(line), " "), summaryLine)
		if !slices.Contains(parts[part], line) {
			parts[part] = append(parts[part], line)
		}
	}
	for _, line := range strings.Split(between(request, "<conversation>\n", "\n</conversation>"), "\n") {
		who, said, _ := strings.Cut(line, ": ")
		switch who {
		case "person":
			add(partTask, said)
		case "assistant":
			add(partState, said)
		case "result":
			add(partFound, said)
		case "call":
			if tool, _, _ := strings.Cut(said, " "); tool == toolRemember || tool == toolForget || tool == toolOrder {
				add(partPreserved, said)
			}
		}
	}
	if _, running, ok := strings.Cut(request, "Still running in the background: "); ok {
		running, _, _ = strings.Cut(running, "\n")
		parts[partNext] = []string{"- " + running}
	}
	var b strings.Builder
	for _, part := range []string{partTask, partState, partFound, partNext, partPreserved} {
		lines, most := parts[part], summaryLines
		if part == partPreserved {
			most = keptLines
		}
		fmt.Fprintf(&b, "%s\n%s\n", part, strings.Join(lines[max(0, len(lines)-most):], "\n"))
	}
	return strings.TrimSpace(b.String())
}

// linesOf gives the lines of a part of a summary.
func linesOf(summary, part string) []string {
	_, rest, ok := strings.Cut(summary, part+"\n")
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	for _, line := range strings.Split(rest, "\n") {
		if strings.HasPrefix(line, "- ") {
			out = append(out, line)
		}
	}
	return out
}

// between gives what stands between two marks, the first of the one and the last of the other.
func between(s, begin, end string) string {
	_, rest, ok := strings.Cut(s, begin)
	if !ok {
		return ""
	}
	if i := strings.LastIndex(rest, end); i >= 0 {
		return rest[:i]
	}
	return ""
}
