package agent

import "time"

// Summary stands for the older messages of a conversation in its prompts (D-141). It covers whole runs, from the
// first one of the conversation to the one that Covers names, and of these the successful ones (D-85).
type Summary struct {
	RunID    string // the run that had it made
	Covers   string // the newest run that it stands for
	Text     string
	Messages int // how many messages it took in, besides an older summary
	Before   int // tokens of the prompt without it, as estimated
	After    int // tokens of the prompt with it
	At       time.Time
}

// Past is what a prompt of a conversation is made from: the newest summary, and all messages of successful runs
// that are newer.
type Past struct {
	Summary  Summary   // without a text: there is none
	Messages []Message // oldest first, tool results in their places
	Reported int64     // tokens of the newest prompt as its endpoint counted them; 0: not known
	Guessed  int64     // tokens of the same prompt as they were estimated

	GoesOn map[string]string // of a run that goes on from answers of a client: the run that it continues
}

// The ways to make a prompt shorter.
const (
	Summarised = "summary"   // a model wrote what the older messages come to
	Truncated  = "truncated" // the oldest messages were left out of one prompt
)

// CompressedData tells that a prompt was made shorter, and how.
type CompressedData struct {
	LLMCallID string `json:"llmCallId,omitempty"` // of the call that wrote the summary
	How       string `json:"how"`
	Before    int    `json:"beforeTokens"`
	After     int    `json:"afterTokens"`
	Messages  int    `json:"messages"` // that are no longer shown as they were said
	Reason    string `json:"reason,omitempty"`
}
