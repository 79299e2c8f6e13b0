package agui

import (
	"bytes"
	"encoding/json"

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

// Answer is what a Resume says about a call that waits for a yes. EditedArgs, which only a yes has, take the
// place of the call's arguments as a whole.
type Answer struct {
	Approved   bool
	Reason     string
	EditedArgs json.RawMessage
}

// Answer reads the payload: {approved, editedArgs?, reason?}, or just true or false. Falsy answers are
// answers.
func (r Resume) Answer() (Answer, error) {
	if r.Status == "cancelled" {
		return Answer{Reason: "nobody answered"}, nil
	}
	var plain bool
	if json.Unmarshal(r.Payload, &plain) == nil && !bytes.Equal(bytes.TrimSpace(r.Payload), []byte("null")) {
		return Answer{Approved: plain}, nil
	}
	var payload struct {
		Approved   *bool           `json:"approved"`
		EditedArgs json.RawMessage `json:"editedArgs"`
		Reason     string          `json:"reason"`
	}
	dec := json.NewDecoder(bytes.NewReader(r.Payload))
	dec.DisallowUnknownFields() // an edit that is misspelt must not count as none
	if err := dec.Decode(&payload); err != nil || payload.Approved == nil {
		return Answer{}, fault.New(fault.Invalid, "the answer to %s must be {\"approved\": true or false}, with a reason or editedArgs if you like and nothing else", r.InterruptID)
	}
	a := Answer{Approved: *payload.Approved, Reason: payload.Reason}
	if a.Approved && !bytes.Equal(payload.EditedArgs, []byte("null")) {
		a.EditedArgs = payload.EditedArgs
	}
	return a, nil
}

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
