package skills_test

import (
	"slices"
	"strings"
	"testing"

	"agentmesh/skills"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	var ids []string
	owner := map[string]string{}
	for _, m := range builtin(t) {
		ids = append(ids, m.ID)
		if m.NameEn == "" || m.Description == "" || m.DescriptionEn == "" || m.Category == "" || m.Instructions == "" || len(m.Permissions) == 0 || len(m.ProviderTypes) == 0 {
			t.Errorf("%s is incomplete", m.ID)
		}
		if !m.DefaultInstalled || m.System != (m.ID == "builtin.basics") || m.AlwaysOn != m.System {
			t.Errorf("%s: got installed %v, system %v, always on %v", m.ID, m.DefaultInstalled, m.System, m.AlwaysOn)
		}
		for _, k := range m.Routing.Keywords {
			if k != strings.ToLower(strings.TrimSpace(k)) || k == "" {
				t.Errorf("%s: keyword %q", m.ID, k)
			}
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(m.Routing.Keywords))); len(sorted) != len(m.Routing.Keywords) {
			t.Errorf("%s names a keyword twice", m.ID)
		}
		for _, c := range m.Capabilities {
			if owner[c] != "" {
				t.Errorf("%s is in %s and in %s", c, owner[c], m.ID)
			}
			owner[c] = m.ID
		}
	}
	if got := strings.Join(ids, " "); got != "builtin.basics builtin.food_service builtin.weather builtin.memory" {
		t.Errorf("got %q, want the four of D-49 in the order of D-48", got)
	}
	for _, hidden := range []string{"quote_order", "reserve_stock", "commit_reservation", "release_reservation", "get_reservation", "return_stock", "deduct_stock"} {
		if owner[hidden] != "" {
			t.Errorf("%s offers %s, which no model may see", owner[hidden], hidden)
		}
	}
}

// manifest is a good one; the parts are replaced in it.
const manifest = `{"id":"x.y","name":"名","nameEn":"N","version":"1.0.0","publisher":"p","routing":{"keywords":["k"]},"alwaysOn":false,"capabilities":["look"]}`

func TestParseManifest(t *testing.T) {
	t.Parallel()
	m, err := skills.ParseManifest([]byte(manifest))
	if err != nil || m.ID != "x.y" || m.Routing.Keywords[0] != "k" {
		t.Errorf("got %+v, %v", m, err)
	}
	tests := []struct{ name, old, new, says string }{
		{"not_json", manifest, `{`, "read manifest"},
		{"list", manifest, `[]`, "read manifest"},
		{"empty", manifest, `{}`, "id"},
		{"bad_id", `x.y`, `X Y`, "id"},
		{"long_id", `x.y`, strings.Repeat("x", 65), "id"},
		{"bad_version", `1.0.0`, `1.0`, "version"},
		{"no_name", `"名"`, `""`, "name"},
		{"no_publisher", `"p"`, `""`, "publisher"},
		{"no_capabilities", `["look"]`, `[]`, "capabilities"},
		{"never_chosen", `["k"]`, `[]`, "keywords"},
		{"empty_keyword", `["k"]`, `["k",""]`, "keyword"},
		{"blank_keyword", `["k"]`, `[" "]`, "keyword"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := skills.ParseManifest([]byte(strings.Replace(manifest, tt.old, tt.new, 1))); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
	always := strings.Replace(strings.Replace(manifest, `["k"]`, `[]`, 1), `false`, `true`, 1)
	if _, err := skills.ParseManifest([]byte(always)); err != nil {
		t.Errorf("always on without keywords: got %v", err)
	}
}

// FuzzParseManifest: a manifest that is taken can be routed with, and chooses itself by its own words.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(manifest), "k")
	f.Add([]byte(strings.Replace(manifest, `["k"]`, `["天气","hot fix","'"]`, 1)), "今天天气")
	f.Fuzz(func(t *testing.T, raw []byte, message string) {
		m, err := skills.ParseManifest(raw)
		if err != nil {
			return
		}
		skills.Route([]skills.Manifest{m}, message, nil)
		for _, k := range m.Routing.Keywords {
			routed := skills.Route([]skills.Manifest{m}, "， "+k+" 。", nil)
			if !m.AlwaysOn && (len(routed) != 1 || !strings.HasPrefix(routed[0].Reason, "matched")) {
				t.Errorf("keyword %q does not choose its skill: %+v", k, routed)
			}
		}
	})
}
