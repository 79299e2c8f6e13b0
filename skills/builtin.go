package skills

import (
	"embed"
	"fmt"
)

//go:embed manifests/*.json
var manifests embed.FS

// Builtin reads the manifests that ship with the program, in the order of their file names (D-48); those of
// demonstrations only when they are wanted (D-61).
func Builtin(demo bool) ([]Manifest, error) {
	entries, err := manifests.ReadDir("manifests")
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	out := make([]Manifest, 0, len(entries))
	for _, e := range entries {
		raw, err := manifests.ReadFile("manifests/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("open manifest %s: %w", e.Name(), err)
		}
		m, err := ParseManifest(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if demo || !m.Demo {
			out = append(out, m)
		}
	}
	return out, nil
}
