package localtool

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestResultPage_ReadsAllInWholeCharacters: page by page, from wherever one begins, a result comes whole.
func TestResultPage_ReadsAllInWholeCharacters(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]string{
		"chinese": strings.Repeat("水煮牛肉", 3000), "quotes": strings.Repeat(`{"a":"\n"}`, 2000), "emoji": strings.Repeat("🍚", 2000), "short": "x", "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			for offset, pages := 0, 0; ; pages++ {
				raw, err := resultPage("inv-1", []byte(whole), offset, 1000)
				if err != nil {
					t.Fatal(err)
				}
				var p struct {
					Text string
					Next int
				}
				if err := json.Unmarshal(raw, &p); err != nil || len(raw) > 1200 {
					t.Fatalf("got a page of %d bytes, %v", len(raw), err)
				}
				all.WriteString(p.Text)
				if p.Next == 0 {
					break
				}
				if p.Next <= offset || pages > 1000 {
					t.Fatalf("page %d goes from %d to %d", pages, offset, p.Next)
				}
				offset = p.Next
			}
			if all.String() != whole {
				t.Errorf("got %d bytes, want %d", all.Len(), len(whole))
			}
		})
	}
	raw, err := resultPage("inv-1", []byte("水煮"), 1, 1000)
	if err != nil || !strings.Contains(string(raw), `"text":"水煮"`) {
		t.Errorf("from within a character: got %s, %v", raw, err)
	}
	if _, err := resultPage("inv-1", []byte("水煮"), 7, 1000); err == nil {
		t.Error("an offset behind the end gave a page")
	}
}
