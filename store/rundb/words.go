package rundb

import (
	"strings"
	"unicode"
)

// indexWords cuts text into the words that are indexed: each Chinese character, each pair of
// neighbouring ones, and every run of other letters or digits in lower case.
func indexWords(text string) string {
	var words []string
	for _, run := range runsOf(text) {
		if !isHan(run[0]) {
			words = append(words, string(run))
			continue
		}
		for i := range run {
			words = append(words, string(run[i]))
			if i+1 < len(run) {
				words = append(words, string(run[i:i+2]))
			}
		}
	}
	return strings.Join(words, " ")
}

// queryWords cuts a query into words to look for: the pairs of a Chinese run, or its one character.
func queryWords(text string) []string {
	var words []string
	for _, run := range runsOf(text) {
		if !isHan(run[0]) || len(run) == 1 {
			words = append(words, string(run))
			continue
		}
		for i := range len(run) - 1 {
			words = append(words, string(run[i:i+2]))
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

// runsOf splits text into runs of Chinese characters and runs of other letters and digits.
func runsOf(text string) [][]rune {
	var runs [][]rune
	var run []rune
	flush := func() {
		if len(run) > 0 {
			runs = append(runs, run)
			run = nil
		}
	}
	for _, r := range strings.ToLower(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if len(run) > 0 && isHan(run[len(run)-1]) != isHan(r) {
			flush()
		}
		run = append(run, r)
	}
	flush()
	return runs
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
