package capability_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

func TestExecute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		handle func(context.Context, capability.Call) (json.RawMessage, error)
		status capability.Status
		stage  capability.Stage
		code   fault.Code
		result string
	}{
		{"succeeds", says(`{"a":1}`), capability.Succeeded, capability.StageReceipt, "", `{"a":1}`},
		{"no_result_is_an_empty_object", says(``), capability.Succeeded, capability.StageReceipt, "", `{}`},
		{"fails", fails(fault.New(fault.NotFound, "no such dish")), capability.Failed, capability.StageAttempt, fault.NotFound, `{"error":{"code":"not_found","message":"no such dish"}}`},
		{"foreign_error", fails(errors.New("hunter2")), capability.Failed, capability.StageAttempt, fault.Internal, `{"error":{"code":"internal","message":"internal error"}}`},
		{"denied_by_the_provider", fails(fault.New(fault.Denied, "no")), capability.Denied, capability.StageAttempt, fault.Denied, `{"error":{"code":"denied","message":"no"}}`},
		{"timeout_of_the_provider", fails(fault.New(fault.Timeout, "slow")), capability.TimedOut, capability.StageAttempt, fault.Timeout, `{"error":{"code":"timeout","message":"slow"}}`},
		{"panics", func(context.Context, capability.Call) (json.RawMessage, error) { panic("hunter2") }, capability.Failed, capability.StageAttempt, fault.Internal, `{"error":{"code":"internal","message":"the tool look broke"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{}
			p, _ := pipeline(t, l, look(tt.handle))
			got := p.Execute(t.Context(), call("look", `{"dish":"x"}`))
			wantReceipt(t, got.Receipt, tt.status, tt.stage, tt.code)
			wantJSON(t, got.Result, tt.result)
			if got.Receipt.InvocationID != "inv-1" || got.Receipt.Kind != capability.Local || got.Receipt.Replayed {
				t.Errorf("got %+v", got.Receipt)
			}
			if len(l.records) != 0 {
				t.Errorf("got %d records: the caller writes the record of its own step", len(l.records))
			}
		})
	}
}

func TestExecute_UnknownCapability(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, look(says(`{}`)))
	got := p.Execute(t.Context(), call("gone", `{}`))
	wantReceipt(t, got.Receipt, capability.Failed, capability.StageResolve, fault.NotFound)
}

func TestExecute_Timeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]time.Duration{0: capability.DefaultTimeout, 3 * time.Second: 3 * time.Second} {
			d := look(func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
				<-ctx.Done()
				return nil, errors.New("connection closed") // many clients do not say why
			})
			d.Timeout = limit
			p, _ := pipeline(t, &ledger{}, d)
			began := time.Now()
			got := p.Execute(t.Context(), call("look", `{"dish":"x"}`))
			wantReceipt(t, got.Receipt, capability.TimedOut, capability.StageAttempt, fault.Timeout)
			if time.Since(began) != want {
				t.Errorf("got %s, want %s", time.Since(began), want)
			}
		}
	})
}

func TestExecute_Cancel(t *testing.T) {
	t.Parallel()
	settled := false
	ctx, cancel := context.WithCancel(t.Context())
	d := look(func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, fault.New(fault.Unavailable, "connection closed")
	})
	d.Settle = func(context.Context, capability.Call, json.RawMessage, error) (json.RawMessage, []capability.Change, error) {
		settled = true
		return nil, nil, nil
	}
	p, _ := pipeline(t, &ledger{}, d)
	got := p.Execute(ctx, call("look", `{"dish":"x"}`))
	wantReceipt(t, got.Receipt, capability.Cancelled, capability.StageAttempt, fault.Cancelled)
	if settled || got.Changes != nil {
		t.Error("a call whose caller gave up was settled: its owner repeats or denies it")
	}
}

func TestExecute_Settle(t *testing.T) {
	t.Parallel()
	soldOut := fault.New(fault.Conflict, "sold out")
	tests := []struct {
		name            string
		handle          func(context.Context, capability.Call) (json.RawMessage, error)
		result          string
		err             error
		seenFailure     bool
		status          capability.Status
		wantResult      string
		settleSeesInput string
	}{
		{"has_the_last_word_on_success", says(`{"quote":1}`), `{"orderId":"o1"}`, nil, false, capability.Succeeded, `{"orderId":"o1"}`, `{"quote":1}`},
		{"may_refuse_a_success", says(`{"quote":1}`), ``, soldOut, false, capability.Failed, `{"error":{"code":"conflict","message":"sold out"}}`, `{"quote":1}`},
		{"sees_a_failure", fails(soldOut), ``, soldOut, true, capability.Failed, `{"error":{"code":"conflict","message":"sold out"}}`, ``},
		{"sees_a_panic", func(context.Context, capability.Call) (json.RawMessage, error) { panic("bug") }, ``, soldOut, true, capability.Failed, `{"error":{"code":"conflict","message":"sold out"}}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := ask(tt.handle)
			d.Settle = func(ctx context.Context, c capability.Call, result json.RawMessage, failure error) (json.RawMessage, []capability.Change, error) {
				deadline, ok := ctx.Deadline()
				if (failure != nil) != tt.seenFailure || string(result) != tt.settleSeesInput || c.ID != "inv-1" || !ok || time.Until(deadline) <= 0 {
					t.Errorf("settle got %s, %v, deadline %v", result, failure, ok)
				}
				return json.RawMessage(tt.result), []capability.Change{changed("settled")}, tt.err
			}
			p, _ := pipeline(t, &ledger{}, d)
			got := p.Execute(t.Context(), call("ask", `{"dish":"x"}`))
			if got.Receipt.Status != tt.status || len(got.Changes) != 1 || got.Changes[0] != changed("settled") {
				t.Errorf("got %s, %v, want %s with its change", got.Receipt.Status, got.Changes, tt.status)
			}
			wantJSON(t, got.Result, tt.wantResult)
		})
	}
}

