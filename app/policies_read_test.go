package app

import "testing"

// A list of rules with something behind it is refused whole: the rest may be the rule that counts.
func TestReadPolicies_NothingMayFollow(t *testing.T) {
	t.Parallel()
	const rule = `{"capability":"place_order","effect":"deny"}`
	for text, good := range map[string]bool{`[` + rule + `]`: true, `[] ` + "\n": true, `[] [` + rule + `]`: false, `[` + rule + `] x`: false, `null`: true, ``: false} {
		if _, err := readPolicies(text); (err == nil) != good {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
