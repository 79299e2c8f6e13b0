// Package text holds what Chinese and English text need alike: telling the scripts apart, finding whole
// words, shortening, and the written forms of weekdays and money. It must not know what a text is about.
package text

import (
	"strings"
	"unicode"
)

// IsHan tells whether a character is Chinese.
func IsHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// HasHan tells whether a Chinese character occurs in s.
func HasHan(s string) bool { return strings.ContainsFunc(s, IsHan) }

// HasWord tells whether a word occurs in s: a Chinese one anywhere, since Chinese has no spaces, another
// one as a whole word. Case and the form of an apostrophe do not matter.
func HasWord(s, word string) bool { return WordAt(s, word) >= 0 }

// WordAt is HasWord, and says where the word stands first: an offset to compare with others of the same
// s, not to cut at, since folding case may change lengths. It is -1 if the word does not occur.
func WordAt(s, word string) int {
	s, word = fold(s), fold(word)
	if word == "" {
		return -1
	}
	if HasHan(word) {
		return strings.Index(s, word)
	}
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(word)
		if !latinAt(s, start-1) && !latinAt(s, end) {
			return start
		}
		from = end
	}
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "’", "'") }

func latinAt(s string, at int) bool {
	if at < 0 || at >= len(s) {
		return false
	}
	b := s[at]
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

// Runs splits s at everything that is no letter or digit, and between Chinese and other letters.
func Runs(s string) []string {
	var runs []string
	from, han := -1, false
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r)
		if from >= 0 && (!inside || IsHan(r) != han) {
			runs, from = append(runs, s[from:i]), -1
		}
		if inside && from < 0 {
			from, han = i, IsHan(r)
		}
	}
	if from >= 0 {
		runs = append(runs, s[from:])
	}
	return runs
}

// Cut gives the first n characters of s.
func Cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Clip is Cut with … behind what was shortened.
func Clip(s string, n int) string {
	short := Cut(s, n)
	if len(short) < len(s) {
		short += "…"
	}
	return short
}
