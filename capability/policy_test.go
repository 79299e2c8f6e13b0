package capability_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/capability"
)

func deny(name string) capability.Rule {
	return capability.Rule{Capability: name, Effect: capability.Deny, Number: 1}
}

func asks(name string) capability.Rule {
	return capability.Rule{Capability: name, Effect: capability.Ask, Number: 2, Reason: "be careful"}
}

func allows(name string) capability.Rule {
	return capability.Rule{Capability: name, Effect: capability.Allow, Number: 3}
}

func granted(exact string) capability.Rule {
	return capability.Rule{Capability: "send", Effect: capability.Allow, Exact: json.RawMessage(exact), Grant: "grant-1"}
}

// TestJudge is the order of design section 5, in every mode.
func TestJudge(t *testing.T) {
	t.Parallel()
	writes := capability.Definition{Name: "send"}
	reads := capability.Definition{Name: "send", ReadOnly: true}
	asking := capability.Definition{Name: "send", RequiresConfirmation: true}
	always := capability.Definition{Name: "send", RequiresConfirmation: true, AlwaysAsks: true}
	fixed := asks("send")
	fixed.Always = true
	list := func(rules ...capability.Rule) []capability.Rule { return rules }
	tests := []struct {
		name   string
		d      capability.Definition
		mode   capability.Mode
		rules  []capability.Rule
		grants []capability.Rule
		want   capability.Effect
		rule   string
	}{
		{"nothing_said_allows", writes, "", nil, nil, capability.Allow, "default"},
		{"nothing_said_and_it_reads", reads, "", nil, nil, capability.Allow, "read-only"},
		{"the_definition_asks", asking, "", nil, nil, capability.Ask, "definition"},
		{"deny_beats_ask_allow_and_grant", asking, "", list(allows("send"), asks("send"), deny("send")), list(granted("")), capability.Deny, "policies[1]"},
		{"deny_beats_read_only", reads, "", list(deny("*")), nil, capability.Deny, "policies[1]"},
		{"ask_beats_allow", writes, "", list(allows("send"), asks("send")), nil, capability.Ask, "policies[2]"},
		{"ask_beats_read_only", reads, "", list(asks("s*d")), nil, capability.Ask, "policies[2]"},
		{"a_grant_silences_an_ask_rule", writes, "", list(asks("send")), list(granted("")), capability.Allow, "grant-1"},
		{"a_grant_silences_not_one_that_always_asks", writes, "", list(fixed), list(granted("")), capability.Ask, "policies[2]"},
		{"one_that_always_asks_among_others", writes, "", list(asks("send"), fixed), list(granted("")), capability.Ask, "policies[2]"},
		{"an_allow_rule_silences_the_definition", asking, "", list(allows("send")), nil, capability.Allow, "policies[3]"},
		{"a_grant_silences_the_definition", asking, "", nil, list(granted("")), capability.Allow, "grant-1"},
		{"nothing_silences_what_always_asks", always, "", list(allows("*")), list(granted("")), capability.Ask, "definition"},
		{"deny_what_always_asks", always, "", list(deny("send")), nil, capability.Deny, "policies[1]"},
		{"a_grant_of_these_arguments", asking, "", nil, list(granted(`{"n":1,"to":"bob"}`)), capability.Allow, "grant-1"},
		{"a_grant_of_other_arguments", asking, "", nil, list(granted(`{"to":"bob"}`)), capability.Ask, "definition"},
		{"another_capability_s_rule", writes, "", list(deny("sen"), deny("send_all"), deny("*x")), nil, capability.Allow, "default"},
		{"explore_denies_what_writes", writes, capability.ModeExplore, list(allows("send")), list(granted("")), capability.Deny, "mode explore"},
		{"explore_denies_what_would_ask", always, capability.ModeExplore, nil, nil, capability.Deny, "mode explore"},
		{"explore_reads", reads, capability.ModeExplore, nil, nil, capability.Allow, "read-only"},
		{"explore_keeps_deny", reads, capability.ModeExplore, list(deny("send")), nil, capability.Deny, "policies[1]"},
		{"explore_keeps_ask", reads, capability.ModeExplore, list(asks("send")), nil, capability.Ask, "policies[2]"},
		{"unattended_denies_what_asks", asking, capability.ModeUnattended, nil, nil, capability.Deny, "mode unattended"},
		{"unattended_denies_what_a_rule_asks", reads, capability.ModeUnattended, list(asks("send")), nil, capability.Deny, "mode unattended"},
		{"unattended_uses_grants", asking, capability.ModeUnattended, nil, list(granted("")), capability.Allow, "grant-1"},
		{"unattended_writes_what_nobody_asks_about", writes, capability.ModeUnattended, nil, nil, capability.Allow, "default"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := capability.Judge(tt.d, json.RawMessage(`{"to":"bob","n":1}`), tt.mode, tt.rules, tt.grants)
			if got.Effect != tt.want || got.Rule != tt.rule {
				t.Errorf("got %s by %s, want %s by %s", got.Effect, got.Rule, tt.want, tt.rule)
			}
		})
	}
}

