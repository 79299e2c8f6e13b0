package wrap_test

import (
	"testing"

	"agentmesh/app/platform/wrap"
)

func TestTheFirstWrapperIsOutermost(t *testing.T) {
	t.Parallel()
	named := func(name string) wrap.Wrapper[func(string) string] {
		return func(next func(string) string) func(string) string {
			return func(s string) string { return name + "(" + next(s) + ")" }
		}
	}
	f := wrap.Around(func(s string) string { return s }, named("a"), named("b"))
	if got := f("x"); got != "a(b(x))" {
		t.Errorf("got %s, want a(b(x))", got)
	}
	if got := wrap.Around(func(s string) string { return s })("x"); got != "x" {
		t.Errorf("without wrappers: got %s, want x", got)
	}
}
