package capability_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentmesh/capability"
)

// A schema that comes from outside must not end the process: what leads back to itself overflows the validator's stack.
func TestCheckSchema_Ends(t *testing.T) {
	t.Parallel()
	var fan strings.Builder
	for i := range 40 {
		fmt.Fprintf(&fan, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	tests := []struct {
		name, schema string
		good         bool
	}{
		{"plain", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`, true},
		{"a_tree", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, true},
		{"a_tree_by_name", `{"$ref":"#node","$defs":{"n":{"$anchor":"node","properties":{"next":{"$ref":"#node"}}}}}`, true},
		{"all_in_place_and_shared", `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object"}}}`, true},
		{"a_name_with_a_stroke", `{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"object"}}}`, true},
		{"to_itself", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, false},
		{"two_steps", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, false},
		{"the_root", `{"$ref":"#"}`, false},
		{"by_all_of", `{"allOf":[{"$ref":"#"}]}`, false},
		{"by_any_of", `{"type":"object","anyOf":[{"type":"object"},{"$ref":"#"}]}`, false},
		{"by_not", `{"not":{"$ref":"#"}}`, false},
		{"by_then", `{"if":{"type":"object"},"then":{"$ref":"#"}}`, false},
		{"by_a_dependency", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, false},
		{"by_a_name", `{"$anchor":"x","oneOf":[{"$ref":"#x"}]}`, false},
		{"by_a_dynamic_name", `{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`, false},
		{"deep_within", `{"properties":{"a":{"items":{"$ref":"#/$defs/a"}}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, false},
		{"escaped", `{"$ref":"#/%24defs/a","$defs":{"a":{"$ref":"#/%24defs/a"}}}`, false},
		{"without_measure", `{"$ref":"#/$defs/a0","$defs":{` + fan.String() + `"a40":{}}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := capability.CheckSchema(json.RawMessage(tt.schema)); (err == nil) != tt.good {
				t.Errorf("got %v", err)
			}
		})
	}
}