// TestJudge_UnattendedKeepsTheReason: whoever reads what was denied learns why it would have been asked.
func TestJudge_UnattendedKeepsTheReason(t *testing.T) {
	t.Parallel()
	got := capability.Judge(capability.Definition{Name: "send"}, json.RawMessage(`{}`), capability.ModeUnattended, []capability.Rule{asks("send")}, nil)
	if !strings.Contains(got.Reason, "be careful") || !strings.Contains(got.Reason, "nobody is there") {
		t.Errorf("got the reason %q", got.Reason)
	}
}

// TestConditions: what a condition on the arguments means. Deny matches when any value fits, allow when all do.
func TestConditions(t *testing.T) {
	t.Parallel()
	const order = `{"items":[{"dishId":"food-001","quantity":1},{"dishId":"food-002","quantity":6}],"city":"上海","exact":true,"note":"=*>5","n":500e-2,"big":9007199254740993,"less":-0.50}`
	tests := []struct {
		name, path, want string
		deny, allow      bool
	}{
		{"equal", "city", "上海", true, true},
		{"another_text", "city", "北京", false, false},
		{"glob", "city", "上*", true, true},
		{"only_a_star", "city", "*", true, true},
		{"a_bound_on_each", "items.*.quantity", "<10", true, true},
		{"a_bound_on_one", "items.*.quantity", ">5", true, false},
		{"a_bound_that_is_met", "items.1.quantity", ">=6", true, true},
		{"a_place", "items.0.quantity", ">5", false, false},
		{"a_glob_on_each", "items.*.dishId", "food-*", true, true},
		{"no_such_path", "items.*.price", "<5", false, false},
		{"no_such_place", "items.7.quantity", "<5", false, false},
		{"a_bound_on_a_text", "city", ">5", false, false},
		{"a_number_written_otherwise", "n", "5", true, true},
		{"a_number_meant_as_it_is", "n", "=5.0", true, true},
		{"another_number", "n", "50", false, false},
		{"a_large_number", "big", "9007199254740993.0", true, true},
		{"one_beside_a_large_number", "big", "9007199254740992", false, false},
		{"a_number_below_nothing", "less", "-5e-1", true, true},
		{"a_text_is_no_number", "city", "5", false, false},
		{"a_truth", "exact", "true", true, true},
		{"meant_as_it_is", "note", "==*>5", true, true},
		{"a_list_is_no_value", "items", "*", false, false},
		{"a_name_in_another_case", "City", "上海", true, false},
		{"members_by_star", "*", "上海", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := capability.Definition{Name: "send", RequiresConfirmation: true}
			for effect, want := range map[capability.Effect]bool{capability.Deny: tt.deny, capability.Allow: tt.allow} {
				rule := capability.Rule{Capability: "send", Effect: effect, Args: map[string]string{tt.path: tt.want}, Number: 1}
				if err := rule.Check(); err != nil {
					t.Fatal(err)
				}
				got := capability.Judge(d, json.RawMessage(order), "", []capability.Rule{rule}, nil)
				if (got.Rule == "policies[1]") != want {
					t.Errorf("%s: got %+v, want matched %v", effect, got, want)
				}
			}
		})
	}
}

