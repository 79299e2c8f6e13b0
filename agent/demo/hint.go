package demo

import (
	"regexp"
	"strings"
)

// hints are what the program that asks tells the model within a person's turn; no person said it.
var hints = regexp.MustCompile(`(?s)<hint>.*?</hint>`)

func withoutHints(words string) string { return strings.TrimSpace(hints.ReplaceAllString(words, "")) }
