package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentmesh/capability"
)

// policyLine is a rule of the policy as agentmesh.yaml has it.
type policyLine struct {
	Capability string         `json:"capability"`
	Effect     string         `json:"effect"`
	Args       map[string]any `json:"args"`
	Always     bool           `json:"always"`
	Reason     string         `json:"reason"`
}

// policies is the setting that holds the rules of the policy: a list in the configuration file, JSON in the
// environment.
func policies(into *[]capability.Rule) setting {
	return setting{
		key: "policies", env: "AGENTMESH_POLICIES", structured: true,
		help:  "rules about calls: a list of {capability, effect: deny, ask or allow, args, always, reason} (docs/policy.md)",
		reset: func() { *into = nil },
		parse: func(v string) (err error) {
			*into, err = readPolicies(v)
			return err
		},
		show: func() string { return writePolicies(*into) },
	}
}

// readPolicies reads rules, and reports all mistakes together, each by its place in the list.
func readPolicies(text string) ([]capability.Rule, error) {
	var lines []policyLine
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(&lines); err != nil {
		return nil, fmt.Errorf("it is no list of rules: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("it is no list of rules: something follows the list")
	}
	var rules []capability.Rule
	var errs []error
	for i, line := range lines {
		r, err := line.rule()
		r.Number = i + 1
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Name(), err))
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(errs...)
}

func (l policyLine) rule() (capability.Rule, error) {
	r := capability.Rule{
		Capability: l.Capability, Effect: capability.Effect(l.Effect), Always: l.Always, Reason: l.Reason, Args: map[string]string{},
	}
	for path, want := range l.Args {
		switch want.(type) {
		case string, bool, json.Number:
			r.Args[path] = fmt.Sprint(want)
		default:
			return r, fmt.Errorf("args: %s: it takes one value, such as 上海 or \">5\"", path)
		}
	}
	return r, nil
}

// writePolicies shows rules in a line.
func writePolicies(rules []capability.Rule) string {
	var out []string
	for _, r := range rules {
		line := string(r.Effect) + " " + r.Capability
		if r.Always {
			line = "always " + line
		}
		var conditions []string
		for path, want := range r.Args {
			conditions = append(conditions, path+": "+want)
		}
		slices.Sort(conditions)
		if len(conditions) > 0 {
			line += " {" + strings.Join(conditions, ", ") + "}"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}