// TestExecute_SettlesAfterTheCallerHasGone: the effect is made, so its outcome is recorded.
func TestExecute_SettlesAfterTheCallerHasGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	d := ask(func(context.Context, capability.Call) (json.RawMessage, error) {
		cancel()
		return json.RawMessage(`{}`), nil
	})
	d.Settle = func(ctx context.Context, _ capability.Call, result json.RawMessage, _ error) (json.RawMessage, []capability.Change, error) {
		return result, []capability.Change{changed("settled")}, ctx.Err()
	}
	p, _ := pipeline(t, &ledger{}, d)
	got := p.Execute(ctx, call("ask", `{"dish":"x"}`))
	if got.Receipt.Status != capability.Succeeded || len(got.Changes) != 1 {
		t.Errorf("got %+v", got.Receipt)
	}
}

func TestExecute_SettlePanics(t *testing.T) {
	t.Parallel()
	d := ask(says(`{}`))
	d.Settle = func(context.Context, capability.Call, json.RawMessage, error) (json.RawMessage, []capability.Change, error) {
		panic("bug")
	}
	p, _ := pipeline(t, &ledger{}, d)
	got := p.Execute(t.Context(), call("ask", `{"dish":"x"}`))
	wantReceipt(t, got.Receipt, capability.Failed, capability.StageAttempt, fault.Internal)
}

