package demo

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A hint is what the program tells the model in the place of a person: it is no wish, and nobody said it.
var (
	hintForm = regexp.MustCompile(`(?s)<hint>(.*?)</hint>`)
	taskForm = regexp.MustCompile(`(?s)^task (\S+): \S+ [^{]*: (\{.*)$`)
)

// cutHints takes the hints out of what the user's turn holds.
func cutHints(said string) (words string, hints []string) {
	for _, found := range hintForm.FindAllStringSubmatch(said, -1) {
		hints = append(hints, strings.TrimSpace(found[1]))
	}
	return strings.TrimSpace(hintForm.ReplaceAllString(said, "")), hints
}

// outcomeIn reads from a hint how a task ended.
func outcomeIn(hint string) (taskID, result string) {
	found := taskForm.FindStringSubmatch(hint)
	if found == nil {
		return "", ""
	}
	var body struct {
		Result json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal([]byte(found[2]), &body)
	return found[1], string(body.Result)
}

// told takes in the outcome of a task. When the exchange of its call has been answered and nobody has said anything
// since, it is taken up again: the answer is due now.
func told(exchanges []exchange, hint string, alone bool) []exchange {
	id, outcome := outcomeIn(hint)
	if id == "" {
		return exchanges
	}
	for i := len(exchanges) - 1; i >= 0; i-- {
		for j, c := range exchanges[i].calls {
			if c.result.TaskID != id {
				continue
			}
			exchanges[i].calls[j].result = readResult(c.tool, outcome)
			if alone && exchanges[i].reply != "" {
				again := exchanges[i]
				again.reply = ""
				exchanges = append(exchanges, again)
			}
			return exchanges
		}
	}
	return exchanges
}
