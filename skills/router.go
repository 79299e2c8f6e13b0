package skills

import (
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// Routed is a skill in use for one message, and what chose it.
type Routed struct {
	Manifest
	Reason string
}

// Route picks the skills for a message among those a user has enabled: the ones that are always on, and
// the ones of which a keyword occurs. When no business skill matches, the previous turn's skills are
// used, so that "and tomorrow?" works, and without a previous turn all of them (D-50, D-51).
func Route(enabled []Manifest, message string, previous []string) []Routed {
	var routed []Routed
	matched := false
	for _, m := range enabled {
		if m.AlwaysOn {
			routed = append(routed, Routed{m, "always on"})
			continue
		}
		if words := matches(m.Routing.Keywords, message); len(words) > 0 {
			matched = true
			routed = append(routed, Routed{m, "matched " + strings.Join(words, ", ")})
		}
	}
	if matched {
		return routed
	}
	return fallBack(enabled, previous)
}

func fallBack(enabled []Manifest, previous []string) []Routed {
	var routed []Routed
	business := false
	for _, m := range enabled {
		switch {
		case m.AlwaysOn:
			routed = append(routed, Routed{m, "always on"})
		case slices.Contains(previous, m.ID):
			routed = append(routed, Routed{m, "used in the previous turn"})
			business = true
		}
	}
	if business {
		return routed
	}
	routed = routed[:0]
	for _, m := range enabled {
		reason := "no skill matched, so every enabled one is offered"
		if m.AlwaysOn {
			reason = "always on"
		}
		routed = append(routed, Routed{m, reason})
	}
	return routed
}

// matches lists the keywords that occur in a message: Chinese ones anywhere (Chinese has no spaces),
// others as whole words in any case.
func matches(keywords []string, message string) []string {
	var found []string
	for _, k := range keywords {
		if text.HasWord(message, k) {
			found = append(found, k)
		}
	}
	return found
}
