package capability_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// TestReview_ValidatesEdits: what a person put in is checked like what a model gave; a plain yes is not.
func TestReview_ValidatesEdits(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, ask(says(`{}`)))
	for args, ok := range map[string]bool{
		`{"dish":"rice","quantity":2}`: true, `{"dish":"rice","quantity":0}`: false, `{"quantity":2}`: false,
		`{"dish":"rice","price":1}`: false, `[]`: false, `null`: false, `{} {}`: false, ``: false,
	} {
		_, err := p.Review(t.Context(), call("ask", args), true)
		if (err == nil) != ok || (!ok && fault.CodeOf(err) != fault.Invalid) {
			t.Errorf("edited to %q: got %v, want accepted %v", args, err, ok)
		}
		if _, err := p.Review(t.Context(), call("ask", args), false); err != nil {
			t.Errorf("a plain yes to %q: got %v", args, err)
		}
	}
	if _, err := p.Review(t.Context(), call("gone", `{}`), true); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a tool that is gone: got %v", err)
	}
}

// TestReview_WhatWasPreparedMustBeAgain: a capability that prepares, and has no review, cannot be edited.
func TestReview_WhatWasPreparedMustBeAgain(t *testing.T) {
	t.Parallel()
	d := ask(says(`{}`))
	if !look(says(`{}`)).Editable() || !d.Editable() {
		t.Error("what is not prepared can be edited, whatever makes it ask")
	}
	d.Prepare = func(context.Context, capability.Call) (capability.Prepared, error) { return capability.Prepared{}, nil }
	p, _ := pipeline(t, &ledger{}, d)
	_, err := p.Review(t.Context(), call("ask", `{"dish":"rice"}`), true)
	if fault.CodeOf(err) != fault.Invalid || d.Editable() {
		t.Errorf("got %v, editable %v", err, d.Editable())
	}
	d.Review = func(_ context.Context, c capability.Call) (capability.Review, error) {
		return capability.Review{Ask: true, Prepared: capability.Prepared{Summary: c.Args, Changes: []capability.Change{changed("x")}}}, nil
	}
	p, _ = pipeline(t, &ledger{}, d)
	got, err := p.Review(t.Context(), call("ask", `{"dish":"rice"}`), true)
	if err != nil || !got.Ask || string(got.Summary) != `{"dish":"rice"}` || len(got.Changes) != 1 || !d.Editable() {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestReview_Bounded: a plain yes is not kept waiting for long, and a broken review is an error.
func TestReview_Bounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ask(says(`{}`))
		d.Review = func(ctx context.Context, _ capability.Call) (capability.Review, error) {
			<-ctx.Done()
			return capability.Review{}, ctx.Err()
		}
		p, _ := pipeline(t, &ledger{}, d)
		for edited, want := range map[bool]time.Duration{false: 5 * time.Second, true: 40 * time.Second} {
			began := time.Now()
			_, err := p.Review(t.Context(), call("ask", `{"dish":"rice"}`), edited)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != want {
				t.Errorf("edited %v: got %v after %s, want %s", edited, err, took, want)
			}
		}
	})
	d := ask(says(`{}`))
	d.Review = func(context.Context, capability.Call) (capability.Review, error) { panic("bug") }
	p, _ := pipeline(t, &ledger{}, d)
	if _, err := p.Review(t.Context(), call("ask", `{"dish":"rice"}`), true); fault.CodeOf(err) != fault.Internal {
		t.Errorf("got %v, want internal", err)
	}
}

func TestRecordOf_Digests(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, ask(says(`{}`)))
	c := call("ask", `{"dish":"rice"}`)
	if got := p.RecordOf(t.Context(), c, capability.Receipt{}, nil); got.ArgsDigest != capability.Digest(c.Args) || got.ProposedDigest != "" {
		t.Errorf("got %+v", got)
	}
	c.Proposed = json.RawMessage(`{"dish":"soup"}`)
	if got := p.RecordOf(t.Context(), c, capability.Receipt{}, nil); got.ArgsDigest != capability.Digest(c.Args) || got.ProposedDigest != capability.Digest(c.Proposed) {
		t.Errorf("got %+v, want both digests", got)
	}
}

func TestSameArgs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":{"c":[1,2]}}`, ` { "b" : {"c":[1, 2]}, "a":1 } `, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{`{"a":"\u4e00"}`, `{"a":"一"}`, true},
		{`{"a"`, `{"a"`, true},
		{`{"a"`, `{}`, false},
	} {
		if got := capability.SameArgs(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
