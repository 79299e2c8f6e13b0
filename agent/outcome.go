package agent

import "time"

// Kind says what a question asks. Waits of a run are one thing with kinds (design, section 1).
type Kind string

// The kinds of questions.
const (
	AskConfirm Kind = "confirm" // may this call run?
	AskOutcome Kind = "outcome" // did this call happen? (design, section 4)
)

// Reply is what a person says to a question of kind AskOutcome.
type Reply string

// The answers. Nothing else is one, and nothing is taken for one.
const (
	Happened     Reply = "happened"
	DidNotHappen Reply = "did_not_happen"
	TryAgain     Reply = "try_again"
)

// Replies lists those that there are.
func Replies() []Reply { return []Reply{Happened, DidNotHappen, TryAgain} }

// Attempt is what is known of a call of which nobody knows whether it happened.
type Attempt struct {
	Number  int       `json:"number"` // how often it was tried, this one included
	Began   time.Time `json:"began"`
	Why     string    `json:"why"`     // why it is not known: Interrupted, or the code of the fault that came instead of an answer
	Message string    `json:"message"` // the same in words
}

// Interrupted is an Attempt's Why when the program ended while the call ran.
const Interrupted = "interrupted"
