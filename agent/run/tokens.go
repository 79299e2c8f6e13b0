package run

import (
	"unicode"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/capability"
)

// What a prompt has beside its texts, in tokens: the frame of a message, of a call and of a tool, and what
// begins the answer. Endpoints differ; these are on the high side.
const (
	messageFrame = 5
	callFrame    = 10
	toolFrame    = 16
	answerFrame  = 4
)

// Tokens estimates how many tokens a text has, rather some too many than too few: the tokenizers of the common
// models take four letters, two digits or signs, or one Chinese character to a token, or more (notes on
// runtimes, 2.5: what counts bytes/2.5 for Chinese finds half of what there is).
func Tokens(s string) int {
	quarters := 0
	for _, r := range s {
		quarters += quartersOf(r)
	}
	return (quarters + 3) / 4
}

// quartersOf weighs one character, in quarters of a token.
func quartersOf(r rune) int {
	switch {
	case r == ' ' || (r < utf8.RuneSelf && unicode.IsLetter(r)):
		return 1
	case r < utf8.RuneSelf:
		return 2
	case r < 0x800: // two bytes: Greek, Cyrillic, Arabic, accents
		return 3
	case r > 0xFFFF: // four bytes: emoji and rare characters, cut into bytes
		return 12
	}
	return 4
}

func tokensOf(m agent.Message) int {
	n := messageFrame + Tokens(m.Text) + Tokens(m.Reasoning) + Tokens(m.ToolCallID)
	for _, c := range m.Calls {
		n += callFrame + Tokens(c.ID) + Tokens(c.Name) + Tokens(string(c.Args)) + Tokens(string(c.Extra))
	}
	return n
}

func tokensOfAll(messages []agent.Message) int {
	n := 0
	for _, m := range messages {
		n += tokensOf(m)
	}
	return n
}

func tokensOfTools(tools []capability.Definition) int {
	n := 0
	for _, d := range tools {
		n += toolFrame + Tokens(d.Name) + Tokens(d.Description) + Tokens(string(d.InputSchema))
	}
	return n
}

// tokensOfPrompt estimates a whole request.
func tokensOfPrompt(p agent.Prompt) int {
	return answerFrame + tokensOfAll(p.Messages) + tokensOfTools(p.Tools)
}

// clipTokens gives the beginning of a text that has no more tokens.
func clipTokens(s string, most int) string {
	quarters := 0
	for i, r := range s {
		if quarters += quartersOf(r); quarters > 4*most {
			return s[:i]
		}
	}
	return s
}
