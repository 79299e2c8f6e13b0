package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/demo"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/platform/text"
)

// smallModel is an endpoint whose model has a small context, and which refuses what does not fit it: by its own
// count of the whole body, a token for each Chinese character and for each four bytes of the rest.
type smallModel struct {
	size int
	next http.Handler

	mu      sync.Mutex
	refused []int
	largest int
	system  map[string]int // system prompts with tools, and how often each came
	last    string         // the newest request that is not for a summary
	sums    int
}

func strictCount(body []byte) int {
	han, rest := 0, 0
	for _, r := range string(body) {
		if text.IsHan(r) {
			han++
			continue
		}
		rest += len(string(r))
	}
	return han + (rest+3)/4
}

func (s *smallModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) > 0 {
		if n := s.note(body); n > s.size {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, s.size, n)
			return
		}
	}
	s.next.ServeHTTP(w, r)
}

func (s *smallModel) note(body []byte) int {
	n := strictCount(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.largest = max(s.largest, n)
	if n > s.size {
		s.refused = append(s.refused, n)
	}
	var req struct {
		Messages []struct{ Content string }
		Tools    []any
	}
	_ = json.Unmarshal(body, &req)
	if len(req.Tools) == 0 {
		s.sums++
		return n
	}
	s.system[req.Messages[0].Content]++
	s.last = string(body)
	return n
}

// startSmall starts a mesh with the demo model behind a small context.
func startSmall(t *testing.T, size int) (*meshtest.Mesh, *smallModel) {
	t.Helper()
	model := &smallModel{size: size, next: demo.Handler(demo.WithDelay(0)), system: map[string]int{}}
	s := httptest.NewServer(model)
	t.Cleanup(s.Close)
	return meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) {
		c.LLMBaseURL, c.LLMModel, c.LLMContext = s.URL+"/v1", "small", size
	}}), model
}

// TestLongConversationGoesOn is shows 3 of issue 5: 200 turns in two languages with tool calls, on a model of 8,192
// tokens. No request is larger, what was said in turn 3 is still told in turn 200, and events show how.
func TestLongConversationGoesOn(t *testing.T) {
	t.Parallel()
	const turns, size = 200, 8192
	m, model := startSmall(t, size)
	asks := []string{
		"水煮牛肉多少钱，还有库存吗？", "What is on the menu today?", "上海明天天气怎么样？", "How much is the mapo tofu, and is there any left?",
		"现在几点？", "今天有哪些菜？",
	}
	compressed, calls := 0, 0
	for n := 1; n <= turns; n++ {
		ask := asks[n%len(asks)]
		if n == 3 {
			ask = "记住我对花生过敏。"
		}
		got := m.Ask("ann", "t1", ask)
		if last := got.Last(); last.Type != agui.RunFinished || got.Text() == "" {
			t.Fatalf("turn %d (%s) ended with %s %q and said %q", n, ask, last.Type, last.Message, got.Text())
		}
		for _, e := range got.Events {
			if e.Type == agui.ToolCallStart {
				calls++
			}
			if e.Name == agui.ContextCompressed {
				compressed++
				wantCompression(t, e)
			}
		}
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	t.Logf("%d calls, %d compressions, the largest request has %d tokens", calls, compressed, model.largest)
	if len(model.refused) > 0 {
		t.Errorf("%d requests were too long for the model: %v", len(model.refused), model.refused)
	}
	if compressed < 5 || compressed != model.sums || calls < turns/2 {
		t.Errorf("got %d compressions for %d summaries, and %d calls", compressed, model.sums, calls)
	}
	if !strings.Contains(model.last, "花生过敏") || !strings.Contains(model.last, "Context to preserve") {
		t.Errorf("what was said in turn 3 is not in the last request: %s", model.last)
	}
	wantAudited(t, m, compressed)
}

func wantCompression(t *testing.T, e agui.Event) {
	t.Helper()
	var d agent.CompressedData
	if err := json.Unmarshal(e.Value, &d); err != nil {
		t.Fatal(err)
	}
	if d.How != agent.Summarised || d.After >= d.Before || d.Messages == 0 || d.LLMCallID == "" {
		t.Errorf("got %+v, want a summary that made the prompt shorter", d)
	}
}

func wantAudited(t *testing.T, m *meshtest.Mesh, want int) {
	t.Helper()
	var page struct{ Items []struct{ Status string } }
	m.Get("ann", "/api/v1/audit?capability=compress_context&limit=100", &page)
	if len(page.Items) != min(want, 100) {
		t.Errorf("got %d audit records of %d compressions", len(page.Items), want)
	}
}

// TestSystemPromptStaysTheSame: with the same skills an endpoint gets the same instructions, byte by byte, so that
// it need not read them anew.
func TestSystemPromptStaysTheSame(t *testing.T) {
	t.Parallel()
	m, model := startSmall(t, 32_768)
	for _, ask := range []string{"今天有哪些菜？", "水煮牛肉多少钱？", "宫保鸡丁多少钱？"} {
		m.Ask("ann", "t1", ask)
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	if len(model.system) != 1 {
		t.Errorf("got %d system prompts, want the same one each time: %v", len(model.system), model.system)
	}
}
