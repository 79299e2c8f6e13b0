package run

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/capability"
)

// ResultLimit is the most bytes of one tool result in a prompt; a small context takes less.
const ResultLimit = 16 << 10

// ReadResult is the capability that reads what was cut from a result. It is offered where something was.
const ReadResult = "read_result"

// resultLimit is how many bytes of a result fit a context: an eighth of it, at four bytes a token.
func resultLimit(size int) int { return min(ResultLimit, size/2) }

// ResultPage is how many bytes one page of ReadResult may have, as JSON, so that it is not cut in its turn.
func ResultPage(size int) int { return max(min(8<<10, resultLimit(size)-1<<10), 256) }

// cutResult bounds a result to about n bytes, and says how to read the rest; one that is shorter than these words stays. A
// call without a result gets one that says so: no prompt may hold a call without an answer.
func cutResult(m agent.Message, n int) agent.Message {
	switch {
	case m.Role != agent.Tool:
		return m
	case m.Text == "":
		m.Text = string(capability.NoResult())
	case len(m.Text) > n:
		end := n
		for end > 0 && !utf8.RuneStart(m.Text[end]) {
			end--
		}
		if cut := strings.ToValidUTF8(m.Text[:end], "�") + cutNote(m, end); len(cut) < len(m.Text) {
			m.Text = cut
		}
	}
	return m
}

// cutNote stands where something was cut.
func cutNote(m agent.Message, shown int) string {
	if m.ID == "" {
		return fmt.Sprintf("\n[cut: %d of %d bytes are shown]", shown, len(m.Text))
	}
	return fmt.Sprintf("\n[cut: %d of %d bytes are shown; the rest: %s {\"id\":%q,\"offset\":%d}]", shown, len(m.Text), ReadResult, m.ID, shown)
}

func cutResults(messages []agent.Message, n int) []agent.Message {
	out := make([]agent.Message, 0, len(messages))
	for _, m := range messages {
		out = append(out, cutResult(m, n))
	}
	return out
}

// hasCut tells whether a text speaks of something that ReadResult reads.
func hasCut(s string) bool { return strings.Contains(s, ReadResult) }