func TestAdmit_KnownCall(t *testing.T) {
	t.Parallel()
	l := &ledger{finishedFunc: func(userID, id string) (capability.Finished, bool, error) {
		if userID == "broken" {
			return capability.Finished{}, false, errors.New("disk")
		}
		return capability.Finished{
			Args: json.RawMessage(`{"dish":"x"}`), Result: json.RawMessage(`{"first":true}`),
			Receipt: capability.Receipt{InvocationID: id, Status: capability.Succeeded, Stage: capability.StageReceipt},
		}, userID == "anna", nil
	}}
	ran := 0
	p, kit := pipeline(t, l, look(func(context.Context, capability.Call) (json.RawMessage, error) {
		ran++
		return json.RawMessage(`{}`), nil
	}))

	got := p.Admit(t.Context(), kit, call("look", `{"dish":"x"}`))
	if got.Refusal == nil || !got.Refusal.Replayed || got.Refusal.Status != capability.Succeeded || string(got.Result) != `{"first":true}` {
		t.Errorf("same again: got %+v, %s", got.Refusal, got.Result)
	}
	if result, err := p.Invoke(t.Context(), call("look", `{"dish":"x"}`)); err != nil || string(result) != `{"first":true}` || ran != 0 {
		t.Errorf("invoke again: got %s, %v after %d runs", result, err, ran)
	}
	got = p.Admit(t.Context(), kit, call("look", `{"dish":"y"}`))
	wantReceipt(t, *got.Refusal, capability.Failed, capability.StageIdempotency, fault.Conflict)
	broken, other := call("look", `{"dish":"x"}`), call("look", `{"dish":"x"}`)
	broken.UserID, other.UserID = "broken", "bob"
	got = p.Admit(t.Context(), kit, broken)
	wantReceipt(t, *got.Refusal, capability.Failed, capability.StageIdempotency, fault.Internal)
	if got := p.Admit(t.Context(), kit, other); got.Refusal != nil {
		t.Errorf("another user: got %+v, want a call of its own", got.Refusal)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	d := ask(says(`{}`))
	d.Dismiss = func(c capability.Call, reason string) []capability.Change {
		return []capability.Change{changed(c.ID + " " + reason)}
	}
	p, _ := pipeline(t, &ledger{}, d, look(says(`{}`)))
	got := p.Close(call("ask", `{}`), capability.Denied, "rejected", "the person said no")
	wantReceipt(t, got.Receipt, capability.Denied, capability.StageConfirm, "rejected")
	wantJSON(t, got.Result, `{"message":"the person said no","reason":"rejected","status":"DENIED"}`)
	if len(got.Changes) != 1 || got.Changes[0] != changed("inv-1 rejected") {
		t.Errorf("got %v", got.Changes)
	}
	got = p.Close(call("ask", `{}`), capability.Indeterminate, "interrupted", "nobody knows")
	wantJSON(t, got.Result, `{"message":"nobody knows","reason":"interrupted","status":"INDETERMINATE"}`)
	if got.Changes != nil {
		t.Errorf("got %v for a call that may have happened, want nothing dismissed", got.Changes)
	}
	if got := p.Close(call("look", `{}`), capability.Denied, "expired", "late"); got.Changes != nil {
		t.Errorf("got %v, want no change", got.Changes)
	}
	if got := p.Close(call("gone", `{}`), capability.Denied, "policy", "no"); got.Receipt.Status != capability.Denied {
		t.Errorf("got %+v", got.Receipt)
	}
}

func TestInvoke_Audit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, call, args string
		handle           func(context.Context, capability.Call) (json.RawMessage, error)
		status           capability.Status
		stage            capability.Stage
		code             fault.Code
	}{
		{"succeeds", "look", `{"dish":"x"}`, says(`{"a":1}`), capability.Succeeded, capability.StageReceipt, ""},
		{"fails", "look", `{"dish":"x"}`, fails(fault.New(fault.Conflict, "no")), capability.Failed, capability.StageAttempt, fault.Conflict},
		{"panics", "look", `{"dish":"x"}`, func(context.Context, capability.Call) (json.RawMessage, error) { panic(1) }, capability.Failed, capability.StageAttempt, fault.Internal},
		{"invalid_arguments", "look", `{}`, says(`{}`), capability.Invalid, capability.StageValidate, fault.Invalid},
		{"asks_a_person", "ask", `{"dish":"x"}`, says(`{}`), capability.Denied, capability.StageConfirm, fault.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{}
			p, _ := pipeline(t, l, look(tt.handle), ask(tt.handle))
			result, err := p.Invoke(t.Context(), call(tt.call, tt.args))
			if fault.CodeOf(err) != tt.code {
				t.Errorf("got %s, %v, want %q", result, err, tt.code)
			}
			if len(l.records) != 1 {
				t.Fatalf("got %d records, want 1", len(l.records))
			}
			r := l.records[0]
			wantReceipt(t, r.Receipt, tt.status, tt.stage, tt.code)
			if r.UserID != "anna" || r.RunID != "run-1" || r.ThreadID != "t1" || r.Source != "model" || r.Input != tt.args || (err == nil && r.Output != string(result)) || !r.At.Equal(at) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestInvoke_Unknown(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, look(says(`{}`)))
	if _, err := p.Invoke(t.Context(), call("gone", `{}`)); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestInvoke_AuditsACancelledCall(t *testing.T) {
	t.Parallel()
	l := &ledger{auditErr: errors.New("disk full")} // and an audit that fails does not change the answer
	ctx, cancel := context.WithCancel(t.Context())
	p, _ := pipeline(t, l, look(func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
		cancel()
		return nil, ctx.Err()
	}))
	_, err := p.Invoke(ctx, call("look", `{"dish":"x"}`))
	if fault.CodeOf(err) != fault.Cancelled || len(l.records) != 1 || l.records[0].Status != capability.Cancelled {
		t.Errorf("got %v, %+v", err, l.records)
	}
}

func TestRecordOf_ClipsWhatIsLong(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, look(says(`{}`)))
	long := strings.Repeat("鱼", 2000)
	r := p.RecordOf(t.Context(), call("look", `"`+long+`"`), capability.Receipt{}, json.RawMessage(`"`+long+`"`))
	for _, got := range []string{r.Input, r.Output} {
		if n := len([]rune(got)); n != 1025 || !strings.HasSuffix(got, "鱼…") {
			t.Errorf("got %d characters ending %q", n, got[len(got)-9:])
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, look(says(`{}`)))
	if d, ok := p.Lookup("look"); !ok || d.Name != "look" {
		t.Errorf("got %+v, %v", d, ok)
	}
	if _, ok := p.Lookup("gone"); ok {
		t.Error("found what is not there")
	}
}
