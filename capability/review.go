package capability

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"agentmesh/app/platform/fault"
)

// reviewTime bounds the look that is taken between a person's yes and the call.
const (
	reviewTime  = 5 * time.Second  // without it, the call runs as it was asked about
	reviewEdits = 40 * time.Second // without it, nothing runs
)

// Review is what has become of a call that a person has agreed to. The zero value: nothing else than they
// saw.
type Review struct {
	// Prepared is what will happen instead. Its changes are written in the transaction of the decision.
	Prepared
	// Ask is set when it holds something that the person has not seen, such as a price: they are asked again.
	Ask bool
	// Drop gives back what the review holds, when it comes to nothing. May be nil.
	Drop func(ctx context.Context)
}

// Editable tells whether a person may change the arguments of a call before they agree. What is prepared
// before the question must be prepared anew.
func (d Definition) Editable() bool {
	return d.Prepare == nil || d.Review != nil
}

// Review takes a call that a person has agreed to through validation, if they edited its arguments, and lets
// its capability look whether it is still what they saw.
func (p *Pipeline) Review(ctx context.Context, call Call, edited bool) (Review, error) {
	e, ok := p.registry.entries[call.Name]
	limit := reviewTime
	if edited {
		limit = reviewEdits
		switch {
		case !ok:
			return Review{}, unknownTool(call.Name, Toolkit{})
		case !e.Editable():
			return Review{}, fault.New(fault.Invalid, "the arguments of %s cannot be edited; reject it, and say what you want instead", call.Name)
		}
		if err := validate(e.schema, call.Args); err != nil {
			return Review{}, err
		}
		if v := Judge(e.Definition, call.Args, call.Mode, p.rules, nil); v.Effect == Deny {
			return Review{}, fault.New(fault.Denied, "%s", v.Reason)
		}
	}
	if e.Review == nil {
		return Review{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return review(ctx, e.Definition, call)
}

func review(ctx context.Context, d Definition, call Call) (r Review, err error) {
	defer caught(ctx, d.Name, &err)
	return d.Review(ctx, call)
}

// Digest names arguments, so that what was seen and what is run can be compared.
func Digest(args json.RawMessage) string {
	sum := sha256.Sum256(args)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// SameArgs tells whether two sets of arguments say the same, however they are written. Numbers are compared
// as they are written: 1 and 1.0 differ.
func SameArgs(a, b json.RawMessage) bool {
	return bytes.Equal(canonical(a), canonical(b))
}

// canonical writes JSON with the members of objects in order; what is no JSON stays as it is.
func canonical(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
