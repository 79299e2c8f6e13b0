package localtool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/capability/localtool"
)

var at = time.Date(2026, 11, 29, 15, 12, 33, 0, time.UTC)

func now() time.Time { return at }

// preferences is a store whose every method a test gives.
type preferences struct {
	rememberFunc func(p agent.Preference) (agent.Preference, error)
	recallFunc   func(userID, query string, limit int) ([]agent.Preference, error)
	forgetFunc   func(userID string, ids []string, at time.Time) error
}

func (s preferences) Remember(_ context.Context, p agent.Preference) (agent.Preference, error) {
	return s.rememberFunc(p)
}

func (s preferences) Recall(_ context.Context, userID, query string, limit int) ([]agent.Preference, error) {
	return s.recallFunc(userID, query, limit)
}

func (s preferences) Forget(_ context.Context, userID string, ids []string, at time.Time) error {
	return s.forgetFunc(userID, ids, at)
}

func two(string, string, int) ([]agent.Preference, error) {
	return []agent.Preference{{ID: "pref-2", Statement: "用户不吃辣", Kind: "diet"}, {ID: "pref-1", Statement: "住上海", Kind: "place"}}, nil
}

// invoke sends a call through the pipeline, so that the schema is checked too.
func invoke(t *testing.T, d capability.Definition, args string) (string, error) {
	t.Helper()
	r, err := capability.NewRegistry(d)
	if err != nil {
		t.Fatal(err)
	}
	kit := r.Toolkit([]string{d.Name})
	p := capability.NewPipeline(r, noLedger{}, now)
	call := capability.Call{ID: "inv-1", Name: d.Name, Args: json.RawMessage(args), UserID: "anna", RunID: "run-1"}
	if a := p.Admit(t.Context(), kit, call); a.Refusal != nil {
		return "", fault.New(fault.Code(a.Refusal.Code), "%s", a.Refusal.Message)
	}
	out, err := d.Handle(t.Context(), call)
	return string(out), err
}

type noLedger struct{}

func (noLedger) Audit(context.Context, capability.Record) error { return nil }

func (noLedger) Finished(context.Context, string, string) (capability.Finished, bool, error) {
	return capability.Finished{}, false, nil
}

