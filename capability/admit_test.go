package capability_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

func TestAdmit_Resolve(t *testing.T) {
	t.Parallel()
	hidden := look(says(`{}`))
	hidden.Name, hidden.Hidden = "reserve_stock", true
	p, kit := pipeline(t, &ledger{}, look(says(`{}`)), hidden)
	for _, name := range []string{"", "nothing", "reserve_stock", "look<|channel|>"} {
		got := p.Admit(t.Context(), kit, call(name, `{"dish":"x"}`))
		if got.Refusal == nil {
			t.Fatalf("%q was admitted", name)
		}
		wantReceipt(t, *got.Refusal, capability.Invalid, capability.StageResolve, fault.NotFound)
		if !strings.Contains(string(got.Result), `look`) || strings.Contains(string(got.Result), "[\\\"reserve_stock") {
			t.Errorf("got %s, want the names that exist", got.Result)
		}
	}
}

func TestAdmit_Validate(t *testing.T) {
	t.Parallel()
	p, kit := pipeline(t, &ledger{}, look(says(`{}`)), ask(says(`{}`)))
	bad := []string{
		``, `null`, `[]`, `"text"`, `7`, `{`, `{"dish":"x"}{"dish":"y"}`, `{"dish":"x"} more`, `{}`, `{"dish":""}`, `{"dish":7}`,
		`{"dish":"x","quantity":0}`, `{"dish":"x","quantity":-1}`, `{"dish":"x","quantity":2.5}`, `{"dish":"x","quantity":"两"}`,
		`{"dish":"x","quantity":100000000}`, `{"dish":"x","more":1}`, `"{\"dish\":\"x\"}"`, "```json\n{\"dish\":\"x\"}\n```",
		`{"dish":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
	}
	for _, args := range bad {
		for _, name := range []string{"look", "ask"} {
			got := p.Admit(t.Context(), kit, call(name, args))
			if got.Refusal == nil {
				t.Fatalf("%s(%.40s) was admitted", name, args)
			}
			wantReceipt(t, *got.Refusal, capability.Invalid, capability.StageValidate, fault.Invalid)
			if got.Ask || len(got.Result) > 2048 || !utf8.Valid(got.Result) {
				t.Errorf("%.40s: got ask %v, %d bytes of result", args, got.Ask, len(got.Result))
			}
		}
	}
	for _, args := range []string{`{"dish":"x"}`, ` {"dish":"水煮牛肉","quantity":20} `, `{"dish":"x","quantity":2.0}`} {
		if got := p.Admit(t.Context(), kit, call("look", args)); got.Refusal != nil || got.Ask || got.Definition.Name != "look" {
			t.Errorf("%s: got %+v, want admitted", args, got.Refusal)
		}
	}
}

func TestAdmit_AsksBeforeItRuns(t *testing.T) {
	t.Parallel()
	d := ask(func(context.Context, capability.Call) (json.RawMessage, error) {
		t.Error("the capability ran before anybody said yes")
		return nil, nil
	})
	p, kit := pipeline(t, &ledger{}, d)
	if got := p.Admit(t.Context(), kit, call("ask", `{"dish":"x"}`)); got.Refusal != nil || !got.Ask || got.Prepared.Summary != nil {
		t.Errorf("got %+v", got)
	}
}

func TestAdmit_Prepare(t *testing.T) {
	t.Parallel()
	d := ask(says(`{}`))
	var err error
	d.Prepare = func(_ context.Context, c capability.Call) (capability.Prepared, error) {
		return capability.Prepared{Summary: json.RawMessage(`{"total":"32.00"}`), Changes: []capability.Change{changed(c.ID)}}, err
	}
	p, kit := pipeline(t, &ledger{}, d)
	got := p.Admit(t.Context(), kit, call("ask", `{"dish":"x"}`))
	if got.Refusal != nil || !got.Ask || string(got.Prepared.Summary) != `{"total":"32.00"}` || got.Prepared.Changes[0] != changed("inv-1") {
		t.Errorf("got %+v", got)
	}
	for want, failure := range map[capability.Status]error{
		capability.Failed: fault.New(fault.Conflict, "sold out"), capability.Denied: fault.New(fault.Denied, "not you"),
		capability.TimedOut: context.DeadlineExceeded, capability.Cancelled: context.Canceled,
	} {
		err = failure
		got := p.Admit(t.Context(), kit, call("ask", `{"dish":"x"}`))
		if got.Refusal == nil || got.Ask || got.Prepared.Changes != nil {
			t.Fatalf("%v: got %+v, want a refusal", failure, got)
		}
		wantReceipt(t, *got.Refusal, want, capability.StagePrepare, fault.CodeOf(failure))
	}
}

func TestAdmit_PreparePanics(t *testing.T) {
	t.Parallel()
	d := ask(says(`{}`))
	d.Prepare = func(context.Context, capability.Call) (capability.Prepared, error) { panic("bug") }
	p, kit := pipeline(t, &ledger{}, d)
	got := p.Admit(t.Context(), kit, call("ask", `{"dish":"x"}`))
	if got.Refusal == nil {
		t.Fatal("a broken prepare was admitted")
	}
	wantReceipt(t, *got.Refusal, capability.Failed, capability.StagePrepare, fault.Internal)
}

func TestAdmit_PrepareHasALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := ask(says(`{}`))
		d.Timeout = 3 * time.Second
		d.Prepare = func(ctx context.Context, _ capability.Call) (capability.Prepared, error) {
			<-ctx.Done()
			return capability.Prepared{}, ctx.Err()
		}
		p, kit := pipeline(t, &ledger{}, d)
		began := time.Now()
		got := p.Admit(t.Context(), kit, call("ask", `{"dish":"x"}`))
		if got.Refusal == nil || time.Since(began) != 3*time.Second {
			t.Fatalf("got %+v after %s", got.Refusal, time.Since(began))
		}
		wantReceipt(t, *got.Refusal, capability.TimedOut, capability.StagePrepare, fault.Timeout)
	})
}

func TestErrorResult_HidesTheCause(t *testing.T) {
	t.Parallel()
	got := capability.ErrorResult(fault.Wrap(errors.New("hunter2"), fault.NotFound, `no dish "鱼"`))
	wantJSON(t, got, `{"error":{"code":"not_found","message":"no dish \"鱼\""}}`)
	wantJSON(t, capability.ErrorResult(errors.New("hunter2")), `{"error":{"code":"internal","message":"internal error"}}`)
}

// FuzzAdmit gives any text as arguments: nothing but one fitting object may pass, and a refusal is
// always a JSON text of bounded size.
func FuzzAdmit(f *testing.F) {
	for _, seed := range []string{`{"dish":"x"}`, `{"dish":"x","quantity":3}`, `{}{}`, `"{}"`, `{"dish":"\ud83c"}`, "\xff", `{"dish":1e999}`, `{"dish":"x","dish":7}`} {
		f.Add(seed)
	}
	r, err := capability.NewRegistry(look(says(`{}`)))
	if err != nil {
		f.Fatal(err)
	}
	p, kit := capability.NewPipeline(r, &ledger{}, time.Now), r.Toolkit([]string{"look"})
	f.Fuzz(func(t *testing.T, args string) {
		got := p.Admit(t.Context(), kit, call("look", args))
		if got.Refusal != nil {
			if !json.Valid(got.Result) || len(got.Result) > 4096 {
				t.Errorf("%q: got result %q", args, got.Result)
			}
			return
		}
		var in struct {
			Dish     *string
			Quantity *float64
		}
		if err := json.Unmarshal([]byte(args), &in); err != nil || in.Dish == nil || (in.Quantity != nil && (*in.Quantity < 1 || *in.Quantity > 20)) {
			t.Errorf("%q was admitted: %v", args, err)
		}
	})
}
