package capability

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBounded_StaysOneValue: whatever a capability gives, what is kept is JSON and not much more than the limit.
func TestBounded_StaysOneValue(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]string{
		"short": `{"a":1}`, "chinese": `"` + strings.Repeat("水", MaxResult) + `"`, "list": `[` + strings.Repeat(`{"type":"image"},`, MaxResult/8) + `1]`,
	} {
		got := bounded(json.RawMessage(result))
		if !json.Valid(got) || len(got) > 2*MaxResult || (len(result) <= MaxResult && string(got) != result) {
			t.Errorf("%s: got %d bytes of %d, valid %v", name, len(got), len(result), json.Valid(got))
		}
	}
}
