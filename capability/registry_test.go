package capability_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/capability"
)

func TestNewRegistry_Refuses(t *testing.T) {
	t.Parallel()
	change := func(f func(*capability.Definition)) []capability.Definition {
		d := look(says(`{}`))
		f(&d)
		return []capability.Definition{d}
	}
	tests := []struct {
		name, says  string
		definitions []capability.Definition
	}{
		{"no_name", "the name must match", change(func(d *capability.Definition) { d.Name = "" })},
		{"dotted_name", "the name must match", change(func(d *capability.Definition) { d.Name = "menu.query" })},
		{"chinese_name", "the name must match", change(func(d *capability.Definition) { d.Name = "菜单" })},
		{"long_name", "the name must match", change(func(d *capability.Definition) { d.Name = strings.Repeat("x", 65) })},
		{"no_handler", "no handler", change(func(d *capability.Definition) { d.Handle = nil })},
		{"external_with_a_handler", "external", change(func(d *capability.Definition) { d.External = true })},
		{"no_description", "no description", change(func(d *capability.Definition) { d.Description = "" })},
		{"reads_yet_asks", "read-only", change(func(d *capability.Definition) { d.RequiresConfirmation = true })},
		{"no_schema", "schema", change(func(d *capability.Definition) { d.InputSchema = nil })},
		{"broken_schema", "schema", change(func(d *capability.Definition) { d.InputSchema = json.RawMessage(`{"type":7}`) })},
		{"unresolved_reference", "schema", change(func(d *capability.Definition) { d.InputSchema = json.RawMessage(`{"$ref":"#/nowhere"}`) })},
		{"same_name_twice", "taken", []capability.Definition{look(says(`{}`)), look(says(`{}`))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := capability.NewRegistry(tt.definitions...); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestRegistry_Toolkit(t *testing.T) {
	t.Parallel()
	named := func(name string, disabled, hidden bool) capability.Definition {
		d := look(says(`{}`))
		d.Name, d.Disabled, d.Hidden = name, disabled, hidden
		return d
	}
	r := registry(t, named("a", false, false), named("off", true, false), named("hidden", false, true), named("b", false, false), named("c", false, false))
	if len(r.All()) != 5 || r.All()[3].Name != "b" || !r.Has("hidden") || r.Has("nothing") {
		t.Errorf("got %d definitions", len(r.All()))
	}
	kit := r.Toolkit([]string{"c", "nothing", "hidden", "off", "a", "a"})
	if got := strings.Join(kit.Names(), " "); got != "a c" {
		t.Errorf("got %q, want what is enabled and shown, in the registry's order", got)
	}
	if !kit.Has("c") || kit.Has("b") || kit.Has("hidden") || len(kit.Definitions()) != 2 {
		t.Errorf("got %v", kit.Names())
	}
	if empty := (capability.Toolkit{}); empty.Has("a") || len(empty.Names()) != 0 {
		t.Error("an empty toolkit holds something")
	}
}

func TestStatus_Final(t *testing.T) {
	t.Parallel()
	for status, want := range map[capability.Status]bool{
		capability.Proposed: false, capability.Asking: false, capability.Allowed: false, capability.Running: false,
		capability.Invalid: true, capability.Denied: true, capability.Succeeded: true, capability.Failed: true,
		capability.TimedOut: true, capability.Cancelled: true, capability.Refused: true, capability.Indeterminate: true,
	} {
		if got := status.Final(); got != want {
			t.Errorf("%s: got %v, want %v", status, got, want)
		}
	}
	if capability.AuditStatus(capability.Succeeded) != "SUCCESS" || capability.AuditStatus(capability.Denied) != "DENIED" {
		t.Error("the audit's words are wrong")
	}
	for _, want := range []capability.Status{capability.Succeeded, capability.Denied, ""} {
		if got := capability.StatusOfAudit(capability.AuditStatus(want)); got != want {
			t.Errorf("the audit's word for %q reads as %q", want, got)
		}
	}
}
