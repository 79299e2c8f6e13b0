package capability_test

import (
	"context"
	"encoding/json"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// What is put around calls is around each attempt, within its limit and its net for bugs, and around nothing else.
func TestWrap_IsAroundEachAttemptOnly(t *testing.T) {
	t.Parallel()
	p, kit := pipeline(t, &ledger{}, look(says(`{"a":1}`)))
	var seen []string
	p.Wrap(func(next capability.Handler) capability.Handler {
		return func(ctx context.Context, c capability.Call) (json.RawMessage, error) {
			_, limited := ctx.Deadline()
			result, err := next(ctx, c)
			seen = append(seen, c.Name+" "+string(c.Args)+" "+string(result))
			if !limited || err != nil {
				t.Errorf("limited: %t, %v", limited, err)
			}
			return result, err
		}
	})
	if a := p.Admit(t.Context(), kit, call("look", `{"dish":7}`)); a.Refusal == nil {
		t.Error("a call that does not fit was admitted")
	}
	got := p.Execute(t.Context(), call("look", `{"dish":"x"}`))
	wantReceipt(t, got.Receipt, capability.Succeeded, capability.StageReceipt, "")
	if len(seen) != 1 || seen[0] != `look {"dish":"x"} {"a":1}` {
		t.Errorf("got %q, want the one attempt", seen)
	}
	p.Wrap(func(capability.Handler) capability.Handler {
		return func(context.Context, capability.Call) (json.RawMessage, error) { panic("a bug") }
	})
	got = p.Execute(t.Context(), call("look", `{"dish":"x"}`))
	wantReceipt(t, got.Receipt, capability.Failed, capability.StageAttempt, fault.Internal)
}
