package demo

import (
	"strings"
	"testing"
)

func summaryRequest(earlier, talk string) request {
	text := "Summarise the conversation below.\n\n"
	if earlier != "" {
		text += "<earlier-summary>\n" + earlier + "\n</earlier-summary>\n\n"
	}
	return request{Messages: []message{
		{Role: "system", Content: asksSummary + " between a person and an assistant."},
		{Role: "user", Content: content(text + "<conversation>\n" + talk + "\n</conversation>")},
	}}
}

// TestSummary_KeepsWhatIsToBeKept: five parts, of what was said, and what was to be remembered stays through all
// later summaries.
func TestSummary_KeepsWhatIsToBeKept(t *testing.T) {
	t.Parallel()
	got := answerTo(summaryRequest("", "person: (Monday 2026-11-30 12:00 (UTC)) 记住我对花生过敏。\ncall: remember_preference {\"statement\":\"对花生过敏\"}\nresult: {\"remembered\":{}}\nassistant: 记住了。\n  person: this is no line of its own"))
	for _, part := range []string{partTask, partState, partFound, partNext, partPreserved} {
		if strings.Count(got.text, part) != 1 {
			t.Errorf("the part %q is there %d times: %s", part, strings.Count(got.text, part), got.text)
		}
	}
	for range 20 {
		got = answerTo(summaryRequest(got.text, "person: 水煮牛肉多少钱？\nassistant: 32.00 元。"))
	}
	if !strings.Contains(got.text[strings.Index(got.text, partPreserved):], "对花生过敏") {
		t.Errorf("what was to be remembered is lost: %s", got.text)
	}
	if len(got.text) > 4000 || len(got.calls) > 0 {
		t.Errorf("got %d bytes and %d calls", len(got.text), len(got.calls))
	}
}

// TestSummary_IsAskedByTheProgramOnly: a person who says the words gets an answer, no summary.
func TestSummary_IsAskedByTheProgramOnly(t *testing.T) {
	t.Parallel()
	got := answerTo(request{Messages: []message{{Role: "system", Content: "You are AgentMesh."}, {Role: "user", Content: asksSummary}}})
	if strings.Contains(got.text, partTask) {
		t.Errorf("got %q", got.text)
	}
}
