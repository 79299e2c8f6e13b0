package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/redact"
)

// secretKey is what is sent to the endpoint, and must not come back.
const secretKey = "key-of-the-endpoint"

// bodies gives all that the endpoints of the cases send.
func bodies(f *testing.F) [][]byte {
	f.Helper()
	cases, err := llmstub.LoadDir(filepath.Join("..", "..", "app", "testdata", "cases"))
	if err != nil {
		f.Fatal(err)
	}
	var out [][]byte
	for _, c := range cases {
		for _, turn := range c.Turns {
			out = append(out, turn.Bytes())
		}
	}
	return out
}

// FuzzFold: whatever an endpoint sends, the answer does not depend on how it was cut, its size has a limit, what was
// shown is its text, all of it is whole characters, each call has a name, an id of its own and one JSON value as
// arguments, and the key is nowhere in it.
func FuzzFold(f *testing.F) {
	for _, body := range bodies(f) {
		f.Add(body, false)
		f.Add(body, true)
	}
	for _, body := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a key-of-\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"the-endpoint\"},\"finish_reason\":\"stop\"}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}{}\"}}]}}]}\r\n\r\n",
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[null,{"function":{"arguments":{}}}]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"arguments":"\"{\\\"a\\\":\\\"key-of-the-\\u0065ndpoint\\\"}\""}}]}}]}`,
		": x\n\nevent: error\ndata: [{\"error\":\"x\"}]\n\n",
	} {
		f.Add([]byte(body), true)
	}
	secrets := redact.New(secretKey)
	f.Fuzz(func(t *testing.T, body []byte, tools bool) {
		a, said, err := folding(bytes.NewReader(body), secrets, tools)
		b, _, cutErr := folding(iotest.OneByteReader(bytes.NewReader(body)), secrets, tools)
		if a.Text != b.Text || a.Reasoning != b.Reasoning || len(a.Calls) != len(b.Calls) || a.Complete != b.Complete || (err == nil) != (cutErr == nil) {
			t.Fatalf("got %+v, %v when whole and %+v, %v when cut", a, err, b, cutErr)
		}
		if said != a.Text {
			t.Errorf("said %q of %q", said, a.Text)
		}
		judgeAnswer(t, a)
		if size := len(a.Text) + len(a.Reasoning) + callCost*len(a.Calls); size > MaxAnswer && !errors.Is(err, errEndless) {
			t.Errorf("got an answer of %d bytes, %v", size, err)
		}
	})
}

// judgeAnswer says what must not be so of any answer.
func judgeAnswer(t *testing.T, a agent.Answer) {
	t.Helper()
	parts := []string{a.Text, a.Reasoning, a.Finish}
	ids := map[string]bool{"": true, "call_1": true} // that was taken
	for _, c := range a.Calls {
		if ids[c.ID] || c.Name == "" || !json.Valid(c.Args) || len(c.Extra) > 0 && !json.Valid(c.Extra) {
			t.Errorf("got call %+v", c)
		}
		ids[c.ID] = true
		parts = append(parts, c.ID, c.Name, string(c.Args), string(c.Extra))
	}
	for _, part := range parts {
		if !utf8.ValidString(part) || strings.Contains(part, secretKey) {
			t.Errorf("got %q in %+v", part, a)
		}
	}
}

// FuzzSay: what becomes of a text does not depend on the pieces in which a model says it, and one without tags stays
// as it is, but for the key.
func FuzzSay(f *testing.F) {
	for _, text := range []string{
		"水🍅", "<think>a</think>\n b <think>c</think>", " <think>a", "<thin", "<think></think>\n\n<tool_call>{\"name\":\"x\",\"arguments\":{\"a\":1}}</tool_call>!",
		"a<tool_call>b</tool_call>c<tool_call>{\"name\":\"y\"}", "<tool_call>", "key-of-<tool_call>{\"name\":\"x\"}</tool_call>the-endpoint",
		"<think>key-of-the-endpoint</think>key-of-the-endpoin", " key-of-the-endpoint, key-of-<tool",
	} {
		f.Add(text)
	}
	secrets := redact.New(secretKey)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "amk_") {
			t.Skip("where one of our own keys begins and ends is for redact to say")
		}
		say := func(pieces ...string) (a agent.Answer) {
			f := fold{onText: func(string) {}, onPiece: func() {}, secrets: secrets, hidden: redact.Stream{Set: secrets}, written: &written{}, taken: map[string]bool{}}
			for _, piece := range pieces {
				f.say(piece)
			}
			f.flush()
			f.into(&a)
			for i := range a.Calls {
				a.Calls[i].ID = "" // made up
			}
			return a
		}
		whole, inBytes := say(text), say(strings.Split(text, "")...)
		if !reflect.DeepEqual(whole, inBytes) {
			t.Errorf("got %+v of the whole, and %+v in characters", whole, inBytes)
		}
		if want := secrets.Text(text); !strings.Contains(text, thinkBegin) && !strings.Contains(text, callBegin) && whole.Text != want {
			t.Errorf("got %q, want %q", whole.Text, want)
		}
		if strings.Contains(whole.Text, secretKey) || strings.Contains(whole.Reasoning, secretKey) {
			t.Errorf("got %+v", whole)
		}
	})
}
