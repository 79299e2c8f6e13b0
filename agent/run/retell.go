package run

import (
	"fmt"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/text"
)

// Sizes of what a summary is written from, in characters.
const (
	retoldAnswer = 2000
	retoldResult = 1000
	retoldArgs   = 500
)

// retell tells messages one a line, for whoever summarises them. Further lines of a message are indented, so
// that no message can pass for another one.
func retell(messages []agent.Message, zone *time.Location) []string {
	var out []string
	line := func(who, format string, args ...any) {
		out = append(out, who+": "+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  "))
	}
	for _, m := range messages {
		switch m.Role {
		case agent.User:
			line("person", "(%s) %s", saidAt(m.CreatedAt, zone), m.Text)
		case agent.Hint:
			line("program", "%s", m.Text)
		case agent.Tool:
			line("result", "%s", text.Clip(m.Text, retoldResult)+reference(m.Text))
		case agent.Assistant:
			if m.Text != "" {
				line("assistant", "%s", text.Clip(m.Text, retoldAnswer))
			}
			for _, c := range m.Calls {
				line("call", "%s %s", c.Name, text.Clip(string(c.Args), retoldArgs))
			}
		}
	}
	return out
}

// reference keeps the note of a cut result, which stands at its end.
func reference(result string) string {
	if at := strings.LastIndex(result, "\n[cut: "); at > retoldResult && hasCut(result[at:]) {
		return result[at:]
	}
	return ""
}

// within leaves out the oldest lines until the rest has no more tokens; of the newest one something stays.
func within(lines []string, most int) []string {
	used, from := 0, len(lines)
	for from > 0 {
		n := Tokens(lines[from-1]) + 1
		if used+n > most {
			break
		}
		used += n
		from--
	}
	if from == len(lines) && from > 0 {
		return []string{clipTokens(lines[from-1], most)}
	}
	return lines[from:]
}
