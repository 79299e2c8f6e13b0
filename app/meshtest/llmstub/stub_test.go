package llmstub

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range cutMarks(expand("a«|»b«wait 5»«3×少油»c")) {
		got = append(got, string(p.data)+p.pause.String())
	}
	if s := strings.Join(got, " "); s != "a0s b0s 5ms 少油少油少油c0s" {
		t.Errorf("got %q", s)
	}
	for spec, want := range map[any]int{"utf8": 3, "bytes": 9, 4.0: 3} {
		cut, err := splitter(spec)
		if err != nil {
			t.Fatal(err)
		}
		parts := cut([]byte("a鱼🍅b"))
		joined := ""
		for _, p := range parts {
			joined += string(p)
		}
		if len(parts) != want || joined != "a鱼🍅b" {
			t.Errorf("%v: got %q, want %d parts", spec, parts, want)
		}
	}
	for _, bad := range []any{"words", 0.0, 1.5, true} {
		if _, err := splitter(bad); err == nil {
			t.Errorf("split %v was taken", bad)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const call = `{"id":"a","type":"function","function":{"name":"q","arguments":"{}"}}`
	const answer = `{"role":"tool","tool_call_id":"a","content":"r"}`
	calls := func(calls, rest string) string {
		return `{"messages":[{"role":"assistant","content":"","tool_calls":[` + calls + `]}` + rest + `]}`
	}
	tests := []struct{ name, body, rule string }{
		{"good", `{"messages":[{"role":"system","content":"s"},{"role":"assistant","content":null,"tool_calls":[` + call + `]},` + answer + `]}`, ""},
		{"unanswered", calls(call, `,{"role":"user","content":"u"}`), "answered"},
		{"answered_twice", calls(call, `,`+answer+`,`+answer), "answered"},
		{"orphan", `{"messages":[` + answer + `]}`, "answered"},
		{"twins", calls(call+`,`+call, `,`+answer), "ids_unique"},
		{"null_call", calls(`null`, ``), "ids_present"},
		{"glued", calls(strings.Replace(call, "{}", "{}{}", 1), `,`+answer), "args_object"},
		{"dotted", `{"messages":[],"tools":[{"type":"function","function":{"name":"a.b"}}]}`, "names_valid"},
		{"no_tools", `{"messages":[],"tools":[]}`, "tools_nonempty"},
		{"no_calls", `{"messages":[{"role":"assistant","content":"t","tool_calls":[]}]}`, "tools_nonempty"},
		{"late_system", `{"messages":[{"role":"user","content":"u"},{"role":"system","content":"s"}]}`, "system_first"},
		{"parts", calls(call, `,{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"}]}`), "string_tool_content"},
		{"empty", `{"messages":[{"role":"assistant","content":""}]}`, "content_or_calls"},
		{"no_key", `{"messages":[{"role":"assistant","tool_calls":[` + call + `]},` + answer + `]}`, "content_key_present"},
	}
	all, _ := rules()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := parseRequest([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got := broken(r, all)
			if (tt.rule == "" && len(got) > 0) || (tt.rule != "" && len(got[tt.rule]) == 0) {
				t.Errorf("got %v, want %q", got, tt.rule)
			}
		})
	}
}

func post(t *testing.T, s *Stub, bodies ...string) (last *http.Response, text string, err error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	for _, body := range bodies {
		last, err = srv.Client().Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			return nil, "", err
		}
		var raw []byte
		raw, err = io.ReadAll(last.Body)
		_ = last.Body.Close()
		text = string(raw)
	}
	return last, text, err
}

const withTools = `{"model":"one","stream":true,"messages":[],"tools":[{"type":"function","function":{"name":"q"}}]}`

func one(turns ...Turn) *Case { return &Case{ID: "one", Count: "with_tools", Turns: turns} }

func TestPlay(t *testing.T) {
	t.Parallel()
	call := []ScriptCall{{Name: "q", Arguments: json.RawMessage(`{ "a": 1 }`)}}
	plain := strings.Replace(withTools, "true", "false", 1)
	tests := []struct {
		name, body string
		turn       Turn
		status     int
		holds      string
	}{
		{"stream", withTools, Turn{SSE: "data: {{model}}\n\n«|»data: [DONE]\n\n"}, 200, "data: one\n\ndata: [DONE]\n\n"},
		{"status_and_header", withTools, Turn{Status: 429, Headers: map[string]string{"Retry-After": "1"}, JSON: json.RawMessage(`{}`)}, 429, "{}"},
		{"say", withTools, Turn{Say: "四"}, 200, `"content":"四"`},
		{"call", withTools, Turn{Call: call}, 200, `"arguments":"{\"a\":1}"`},
		{"call_without_stream", plain, Turn{Call: call}, 200, `"finish_reason":"tool_calls"`},
		{"stream_only", plain, Turn{SSE: "data: x\n\n"}, 400, "stream only"},
		{"raw", withTools, Turn{RawHTTP: "HTTP/1.1 418 x\r\nContent-Length: 2\r\n\r\nhi"}, 418, "hi"},
		{"no_tools_uses_up_nothing", `{"model":"one","messages":[]}`, Turn{Say: "四"}, 200, "旁路"},
		{"unknown_json", `{`, Turn{Say: "四"}, 400, "bad_json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, text, err := post(t, New(one(tt.turn)), tt.body)
			if err != nil || resp.StatusCode != tt.status || !strings.Contains(text, tt.holds) {
				t.Errorf("got %v, %q, %v, want %d and %q", resp, text, err, tt.status, tt.holds)
			}
		})
	}
}

