package run

import (
	"strings"

	"agentmesh/agent"
)

// hintsAsUser makes hints part of the user's turn, marked, since no endpoint knows the role. A hint joins the user
// message beside it: strict templates refuse two in a row.
func hintsAsUser(messages []agent.Message) []agent.Message {
	var out []agent.Message
	hinted := false // whether the last one holds a hint
	for _, m := range messages {
		hint := m.Role == agent.Hint
		if hint {
			m.Role, m.Text = agent.User, "<hint>"+strings.ReplaceAll(m.Text, "</hint>", "")+"</hint>"
		}
		last := len(out) - 1
		if m.Role == agent.User && last >= 0 && out[last].Role == agent.User && (hint || hinted) {
			out[last].Text += "\n\n" + m.Text
			hinted = true
			continue
		}
		out, hinted = append(out, m), hint
	}
	return out
}
