package capability

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// MaxResult is the most bytes of a result that are kept; of a longer one, its beginning (design, section 5, stage 13).
const MaxResult = 1 << 20

// bounded gives a result as it is kept. It stays one JSON value: of a longer one, the beginning as a text.
func bounded(result json.RawMessage) json.RawMessage {
	if len(result) <= MaxResult {
		return result
	}
	end := MaxResult / 2 // as JSON within JSON it grows
	for !utf8.RuneStart(result[end]) {
		end--
	}
	out, _ := json.Marshal(map[string]any{
		"cut": true, "bytes": len(result), "kept": end, "beginning": strings.ToValidUTF8(string(result[:end]), "�"),
	})
	return out
}