func TestPlay_Ends(t *testing.T) {
	t.Parallel()
	if _, _, err := post(t, New(one(Turn{SSE: "data: 2\n\n", End: "cut"})), withTools); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: got %v", err)
	}
	var op *net.OpError
	if _, _, err := post(t, New(one(Turn{SSE: "data: 3\n\n", End: "reset"})), withTools); !errors.As(err, &op) {
		t.Errorf("reset: got %v", err)
	}
	for after, want := range map[string]string{"": "脚本", "repeat": "四", "error": "stub_over"} {
		c := one(Turn{Say: "四"})
		c.AfterLast = after
		if _, text, err := post(t, New(c), withTools, withTools); err != nil || !strings.Contains(text, want) {
			t.Errorf("%q: got %q, %v", after, text, err)
		}
	}
}

func TestManyCases(t *testing.T) {
	t.Parallel()
	other := one(Turn{Say: "另"})
	other.ID = "two"
	s := New(one(Turn{Say: "四"}), other)
	if _, text, err := post(t, s, strings.Replace(withTools, "one", "two", 1)); err != nil || !strings.Contains(text, "另") {
		t.Errorf("got %q, %v", text, err)
	}
	if resp, _, err := post(t, s, strings.Replace(withTools, "one", "three", 1)); err != nil || resp.StatusCode != 404 {
		t.Errorf("got %v, %v", resp, err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", http.NoBody))
	if !strings.Contains(w.Body.String(), `"id":"two"`) {
		t.Errorf("got %s", w.Body)
	}
}

func TestStrictAndCheck(t *testing.T) {
	t.Parallel()
	c := &Case{ID: "one", Turns: []Turn{{Say: "好"}}, Expected: Expected{
		Requests: &Range{Min: 1, Max: 1}, Wire: []string{"answered"},
		Sent: []SentReq{{N: -1, Contains: []string{"tool_calls"}, Lacks: []string{"secret"}, Fields: []PathCheck{
			{Path: "assistant.-1.tool_calls.0.function.arguments", JSONEq: json.RawMessage(`{"a":1}`)},
			{Path: "tool.0.content", Contains: "r"},
			{Path: "tools", Absent: true},
		}}},
	}}
	good := `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"q","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`
	s := New(c)
	s.Strict = true
	if resp, text, err := post(t, s, strings.Replace(good, `"tool_call_id":"a"`, `"tool_call_id":"b"`, 1)); err != nil || resp.StatusCode != 400 {
		t.Errorf("strict took it: %s, %v", text, err)
	}
	if got := New(c).Check(c); len(got) != 1 {
		t.Errorf("nothing asked: got %q", got)
	}
	s = New(c)
	s.Strict = true
	if resp, text, err := post(t, s, good); err != nil || resp.StatusCode != 200 {
		t.Errorf("strict refused it: %s, %v", text, err)
	}
	if got := s.Check(c); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	c.Expected.Sent[0].Fields[1].Contains = "other"
	c.Expected.Sent[0].Lacks = []string{"assistant"}
	c.Expected.Requests.Min = 2
	if got := s.Check(c); len(got) != 3 {
		t.Errorf("got %q, want three faults", got)
	}
}

func TestLoad_Refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := LoadDir(dir); err == nil {
		t.Error("an empty folder was taken")
	}
	const good = `{"id":"a","description":"d","source":["s"],"turns":[{"say":"x"}],"expected":{"wire":["answered"]}}`
	const full = `{"id":"a","description":"d","source":["s"],"steps":["say: x","approve","deny","cancel"],"turns":[{"say":"x"}],
		"expected":{"not_executed":["q","q {\"a\":1}","q without confirmation"]}}`
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, text := range []string{full, good} {
		if _, err := Load(write("a.json", text)); err != nil {
			t.Error(err)
		}
	}
	for _, replace := range [][2]string{
		{`"a"`, `"a b"`},
		{`"d"`, `""`},
		{`["s"]`, `[]`},
		{`[{"say":"x"}]`, `[]`},
		{`"say":"x"`, `"note":"x"`},
		{`answered`, `nonsense`},
		{`"id"`, `"unknown":1,"id"`},
		{`"say"`, `"end":"soon","say"`},
		{`"say"`, `"split":"words","say"`},
		{`"id"`, `"count":"some","id"`},
		{`"id"`, `"after_last":"x","id"`},
		{`"id"`, `"steps":["reload"],"id"`},
		{`"wire"`, `"not_executed":["q a=1"],"wire"`},
	} {
		if _, err := Load(write("b.json", strings.Replace(good, replace[0], replace[1], 1))); err == nil {
			t.Errorf("taken with %s", replace[1])
		}
	}
	write("b.json", good)
	if _, err := LoadDir(dir); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("got %v, want the same id twice to be refused", err)
	}
}
