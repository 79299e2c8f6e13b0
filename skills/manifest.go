// Package skills groups capabilities: manifests, which of them a message needs, and what a user has
// installed (design, section 8). A skill is never a remote call, and brings no code (D-47, D-114). The
// package must not know how a capability is executed.
package skills

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Manifest describes a skill (D-109).
type Manifest struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	NameEn           string   `json:"nameEn"`
	Version          string   `json:"version"`
	Publisher        string   `json:"publisher"`
	Category         string   `json:"category"`
	Description      string   `json:"description"`
	DescriptionEn    string   `json:"descriptionEn"`
	Routing          Routing  `json:"routing"`
	AlwaysOn         bool     `json:"alwaysOn"`
	Capabilities     []string `json:"capabilities"`
	ProviderTypes    []string `json:"providerTypes"`
	Permissions      []string `json:"permissions"`
	Instructions     string   `json:"instructions"`
	DefaultInstalled bool     `json:"defaultInstalled"`
	System           bool     `json:"system"`
	Demo             bool     `json:"demo,omitempty"` // there only with DEMO_TOOLS_ENABLED (D-61)
}

// Routing holds the words that choose a skill.
type Routing struct {
	Keywords []string `json:"keywords"`
}

var (
	skillID = regexp.MustCompile(`^[a-z0-9_.-]{1,64}$`)
	version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
)

// ParseManifest reads and checks one manifest.
func ParseManifest(raw []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	switch {
	case !skillID.MatchString(m.ID):
		return Manifest{}, fmt.Errorf("read manifest: the id %q must match %s", m.ID, skillID)
	case !version.MatchString(m.Version):
		return Manifest{}, fmt.Errorf("read manifest %s: the version %q is not like 1.0.0", m.ID, m.Version)
	case m.Name == "" || m.Publisher == "" || len(m.Capabilities) == 0:
		return Manifest{}, fmt.Errorf("read manifest %s: name, publisher and capabilities are needed", m.ID)
	case slices.ContainsFunc(m.Routing.Keywords, func(k string) bool { return strings.TrimSpace(k) == "" }):
		return Manifest{}, fmt.Errorf("read manifest %s: a keyword is empty", m.ID)
	case !m.AlwaysOn && len(m.Routing.Keywords) == 0:
		return Manifest{}, fmt.Errorf("read manifest %s: it is not always on and has no keywords, so nothing could choose it", m.ID)
	}
	return m, nil
}
