package skills

import (
	"slices"
	"strings"
	"unicode"
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
	text := plain(message)
	var found []string
	for _, k := range keywords {
		if occurs(text, plain(k)) {
			found = append(found, k)
		}
	}
	return found
}

// plain takes the differences away that do not matter: case, and the form of an apostrophe.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "’", "'") }

func occurs(text, word string) bool {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return strings.Contains(text, word)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if !latinBefore(text[:start]) && !latinAfter(text[end:]) {
			return true
		}
		from = end
	}
}

func latinBefore(s string) bool {
	return s != "" && isLatin(rune(s[len(s)-1]))
}

func latinAfter(s string) bool {
	return s != "" && isLatin(rune(s[0]))
}

func isLatin(r rune) bool {
	return r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
