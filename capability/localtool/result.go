package localtool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// Results gives stored results of calls; one that is of another conversation is agent.ErrNotFound.
type Results interface {
	ResultOf(ctx context.Context, userID, threadID, id string) ([]byte, error)
}

// ReadResult reads on in a result that was too long for the prompt, in pages of at most so many bytes of JSON.
func ReadResult(name string, results Results, page func() int) capability.Definition {
	return capability.Definition{
		Name: name, Kind: capability.Local, Provider: "local", ReadOnly: true, Idempotent: true,
		Description: "Reads on in a tool result of this conversation that was cut, from a byte offset. The id and the offset are in the note where it was cut.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":200},"offset":{"type":"integer","minimum":0}},"required":["id"],"additionalProperties":false}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct {
				ID     string
				Offset int
			}](call)
			if err != nil {
				return nil, err
			}
			whole, err := results.ResultOf(ctx, call.UserID, call.ThreadID, args.ID)
			if errors.Is(err, agent.ErrNotFound) {
				return nil, fault.New(fault.NotFound, "this conversation has no result %q", text.Clip(args.ID, 80))
			}
			if err != nil {
				return nil, err
			}
			return resultPage(args.ID, whole, args.Offset, page())
		},
	}
}

// resultPage gives a part of a result, whole characters only, and where the next part begins.
func resultPage(id string, whole []byte, offset, most int) (json.RawMessage, error) {
	if offset > len(whole) {
		return nil, fault.New(fault.Invalid, "the result has %d bytes, and none at offset %d", len(whole), offset)
	}
	from := wholeRune(whole, offset)
	for size := most; ; size = size * 3 / 4 { // as JSON within JSON it grows
		to := wholeRune(whole, min(from+size, len(whole)))
		out := map[string]any{"id": id, "offset": from, "bytes": len(whole), "text": strings.ToValidUTF8(string(whole[from:to]), "�")}
		if to < len(whole) {
			out["next"] = to
		}
		raw, err := json.Marshal(out)
		if err != nil || len(raw) <= most+len(id)+100 {
			return raw, err
		}
	}
}

// wholeRune gives the beginning of the character that a place is in.
func wholeRune(b []byte, at int) int {
	for back := 0; at < len(b) && at > 0 && back < utf8.UTFMax && !utf8.RuneStart(b[at]); back++ {
		at--
	}
	return at
}
