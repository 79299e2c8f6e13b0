package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// hearing is an endpoint that remembers the keys it was sent, and answers with its name.
type hearing struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
	body map[string]json.RawMessage // of the last request
}

func hear(t *testing.T, name string, status int) *hearing {
	t.Helper()
	h := &hearing{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.keys = append(h.keys, r.Header.Get("Authorization"))
		if r.Method != http.MethodPost {
			return
		}
		h.body = nil
		_ = json.NewDecoder(r.Body).Decode(&h.body)
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		sendData(w, fmt.Sprintf(`{"choices":[{"delta":{"content":"I am %s."},"finish_reason":"stop"}]}`, name), "[DONE]")
	}))
	t.Cleanup(h.Close)
	return h
}

// heard gives the different keys that came.
func (h *hearing) heard() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := slices.Clone(h.keys)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// TestModels_EachHasItsOwnKey: three models at three addresses, in a real process. None is sent the key of another,
// the third answers, the run and its trace say so, and no key is in what was shown or logged.
func TestModels_EachHasItsOwnKey(t *testing.T) {
	t.Parallel()
	first, second, third := hear(t, "first", 401), hear(t, "second", 403), hear(t, "third", 200)
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	writeFile(t, file, fmt.Sprintf(`
models:
  - name: model-a
  - {name: model-b, base_url: %s/v1}
  - name: model-c
    base_url: %s/v1
    key_env: THIRD_KEY
    leave_out: [stream_options]
    extra_body: {thinking: {type: disabled}}
    max_tools: 2
`, second.URL, third.URL))
	const ownKey, otherKey = "sk-key-of-the-first-endpoint", "sk-key-of-the-third-endpoint"
	p := launchWith(t, []string{"LLM_BASE_URL=" + first.URL + "/v1", "LLM_API_KEY=" + ownKey, "THIRD_KEY=" + otherKey, "LLM_MODELS=not-these"},
		"--config", file, "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "debug")
	resp, err := p.post("/api/v1/runs", meshtest.Input("t1", "你好"))
	if err != nil {
		t.Fatal(err)
	}
	shown := readAll(t, resp)
	_ = resp.Body.Close()
	for _, path := range []string{"/api/v1/runs/" + resp.Header.Get("X-Run-Id"), "/api/v1/traces/" + resp.Header.Get("X-Trace-Id"), "/api/v1/about"} {
		resp, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		shown += readAll(t, resp)
		_ = resp.Body.Close()
	}
	p.stop(os.Interrupt)
	wantWords(t, "what was shown", shown, "I am third.", `"model":"model-b","class":"permission"`, `"next":"model-c"`, "chat model-c", `"gen_ai.response.model":"model-c"`, "check LLM_API_KEY")
	for want, h := range map[string]*hearing{"Bearer " + ownKey: first, "": second, "Bearer " + otherKey: third} {
		if got := h.heard(); len(got) != 1 || got[0] != want {
			t.Errorf("got the keys %q, want %q alone", got, want)
		}
	}
	var tools []any
	_ = json.Unmarshal(third.body["tools"], &tools)
	if third.body["stream_options"] != nil || string(third.body["thinking"]) != `{"type":"disabled"}` || len(tools) != 2 {
		t.Errorf("the third was sent %v and %d tools", third.body["thinking"], len(tools))
	}
	wantWords(t, "the log", p.log.String(), "tools are not offered", "model-c")
	for _, key := range []string{ownKey, otherKey} {
		if strings.Contains(shown+p.log.String(), key) {
			t.Errorf("a key was shown or logged:\n%s\n%s", shown, p.log)
		}
	}
}

// TestModels_File: the list is shown without keys and without what may be one; mistakes are reported together.
func TestModels_File(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	config := func(text string) string {
		writeFile(t, file, text)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "config", "--config", file, "--data", t.TempDir())
		cmd.Env = []string{beTheProgram + "=1", "PATH=" + os.Getenv("PATH"), "MY_KEY=" + secret}
		out, _ := cmd.CombinedOutput()
		if strings.Contains(string(out), secret) || strings.Contains(string(out), "sk-") {
			t.Errorf("a key is shown:\n%s", out)
		}
		return string(out)
	}
	wantWords(t, "config", config(`
llm-base-url: http://127.0.0.1:1/v1
models:
  - name: a
  - {name: b, base_url: "http://127.0.0.1:2/v1", key_env: MY_KEY, context_size: 9000, echo_reasoning: false, leave_out: [stream], extra_body: {seed: 1, a: 2}, max_tools: 5}
`), "a at LLM_BASE_URL; b at http://127.0.0.1:2/v1, key from MY_KEY, context_size 9000, echo_reasoning false, leave_out stream, extra_body a seed, max_tools 5", "mesh.yaml line 3")
	wantWords(t, "the mistakes in form", config(`
models:
  - {name: a, api_key: sk-123456789}
  - sk-123456789
`), `models[1]: json: unknown field "api_key"; a model has name, base_url, key_env`, "its key in the environment, in a variable that key_env names", "models[2]")
	wantWords(t, "the mistakes in what is said", config(`
models:
  - {name: a}
  - {name: b, base_url: "http://x/v1", key_env: sk-123456789}
  - {name: c, base_url: "http://x/v1", key_env: NO_SUCH_VARIABLE}
  - {base_url: "x", context_size: 7, leave_out: [messages], extra_body: {model: x}, max_tools: -1}
`), "models[1]: it has no base_url, and LLM_BASE_URL is not set", "models[2]: key_env takes the NAME", "models[3]: the variable that key_env names is not set",
		"models[4]: context_size: 7 is not between", `models[4]: "x" is not an http`, "no name", `"messages" cannot be left out of a request; stream, stream_options`, "says model", "-1 is no number")
	wantWords(t, "no list", config("models: {name: a}\n"), "models: it is no list of models")
}

