package app_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agentmesh/app/meshtest"
)

// repeating are the answers of an endpoint that repeats the key, one for each place where it can.
func repeating(key string) []func(w http.ResponseWriter) {
	say := func(text string) string { return `{"choices":[{"delta":{"content":"` + text + `"}}]}` }
	end := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	return []func(w http.ResponseWriter){
		func(w http.ResponseWriter) {
			http.Error(w, `{"error":{"message":"bad key `+key+`"}}`, http.StatusUnauthorized)
		},
		func(w http.ResponseWriter) {
			http.Error(w, `{"error":{"message":"no such model for `+key+`"}}`, http.StatusNotFound)
		},
		func(w http.ResponseWriter) {
			http.Error(w, `<html>Bearer `+key+`</html>`, http.StatusInternalServerError)
		},
		func(w http.ResponseWriter) { w.Header().Set("Location", "/?key="+key); w.WriteHeader(http.StatusFound) },
		func(w http.ResponseWriter) { sendData(w, `{"error":{"message":"upstream said `+key+`"}}`) },
		func(w http.ResponseWriter) { sendData(w, say("half"), `{"error":"`+key+`"}`) },
		func(w http.ResponseWriter) { sendData(w, `{"choices":"`+key+`"}`) },
		func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, key) },
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, // what the client says of that names the address
		func(w http.ResponseWriter) { sendData(w, say("your key is "+key+", is it not?"), end) },
		func(w http.ResponseWriter) {
			sendData(w, say("in pieces: sk-a-key-that"), say("-must-not"), say("-be-seen"), end)
		},
		func(w http.ResponseWriter) {
			sendData(w, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"`+key+`","function":{"name":"`+key+`","arguments":"{\"`+key+`\":\"`+key+`\"}"}}]},"finish_reason":"tool_calls"}]}`)
		},
	}
}

// TestAKeyThatComesBackIsShownNowhere: an endpoint repeats the key that it was sent, in every place where it
// can say something. At the most talkative log level the key is in no log line, event, answer or file
// (design, section 12).
func TestAKeyThatComesBackIsShownNowhere(t *testing.T) {
	t.Parallel()
	const key, internal = "sk-a-key-that-must-not-be-seen", "internal-key-that-must-not-be-seen"
	answers := repeating(key)
	var asked atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			return
		}
		answers[int(asked.Add(1)-1)%len(answers)](w)
	}))
	t.Cleanup(endpoint.Close)
	dir := t.TempDir()
	p := launchWith(t, []string{"LLM_API_KEY=" + key, "LLM_BASE_URL=" + endpoint.URL + "/v1", "AGENTMESH_INTERNAL_KEY=" + internal, "AGENTMESH_LOG_LEVEL=debug"},
		"--log-level", "debug", "--listen", "127.0.0.1:0", "--data", dir)
	var shown strings.Builder
	read := func(path string) {
		resp, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		shown.WriteString(path + " " + readAll(t, resp))
		_ = resp.Body.Close()
	}
	for n := 0; int(asked.Load()) < len(answers); n++ {
		resp, err := p.post("/api/v1/runs", meshtest.Input(fmt.Sprint("t", n), "你好"))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("run: %v %v", resp, err)
		}
		shown.WriteString(readAll(t, resp))
		_ = resp.Body.Close()
		run := resp.Header.Get("X-Run-Id")
		read("/api/v1/runs/" + run)
		read("/api/v1/runs/" + run + "/events")
		read("/api/v1/traces/" + resp.Header.Get("X-Trace-Id"))
		read("/api/v1/conversations/" + fmt.Sprint("t", n) + "/messages")
	}
	for _, path := range []string{"/", "/api/v1/audit", "/api/v1/about", "/api/v1/agents", "/metrics", "/readyz"} {
		read(path)
	}
	p.stop(os.Interrupt)
	hidden := func(where, text string) {
		for _, secret := range []string{key, internal, "that-must-not-be-seen"} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s holds a key: …%.200s", where, text[max(0, at-100):])
			}
		}
	}
	hidden("what was shown", shown.String())
	for where, text := range map[string]string{"what was shown": shown.String(), "the log": p.log.String()} {
		for _, part := range []string{endpoint.URL, "/v1/chat/completions"} {
			if at := strings.Index(text, part); at >= 0 {
				t.Errorf("%s holds the endpoint's address: …%.200s", where, text[max(0, at-100):])
			}
		}
	}
	if !strings.Contains(shown.String(), "your key is [secret], is it not?") || !strings.Contains(shown.String(), "in pieces: [secret]") {
		t.Error("what the model said around the key is lost")
	}
	if !strings.Contains(p.log.String(), `"level":"debug"`) || !strings.Contains(p.log.String(), "model call failed") {
		t.Errorf("the log is not talkative: %.500s", p.log.String())
	}
	hidden("the log", p.log.String())
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		hidden(filepath.Base(path), string(raw))
		files++
		return err
	})
	if err != nil || files < 6 {
		t.Errorf("looked into %d files: %v", files, err)
	}
}