func TestRule_Check(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]capability.Rule{
		"no_capability": {Effect: capability.Deny},
		"no_effect":     {Capability: "send"},
		"other_effect":  {Capability: "send", Effect: "Deny"},
		"always_deny":   {Capability: "send", Effect: capability.Deny, Always: true},
		"no_path":       {Capability: "send", Effect: capability.Deny, Args: map[string]string{"a..b": "x"}},
		"no_number":     {Capability: "send", Effect: capability.Deny, Args: map[string]string{"a": ">five"}},
	} {
		if err := r.Check(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestCheckRules: a rule that reaches nothing which a model may call is a mistake.
func TestCheckRules(t *testing.T) {
	t.Parallel()
	hidden := look(says(`{}`))
	hidden.Name, hidden.Hidden = "hidden", true
	r, err := capability.NewRegistry(look(says(`{}`)), hidden)
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"look": true, "l*": true, "*": true, "hidden": false, "hid*": false, "Look": false} {
		if err := r.CheckRules([]capability.Rule{deny(name)}); (err == nil) != ok {
			t.Errorf("%s: got %v, want accepted %v", name, err, ok)
		}
	}
}

// FuzzConditions: whatever the arguments are, an allow never matches where the same condition as a deny does not.
func FuzzConditions(f *testing.F) {
	f.Add("items.*.quantity", ">5", `{"items":[{"quantity":6},{}]}`)
	f.Add("*.*", "a*b*", `[["axb"],{"a":"ab"}]`)
	f.Add("a", "=", `{"a":"","A":1e999}`)
	f.Fuzz(func(t *testing.T, path, want, args string) {
		rule := capability.Rule{Capability: "send", Args: map[string]string{path: want}, Number: 1, Effect: capability.Deny}
		if rule.Check() != nil {
			return
		}
		d := capability.Definition{Name: "send", RequiresConfirmation: true}
		denied := capability.Judge(d, json.RawMessage(args), "", []capability.Rule{rule}, nil).Effect == capability.Deny
		rule.Effect = capability.Allow
		allowed := capability.Judge(d, json.RawMessage(args), "", []capability.Rule{rule}, nil).Effect == capability.Allow
		if allowed && !denied {
			t.Errorf("%s: %s allows what it would not deny: %s", path, want, args)
		}
	})
}

// grants are those of one person.
type grants []capability.Rule

func (g grants) Granted(_ context.Context, userID, _ string) ([]capability.Rule, error) {
	if userID != "anna" {
		return nil, nil
	}
	return g, nil
}

// TestAdmit_Policy: a denied call has its result, its stage and its rule; the program's own calls are not judged.
func TestAdmit_Policy(t *testing.T) {
	t.Parallel()
	p, kit := pipeline(t, &ledger{}, look(says(`{}`)))
	rule := deny("look")
	rule.Reason = "not today"
	p.Govern([]capability.Rule{rule}, nil)
	a := p.Admit(t.Context(), kit, call("look", `{"dish":"rice"}`))
	if a.Refusal == nil || a.Refusal.Status != capability.Denied || a.Refusal.Stage != capability.StagePolicy || a.Refusal.Rule != "policies[1]" ||
		a.Refusal.Message != "not today" || !strings.Contains(string(a.Result), `"status":"DENIED"`) || !strings.Contains(string(a.Result), "not today") {
		t.Errorf("got %+v %s", a.Refusal, a.Result)
	}
	if a := p.Admit(t.Context(), kit, call("look", `{"no":"such"}`)); a.Refusal == nil || a.Refusal.Stage != capability.StageValidate {
		t.Errorf("wrong arguments: got %+v, want it to end before the policy", a.Refusal)
	}
	if _, err := p.Invoke(t.Context(), call("look", `{"dish":"rice"}`)); err != nil {
		t.Errorf("the program's own call: got %v", err)
	}
}

// TestAdmit_Grants: a grant is its person's alone.
func TestAdmit_Grants(t *testing.T) {
	t.Parallel()
	p, kit := pipeline(t, &ledger{}, ask(says(`{}`)))
	p.Govern(nil, grants{{Capability: "ask", Effect: capability.Allow, Grant: "grant-1"}})
	c := call("ask", `{"dish":"rice"}`)
	for user, asks := range map[string]bool{"anna": false, "bob": true} {
		c.UserID = user
		if a := p.Admit(t.Context(), kit, c); a.Refusal != nil || a.Ask != asks {
			t.Errorf("%s: got %+v, want asked %v", user, a, asks)
		}
	}
	c.UserID, c.Rule = "anna", "grant-1"
	if o := p.Execute(t.Context(), c); o.Receipt.Rule != "grant-1" {
		t.Errorf("got the receipt %+v, want it to name the grant", o.Receipt)
	}
}

// TestReview_EditsAreJudged: a person's edit does not pass a rule that denies.
func TestReview_EditsAreJudged(t *testing.T) {
	t.Parallel()
	p, _ := pipeline(t, &ledger{}, ask(says(`{}`)))
	rule := deny("ask")
	rule.Args = map[string]string{"dish": "beef"}
	p.Govern([]capability.Rule{rule}, nil)
	if _, err := p.Review(t.Context(), call("ask", `{"dish":"beef"}`), true); err == nil {
		t.Error("got no error, want the edit refused")
	}
	if _, err := p.Review(t.Context(), call("ask", `{"dish":"rice"}`), true); err != nil {
		t.Errorf("another edit: got %v", err)
	}
}
