package agui

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// maxResume is how many answers an input may carry.
const maxResume = 64

// Resume is a client's answer to an interrupt (AG-UI 1.0). A no is a resolved answer; cancelled means that
// nobody answered.
type Resume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// Answer is what a Resume says: yes or no to a call that waits for a yes, or the outcome of one of which nobody
// knows whether it happened. EditedArgs, which only a yes has, take the place of the call's arguments as a whole.
type Answer struct {
	Approved   bool
	Outcome    agent.Reply
	Reason     string
	EditedArgs json.RawMessage
	Remember   string // the id of one of the question's suggestions, which only a yes has
}

// Answer reads the payload: {approved, editedArgs?, reason?, remember?}, or just true or false; or {answer, reason?}, or just
// the answer as a text. Falsy answers are answers.
func (r Resume) Answer() (Answer, error) {
	if r.Status == "cancelled" {
		return Answer{Reason: "nobody answered"}, nil
	}
	if a, ok := plainAnswer(r.Payload); ok {
		return a, nil
	}
	var payload struct {
		Approved   *bool           `json:"approved"`
		EditedArgs json.RawMessage `json:"editedArgs"`
		Answer     *agent.Reply    `json:"answer"`
		Reason     string          `json:"reason"`
		Remember   string          `json:"remember"`
	}
	dec := json.NewDecoder(bytes.NewReader(r.Payload))
	dec.DisallowUnknownFields() // an edit that is misspelt must not count as none
	err := dec.Decode(&payload)
	edits := len(payload.EditedArgs) > 0 && !bytes.Equal(payload.EditedArgs, []byte("null"))
	switch {
	case err == nil && payload.Approved != nil && payload.Answer == nil:
		a := Answer{Approved: *payload.Approved, Reason: payload.Reason, Remember: payload.Remember}
		if a.Approved && edits {
			a.EditedArgs = payload.EditedArgs
		}
		return a, nil
	case err == nil && payload.Approved == nil && payload.Answer != nil && known(*payload.Answer) && !edits && payload.Remember == "":
		return Answer{Outcome: *payload.Answer, Reason: payload.Reason}, nil
	}
	return Answer{}, fault.New(fault.Invalid, "the answer to %s must be {\"approved\": true or false}, with a reason, editedArgs or remember if you like, or, "+
		"to the question whether a call happened, {\"answer\": \"happened\", \"did_not_happen\" or \"try_again\"}; and nothing else", r.InterruptID)
}

// plainAnswer reads a payload that is no object.
func plainAnswer(payload json.RawMessage) (Answer, bool) {
	var value any
	if json.Unmarshal(payload, &value) != nil {
		return Answer{}, false
	}
	switch v := value.(type) {
	case bool:
		return Answer{Approved: v}, true
	case string:
		return Answer{Outcome: agent.Reply(v)}, known(agent.Reply(v))
	}
	return Answer{}, false
}

func known(r agent.Reply) bool { return slices.Contains(agent.Replies(), r) }

func checkResume(list []Resume) error {
	if len(list) > maxResume {
		return fault.New(fault.TooLarge, "resume has more than %d answers", maxResume)
	}
	answered := map[string]bool{}
	for _, r := range list {
		switch {
		case answered[r.InterruptID]:
			return fault.New(fault.Invalid, "resume: %s is answered twice", r.InterruptID)
		case badID(r.InterruptID):
			return fault.New(fault.Invalid, "resume: an interruptId is missing or not fit to be one")
		case r.Status != "resolved" && r.Status != "cancelled":
			return fault.New(fault.Invalid, "resume: the status of %s must be resolved or cancelled", r.InterruptID)
		}
		if _, err := r.Answer(); err != nil {
			return err
		}
		answered[r.InterruptID] = true
	}
	return nil
}
