package rundb

import (
	"strings"

	"agentmesh/app/platform/text"
)

// indexWords cuts text into the words that are indexed: each Chinese character, each pair of
// neighbouring ones, and every run of other letters or digits in lower case.
func indexWords(s string) string {
	var words []string
	for _, run := range text.Runs(strings.ToLower(s)) {
		if !text.HasHan(run) {
			words = append(words, run)
			continue
		}
		han := []rune(run)
		for i := range han {
			words = append(words, string(han[i]))
			if i+1 < len(han) {
				words = append(words, string(han[i:i+2]))
			}
		}
	}
	return strings.Join(words, " ")
}

// queryWords cuts a query into words to look for: the pairs of a Chinese run, or its one character.
func queryWords(s string) []string {
	var words []string
	for _, run := range text.Runs(strings.ToLower(s)) {
		han := []rune(run)
		if !text.HasHan(run) || len(han) == 1 {
			words = append(words, run)
			continue
		}
		for i := range len(han) - 1 {
			words = append(words, string(han[i:i+2]))
		}
	}
	return words
}

// match writes words as an FTS5 query in which nothing is a sign of the query language.
func match(words []string, join string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, `"`+w+`"`) // runs hold letters and digits only
	}
	return strings.Join(quoted, " "+join+" ")
}
