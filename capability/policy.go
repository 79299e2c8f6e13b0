package capability

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Effect is what a rule says of the calls that it matches.
type Effect string

// The effects. A call that no rule matches is as its definition has it.
const (
	Deny  Effect = "deny"
	Ask   Effect = "ask"
	Allow Effect = "allow"
)

// Mode is how much a run may do by itself (notes on runtimes, 2.3).
type Mode string

// The modes. The empty one is ModeDefault.
const (
	ModeDefault    Mode = "default"
	ModeExplore    Mode = "explore"    // reads, and does nothing else
	ModeUnattended Mode = "unattended" // nobody is there to be asked: what would ask is denied
)

// Stricter gives the mode that lets less through.
func Stricter(a, b Mode) Mode {
	for _, m := range []Mode{ModeExplore, ModeUnattended} {
		if a == m || b == m {
			return m
		}
	}
	return ModeDefault
}

// Rule is one line of the policy, from the configuration, or a person's grant.
type Rule struct {
	Capability string            // a name; * stands for any characters
	Effect     Effect            //
	Args       map[string]string // conditions on the arguments; all must hold. See condition
	Exact      json.RawMessage   // of a grant: the arguments as a whole. Empty: any
	Always     bool              // of an ask: no grant silences it
	Reason     string            // what the model, the audit and the person are told
	Grant      string            // the id of the grant that it is; empty: it is the configuration's
	Number     int               // its place in the configuration, from 1
}

// Name is how receipts and audit records call a rule.
func (r Rule) Name() string {
	if r.Grant != "" {
		return r.Grant
	}
	return fmt.Sprintf("policies[%d]", r.Number)
}

// What stands for a rule where none decided.
const (
	ruleSkill      = "skill"
	ruleDefinition = "definition"
	ruleReadOnly   = "read-only"
	ruleDefault    = "default"
	ruleExplore    = "mode explore"
	ruleUnattended = "mode unattended"
)

// Verdict is what the policy says of a call, and on whose word.
type Verdict struct {
	Effect Effect
	Rule   string // a rule's name, or what stands for one
	Reason string
	Fixed  bool // of an ask: no grant may silence it
}

// ByRule tells whether a rule decided, and not the definition or the mode.
func (v Verdict) ByRule() bool {
	switch v.Rule {
	case ruleSkill, ruleDefinition, ruleReadOnly, ruleDefault, ruleExplore, ruleUnattended:
		return false
	}
	return true
}

// Judge decides about a call; it is pure. The order is the same in every mode (design, section 5): deny rules, ask
// rules, what reads only by our own word, the capability's own ask, allow rules, the default, which is to allow. A
// grant is the answer of a person to an ask, so it is looked at where a call would ask: it silences every ask
// but that of a definition or a rule which always asks. An allow rule of the configuration silences the
// capability's own ask only. Modes make what is left stricter, never looser: explore denies what is not
// read-only, unattended denies what would ask.
func Judge(d Definition, args json.RawMessage, mode Mode, rules, grants []Rule) Verdict {
	v := judge(d, valueOf(args), args, mode, rules, grants)
	if v.Effect == Ask && mode == ModeUnattended {
		return Verdict{Effect: Deny, Rule: ruleUnattended, Reason: "nobody is there to be asked: " + v.Reason}
	}
	return v
}

func judge(d Definition, value any, args json.RawMessage, mode Mode, rules, grants []Rule) Verdict {
	if r, ok := find(d.Name, value, rules, Deny); ok {
		return Verdict{Effect: Deny, Rule: r.Name(), Reason: orElse(r.Reason, "a rule of this program denies this call")}
	}
	if mode == ModeExplore && !d.ReadOnly {
		return Verdict{Effect: Deny, Rule: ruleExplore, Reason: "this run may only read, and " + d.Name + " does more than that"}
	}
	if d.asksAlways() {
		return Verdict{Effect: Ask, Rule: ruleDefinition, Reason: d.Name + " needs a person's yes", Fixed: true}
	}
	granted, isGranted := covering(d.Name, args, grants)
	if r, ok := find(d.Name, value, rules, Ask); ok && (r.Always || !isGranted) {
		return Verdict{Effect: Ask, Rule: r.Name(), Reason: orElse(r.Reason, "a rule of this program asks for a person's yes"), Fixed: r.Always}
	}
	switch r, allowed := find(d.Name, value, rules, Allow); {
	case isGranted:
		return Verdict{Effect: Allow, Rule: granted.Name()}
	case d.ReadOnly:
		return Verdict{Effect: Allow, Rule: ruleReadOnly}
	case allowed:
		return Verdict{Effect: Allow, Rule: r.Name()}
	case d.RequiresConfirmation:
		return Verdict{Effect: Ask, Rule: ruleDefinition, Reason: d.Name + " needs a person's yes"}
	}
	return Verdict{Effect: Allow, Rule: ruleDefault}
}

// find gives the rule of an effect that matches a call; of several asks one that always asks, else the first.
func find(name string, args any, rules []Rule, effect Effect) (Rule, bool) {
	var found *Rule
	for i, r := range rules {
		if r.Effect != effect || !glob(r.Capability, name) || !holdAll(r.Args, args, effect) {
			continue
		}
		if r.Always {
			return r, true
		}
		if found == nil {
			found = &rules[i]
		}
	}
	if found == nil {
		return Rule{}, false
	}
	return *found, true
}

// covering gives the grant that covers a call. A grant names its capability, and no pattern.
func covering(name string, args json.RawMessage, grants []Rule) (Rule, bool) {
	i := slices.IndexFunc(grants, func(r Rule) bool {
		return r.Effect == Allow && r.Capability == name && (len(r.Exact) == 0 || SameArgs(r.Exact, args))
	})
	if i < 0 {
		return Rule{}, false
	}
	return grants[i], true
}

// Check finds what is wrong with a rule of the configuration by itself.
func (r Rule) Check() error {
	switch {
	case r.Capability == "":
		return fmt.Errorf("capability is missing; it takes a name, in which * stands for any characters")
	case !slices.Contains([]Effect{Deny, Ask, Allow}, r.Effect):
		return fmt.Errorf("effect is %q, not deny, ask or allow", r.Effect)
	case r.Always && r.Effect != Ask:
		return fmt.Errorf("always goes with the effect ask")
	}
	for path, want := range r.Args {
		if err := checkCondition(path, want); err != nil {
			return err
		}
	}
	return nil
}

// CheckRules finds rules that reach nothing: those of a name that no model can call.
func (r *Registry) CheckRules(rules []Rule) error {
	for _, rule := range rules {
		reaches := func(name string) bool { return !r.entries[name].Hidden && glob(rule.Capability, name) }
		if !slices.ContainsFunc(r.order, reaches) {
			return fmt.Errorf("%s: there is no capability %q that a model may call; those are %s", rule.Name(), rule.Capability, strings.Join(r.offered(), ", "))
		}
	}
	return nil
}

// offered lists the capabilities that a model may see.
func (r *Registry) offered() []string {
	return slices.DeleteFunc(slices.Clone(r.order), func(name string) bool { return r.entries[name].Hidden })
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
