package openai

import (
	"encoding/json"
	"reflect"
	"strings"

	"agentmesh/agent"
)

// callDelta is a part of a call, as it stands in a stream or whole in a document.
type callDelta struct {
	Index    *int         `json:"index"`
	ID       string       `json:"id"`
	Function functionPart `json:"function"`

	Extra json.RawMessage `json:"extra_content"` // of Gemini: a call without it is refused later
}

type functionPart struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// call is a call that is being put together. Its id and name are set once.
type call struct {
	index int
	id    string
	name  string
	args  strings.Builder
	extra json.RawMessage
}

// unnamed is the name of a call that came without one: it is refused by that name, in everybody's sight.
const unnamed = "unnamed"

// takenIDs gives the ids of the calls that were made so far: some endpoints count anew in every answer, and a result
// belongs to one call.
func takenIDs(said []agent.Message) map[string]bool {
	taken := map[string]bool{}
	for _, m := range said {
		for _, c := range m.Calls {
			taken[c.ID] = true
		}
	}
	return taken
}

func (f *fold) call(part callDelta) {
	if part.ID == "" && part.Function.Name == "" && isNull(part.Function.Arguments) {
		return
	}
	target := f.target(part)
	if target.id == "" {
		target.id = part.ID
	}
	if target.name == "" {
		target.name = part.Function.Name
	}
	if isNull(target.extra) {
		target.extra = part.Extra
	}
	target.args.WriteString(argumentText(part.Function.Arguments))
}

// target finds the call that a part belongs to: by its id if that is known, by its index, or else the
// call begun last. A new id or a new name opens a call; so does a known id that comes with another index
// and a name, because then the endpoint gave one id twice.
func (f *fold) target(part callDelta) *call {
	var byID, byIndex, last *call
	for _, c := range f.calls {
		same := part.Index != nil && c.index == *part.Index
		if part.ID != "" && c.id == part.ID && (byID == nil || same) {
			byID = c
		}
		if same {
			byIndex = c
		}
		last = c
	}
	named := part.Function.Name != ""
	switch {
	case byID != nil && !(named && part.Index != nil && byID.index != *part.Index):
		return byID
	case byIndex != nil && !part.differs(byIndex):
		return byIndex
	case last != nil && part.ID == "" && !named:
		return last
	}
	c := &call{index: -1}
	if part.Index != nil {
		c.index = *part.Index
	}
	f.calls = append(f.calls, c)
	return c
}

// differs tells whether a part on a call's index is the head of another call.
func (p callDelta) differs(c *call) bool {
	if p.ID != "" {
		return c.id != "" && c.id != p.ID
	}
	return p.Function.Name != "" && c.name != "" && c.name != p.Function.Name
}

// argumentText takes arguments as text; an endpoint that sends an object gets its JSON taken.
func argumentText(raw json.RawMessage) string {
	var text string
	if isNull(raw) {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// unwrapped gives what came as arguments without the texts that some endpoints wrap around them.
func unwrapped(text string) string {
	var inner string
	for range 2 {
		if json.Unmarshal([]byte(text), &inner) != nil {
			break
		}
		text = inner
	}
	return strings.TrimSpace(text)
}

// arguments makes one JSON value of what came as arguments: nothing is {}, and of copies of an object, or an empty
// one before it, the object is taken. What is not one object stays a JSON text; the schema check says what is wrong
// with it.
func arguments(text string) json.RawMessage {
	if text == "" || text == "null" {
		return json.RawMessage(`{}`)
	}
	if one := onlyObject(text); one != nil {
		return one
	}
	raw, _ := json.Marshal(text) // a text always encodes
	return raw
}

// onlyObject gives the one object that a text holds, if it holds nothing else.
func onlyObject(text string) json.RawMessage {
	var found json.RawMessage
	var object map[string]any
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var raw json.RawMessage
		var next map[string]any
		if err := dec.Decode(&raw); err != nil {
			if rest := text[dec.InputOffset():]; strings.TrimSpace(rest) != "" {
				return nil
			}
			return found
		}
		switch {
		case json.Unmarshal(raw, &next) != nil || next == nil:
			return nil
		case len(object) == 0:
			found, object = raw, next
		case !reflect.DeepEqual(object, next):
			return nil
		}
	}
}
