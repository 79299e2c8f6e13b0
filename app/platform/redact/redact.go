// Package redact hides secrets in what the program writes or shows (design, section 12): the log, and
// whatever an endpoint says to which a secret is sent. It must not know whose secrets they are.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Mark stands in the place of a secret.
const Mark = "[secret]"

// shortest is the shortest secret that is hidden: a shorter one occurs in ordinary text.
const shortest = 8

// ours are the keys that 'agentmesh key add' makes; of those only hashes are kept, so they are known by
// their form.
var ours = regexp.MustCompile(`\bamk_[A-Za-z0-9_-]{8,}`)

// oursBegun is an end of a text that may become one of them.
var oursBegun = regexp.MustCompile(`\b(a|am|amk|amk_[A-Za-z0-9_-]{0,80})$`)

// Set knows some secrets. The zero value knows only the form of our own keys.
type Set struct {
	values   []string
	replacer *strings.Replacer
}

// New makes a set. Empty and very short values are left out.
func New(secrets ...string) *Set {
	s := &Set{}
	for _, secret := range secrets {
		s.values = append(s.values, formsOf(secret)...)
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	pairs := make([]string, 0, 2*len(s.values))
	for _, value := range s.values {
		pairs = append(pairs, value, Mark)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// formsOf gives a secret as it is, and as it stands in JSON, in an address and in Base64.
func formsOf(secret string) []string {
	if len(secret) < shortest {
		return nil
	}
	forms := []string{secret}
	raw, _ := json.Marshal(secret) // a string always encodes
	quoted := strings.Trim(string(raw), `"`)
	for _, form := range []string{
		quoted, strings.ReplaceAll(quoted, "/", `\/`),
		url.QueryEscape(secret), url.PathEscape(secret), lowerEscapes(url.QueryEscape(secret)), lowerEscapes(url.PathEscape(secret)),
		base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(text string) string {
	return escape.ReplaceAllStringFunc(text, strings.ToLower)
}

var escape = regexp.MustCompile(`%[0-9A-F]{2}`)

// Text puts Mark in the place of every secret.
func (s *Set) Text(text string) string { return hideOurs(s.hideKnown(text)) }

func (s *Set) hideKnown(text string) string {
	if s.replacer == nil {
		return text
	}
	return s.replacer.Replace(text)
}

func hideOurs(text string) string {
	if !strings.Contains(text, "amk_") {
		return text
	}
	return ours.ReplaceAllLiteralString(text, Mark)
}

// Writer hides secrets in what is written to w. Each Write is taken for itself: a line of the log.
func (s *Set) Writer(w io.Writer) io.Writer { return writer{s, w} }

type writer struct {
	set *Set
	to  io.Writer
}

// Write reports the length that it was given, as a log expects.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.set.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Stream hides secrets in a text that comes in pieces, however they are cut. The zero value with a Set is
// ready.
type Stream struct {
	Set  *Set
	held string
}

// Push takes a piece and gives what can be shown of the text so far. Only what may be the beginning of a
// secret is held back.
func (s *Stream) Push(piece string) string {
	text := s.Set.hideKnown(s.held + piece)
	keep := s.Set.begun(text)
	s.held = text[len(text)-keep:]
	return hideOurs(text[:len(text)-keep]) // where one of ours ends is known only by what follows it
}

// End gives what was held back.
func (s *Stream) End() string {
	rest := s.Set.Text(s.held)
	s.held = ""
	return rest
}

// begun gives the length of the longest end of a text that a secret begins with.
func (s *Set) begun(text string) int {
	longest := len(oursBegun.FindString(text))
	for _, value := range s.values {
		for n := min(len(value)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, value[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
