package run

import (
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
)

// TestAsTurns: no prompt holds the role, or two user messages in a row because of it.
func TestAsTurns(t *testing.T) {
	t.Parallel()
	of := func(roles string) (out []agent.Message) {
		for i, c := range roles {
			role := map[rune]agent.Role{'s': agent.System, 'u': agent.User, 'a': agent.Assistant, 't': agent.Tool, 'h': agent.Hint}[c]
			out = append(out, agent.Message{Role: role, Text: string(rune('A' + i))})
		}
		return out
	}
	for given, want := range map[string]string{
		"suauh": "S:A U:B A:C U:D\n\n<hint>E</hint>", "suahu": "S:A U:B A:C U:<hint>D</hint>\n\nE",
		"suath": "S:A U:B A:C T:D U:<hint>E</hint>", "suahhu": "S:A U:B A:C U:<hint>D</hint>\n\n<hint>E</hint>\n\nF", "suau": "S:A U:B A:C U:D",
	} {
		var got []string
		for _, m := range asTurns(of(given), time.UTC) {
			got = append(got, strings.ToUpper(string(m.Role[:1]))+":"+m.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got  %q\nwant %q", given, strings.Join(got, " "), want)
		}
	}
}