func wantResult(t *testing.T, got string, err error, want string) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func wantCode(t *testing.T, got string, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want {
		t.Errorf("got %s, %v, want %q", got, err, want)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	got, err := invoke(t, localtool.Clock(now, zone), `{}`)
	wantResult(t, got, err, `{"date":"2026-11-29","iso":"2026-11-29T23:12:33+08:00","time":"23:12","timeZone":"Asia/Shanghai","weekday":7,"weekdayEn":"Sunday","weekdayZh":"星期日"}`)
	midnight := func() time.Time { return at.Add(time.Hour) } // still Sunday in UTC
	got, err = invoke(t, localtool.Clock(midnight, zone), `{}`)
	wantResult(t, got, err, `{"date":"2026-11-30","iso":"2026-11-30T00:12:33+08:00","time":"00:12","timeZone":"Asia/Shanghai","weekday":1,"weekdayEn":"Monday","weekdayZh":"星期一"}`)
	got, err = invoke(t, localtool.Clock(now, zone), `{"city":"上海"}`)
	wantCode(t, got, err, fault.Invalid)
}

func TestRemember(t *testing.T) {
	t.Parallel()
	var stored []agent.Preference
	store := preferences{rememberFunc: func(p agent.Preference) (agent.Preference, error) {
		stored = append(stored, p)
		p.ID = "pref-1"
		return p, nil
	}}
	d := localtool.Remember(store, now)
	got, err := invoke(t, d, `{"statement":"  用户\n不吃辣 ","kind":"diet"}`)
	wantResult(t, got, err, `{"remembered":{"id":"pref-1","statement":"用户 不吃辣","kind":"diet"},"superseded":[]}`)
	got, err = invoke(t, d, `{"statement":"喜欢汤"}`)
	wantResult(t, got, err, `{"remembered":{"id":"pref-1","statement":"喜欢汤","kind":"other"},"superseded":[]}`)
	if p := stored[0]; p.UserID != "anna" || p.RunID != "run-1" || !p.CreatedAt.Equal(at) || !strings.HasPrefix(p.ID, "pref-") || p.ID == stored[1].ID {
		t.Errorf("got %+v", p)
	}
	for _, bad := range []string{`{}`, `{"statement":""}`, `{"statement":" \n "}`, `{"statement":7}`, `{"statement":"x","kind":"mood"}`, `{"statement":"` + strings.Repeat("辣", 201) + `"}`} {
		got, err := invoke(t, d, bad)
		wantCode(t, got, err, fault.Invalid)
	}
	if d.ReadOnly || d.RequiresConfirmation {
		t.Error("remember_preference writes, and asks nobody (D-59)")
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	var asked []string
	store := preferences{recallFunc: func(userID, query string, limit int) ([]agent.Preference, error) {
		asked = append(asked, userID+" "+query)
		if query == "nothing" {
			return nil, nil
		}
		return two(userID, query, limit)
	}}
	d := localtool.Recall(store)
	got, err := invoke(t, d, `{}`)
	wantResult(t, got, err, `{"preferences":[{"id":"pref-2","statement":"用户不吃辣","kind":"diet"},{"id":"pref-1","statement":"住上海","kind":"place"}]}`)
	got, err = invoke(t, d, `{"query":"nothing"}`)
	wantResult(t, got, err, `{"preferences":[]}`)
	if strings.Join(asked, ",") != "anna ,anna nothing" {
		t.Errorf("got %q", asked)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	var forgotten [][]string
	store := preferences{
		recallFunc: func(userID, query string, limit int) ([]agent.Preference, error) {
			found, _ := two(userID, query, limit)
			switch query {
			case "":
				return found, nil
			case "辣":
				return found[:limit], nil
			}
			return nil, nil
		},
		forgetFunc: func(userID string, ids []string, when time.Time) error {
			if userID != "anna" || !when.Equal(at) {
				t.Errorf("got user %q at %s", userID, when)
			}
			forgotten = append(forgotten, ids)
			return nil
		},
	}
	d := localtool.Forget(store, now)
	got, err := invoke(t, d, `{"id":"pref-1"}`)
	wantResult(t, got, err, `{"forgotten":[{"id":"pref-1","statement":"住上海","kind":"place"}]}`)
	got, err = invoke(t, d, `{"query":"辣"}`)
	wantResult(t, got, err, `{"forgotten":[{"id":"pref-2","statement":"用户不吃辣","kind":"diet"}]}`)
	got, err = invoke(t, d, `{"query":"鱼"}`)
	wantResult(t, got, err, `{"forgotten":[]}`)
	got, err = invoke(t, d, `{"id":"pref-9"}`)
	wantCode(t, got, err, fault.NotFound)
	for _, bad := range []string{`{}`, `{"query":"  "}`, `{"all":true}`} {
		got, err := invoke(t, d, bad)
		wantCode(t, got, err, fault.Invalid)
	}
	if len(forgotten) != 3 || forgotten[0][0] != "pref-1" || forgotten[1][0] != "pref-2" || len(forgotten[2]) != 0 {
		t.Errorf("got %q", forgotten)
	}
}

func TestMemory_StoreFails(t *testing.T) {
	t.Parallel()
	disk := errors.New("disk full")
	store := preferences{
		rememberFunc: func(agent.Preference) (agent.Preference, error) { return agent.Preference{}, disk },
		recallFunc:   func(string, string, int) ([]agent.Preference, error) { return nil, disk },
	}
	for _, tt := range []struct {
		d    capability.Definition
		args string
	}{
		{localtool.Remember(store, now), `{"statement":"x"}`},
		{localtool.Recall(store), `{}`},
		{localtool.Forget(store, now), `{"id":"x"}`},
		{localtool.Forget(store, now), `{"query":"x"}`},
	} {
		if got, err := invoke(t, tt.d, tt.args); !errors.Is(err, disk) {
			t.Errorf("%s: got %s, %v", tt.d.Name, got, err)
		}
	}
	if _, err := localtool.Statements(store)(t.Context(), "anna"); !errors.Is(err, disk) {
		t.Errorf("got %v", err)
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	got, err := localtool.Statements(preferences{recallFunc: two})(t.Context(), "anna")
	if err != nil || strings.Join(got, "|") != "用户不吃辣|住上海" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestWebSearch: it is there only when it is switched on, finds by words, and says every time that it is simulated.
func TestWebSearch(t *testing.T) {
	t.Parallel()
	for _, enabled := range []bool{false, true} {
		r, err := capability.NewRegistry(localtool.WebSearch(enabled))
		if err != nil {
			t.Fatal(err)
		}
		if kit := r.Toolkit([]string{"web_search"}); kit.Has("web_search") != enabled {
			t.Errorf("enabled %v: got %v", enabled, kit.Names())
		}
	}
	for query, want := range map[string]string{"What is MCP?": "Model Context Protocol", "水煮牛肉怎么做": "水煮牛肉的做法", "nothing": `"results":[]`} {
		got, err := invoke(t, localtool.WebSearch(true), `{"query":"`+query+`"}`)
		if err != nil || !strings.Contains(got, `"simulated":true`) || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, %v", query, got, err)
		}
	}
}