// TestModels_SampleOfTheDocs: what docs/model-wire.md shows can be used.
func TestModels_SampleOfTheDocs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "model-wire.md"))
	sample := regexp.MustCompile("(?s)```yaml\n(models:.*?)```").FindSubmatch(raw)
	if err != nil || sample == nil {
		t.Fatalf("no sample: %v", err)
	}
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	writeFile(t, file, string(sample[1]))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "config", "--config", file, "--data", t.TempDir())
	cmd.Env = []string{beTheProgram + "=1", "PATH=" + os.Getenv("PATH"), "LLM_API_KEY=" + secret}
	for _, name := range regexp.MustCompile(`key_env: ([A-Z_]+)`).FindAllSubmatch(sample[1], -1) {
		cmd.Env = append(cmd.Env, string(name[1])+"="+secret)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestModels_OneAddressIsEnough: the program starts, and doctor warns, when one of two addresses is dead.
func TestModels_OneAddressIsEnough(t *testing.T) {
	t.Parallel()
	alive := hear(t, "alive", 200)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	models := []app.ModelSetting{{Name: "gone", BaseURL: dead.URL + "/v1"}, {Name: "here", BaseURL: alive.URL + "/v1"}}
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.Models = models }})
	if got := m.Ask("ann", "t1", "hello"); got.Text() != "I am alive." {
		t.Errorf("got %q", got.Text())
	}
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	for list, want := range map[string]string{
		fmt.Sprintf("[{name: a, base_url: %s/v1}, {name: b, base_url: %s/v1}]", dead.URL, alive.URL): "warning model",
		fmt.Sprintf("[{name: a, base_url: %s/v1}]", dead.URL):                                        "problem model",
	} {
		writeFile(t, file, "models: "+list+"\n")
		status, seen, text := examine(t, "--data", t.TempDir(), "--config", file)
		if !slices.Contains(seen, want) || slices.Contains(seen, "problem model") != (want == "problem model") || status == 0 != (want == "warning model") {
			t.Errorf("%s: got %d %s, want %s", list, status, text, want)
		}
		wantWords(t, "doctor", text, "models[1]: nothing answers at")
	}
}
