package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"agentmesh/app/platform/redact"
)

const key = `sk-ab"cd/ef+gh-0123`

func TestText(t *testing.T) {
	t.Parallel()
	s := redact.New(key, "", "short", "internal-key-1")
	for text, want := range map[string]string{
		"nothing here, short":                                                       "nothing here, short",
		"key " + key + " and internal-key-1":                                        "key [secret] and [secret]",
		`{"message":"bad key sk-ab\"cd/ef+gh-0123"}`:                                `{"message":"bad key [secret]"}`,
		"https://x/?key=sk-ab%22cd%2Fef%2Bgh-0123":                                  "https://x/?key=[secret]",
		"the key, encoded: " + base64.StdEncoding.EncodeToString([]byte(key)) + ".": "the key, encoded: [secret]==.",
		`sk-ab\"cd\/ef+gh-0123 and sk-ab%22cd%2fef%2bgh-0123`:                       "[secret] and [secret]",
		"amk_0123456789abcdef told":                                                 "[secret] told",
		"amk_x is too short to be one":                                              "amk_x is too short to be one",
	} {
		if got := s.Text(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&redact.Set{}).Text("amk_0123456789abcdef"); got != redact.Mark {
		t.Errorf("the zero value: got %q", got)
	}
}

func TestText_ASecretThatBeginsWithAnother(t *testing.T) {
	t.Parallel()
	if got := redact.New("secret-key", "secret-key-longer").Text("it is secret-key-longer"); got != "it is [secret]" {
		t.Errorf("got %q", got)
	}
}

func TestWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	line := "a line with internal-key-1\n"
	n, err := redact.New("internal-key-1").Writer(&out).Write([]byte(line))
	if err != nil || n != len(line) || out.String() != "a line with [secret]\n" {
		t.Errorf("got %d, %v, %q", n, err, out.String())
	}
}

// However a text is cut, no piece and no joint of pieces shows the secret, and nothing else is lost.
func TestStream_HoweverItIsCut(t *testing.T) {
	t.Parallel()
	const secret = "abcabcd-0123"
	text := "x abcabc abcabcabcd-0123 ab" + secret + secret[:7] + " amk_0123456789abcdef, am " + secret[:5]
	want := redact.New(secret).Text(text)
	for size := 1; size <= len(text); size++ {
		s := redact.Stream{Set: redact.New(secret)}
		var out strings.Builder
		for from := 0; from < len(text); from += size {
			out.WriteString(s.Push(text[from:min(from+size, len(text))]))
		}
		out.WriteString(s.End())
		if got := out.String(); got != want {
			t.Fatalf("in pieces of %d: got %q, want %q", size, got, want)
		}
	}
}

func TestStream_HoldsBackOnlyWhatMayBecomeASecret(t *testing.T) {
	t.Parallel()
	s := redact.Stream{Set: redact.New("sk-0123456789")}
	if got := s.Push("what is sk"); got != "what is " {
		t.Errorf("got %q, want the text before what may be a secret", got)
	}
	if got := s.Push("ill?"); got != "skill?" {
		t.Errorf("got %q, want what was held back once it is none", got)
	}
}
