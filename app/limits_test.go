package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/meshtest"
)

// bodyPaths are all addresses that take a body, each in its own protocol.
func bodyPaths() []string {
	return []string{"/api/v1/runs", "/agui", "/runs/run-x/confirm", "/mcp", "/a2a/agents/food/", "/demo/v1/chat/completions"}
}

// send posts a body as a user and gives the status; 0 when the connection was cut instead.
func send(t *testing.T, m *meshtest.Mesh, user, path string, body io.Reader) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://public.internal"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-User-ID", user)
	resp, err := m.Client().Do(r)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// endless gives so many bytes and counts what was taken of them.
type endless struct{ left, taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left.Load() <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = '['
	}
	e.left.Add(int64(-len(p)))
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

func TestALargeBodyIsNotRead(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for _, path := range bodyPaths() {
		var body endless
		body.left.Store(64 << 20)
		if status := send(t, m, "ann", path, &body); status != http.StatusRequestEntityTooLarge && status != 0 {
			t.Errorf("POST %s with 64 MiB: %d, want 413 or a closed connection", path, status)
		}
		if taken := body.taken.Load(); taken > 10<<20 {
			t.Errorf("POST %s: %d bytes were read, want about the limit", path, taken)
		}
	}
	if got := m.Ask("ann", "t", "你好"); got.Text() == "" {
		t.Error("after the large bodies nothing is answered")
	}
}

func TestAMillionElementsAreRefused(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	array := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	run := func(messages string) string { return `{"threadId":"t","runId":"r","messages":` + messages + `}` }
	for _, c := range []struct{ name, path, body string }{
		{"numbers", "/agui", run(array("0", 1_000_000))},
		{"numbers that fit", "/agui", run(array("0", 500_000))},
		{"messages that fit", "/api/v1/runs", run(array("{}", 300_000))},
		{"nested", "/api/v1/runs", run(strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000))},
		{"arguments", "/mcp", rpc("tools/call", `{"name":"get_food_item","arguments":{"id":`+array("0", 450_000)+`}}`)},
		{"parts", "/a2a/agents/food/", rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":`+array("{}", 300_000)+`}}`)},
		{"messages of the demo model", "/demo/v1/chat/completions", `{"model":"demo","messages":` + array("{}", 1_000_000) + `}`},
	} {
		resp := m.Open("ann", http.MethodPost, c.path, c.body, http.Header{"Accept": {"application/json, text/event-stream"}})
		answer := readAll(t, resp)
		_ = resp.Body.Close()
		refused := resp.StatusCode >= 400 && resp.StatusCode < 500 || strings.Contains(answer, `"error"`) || strings.Contains(answer, `"isError":true`)
		if !refused || len(answer) > 4096 {
			t.Errorf("%s to %s: %d %.300s (%d bytes), want a short refusal", c.name, c.path, resp.StatusCode, answer, len(answer))
		}
	}
	if got := m.Ask("ann", "t", "你好"); got.Text() == "" {
		t.Error("after the arrays nothing is answered")
	}
}

// slow gives a byte a second.
type slow struct{ text *bytes.Reader }

func (s slow) Read(p []byte) (int, error) {
	<-time.After(time.Second)
	return s.text.Read(p[:1])
}

func TestASlowBodyIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := meshtest.Start(t, meshtest.Options{})
		var clients sync.WaitGroup
		for _, path := range bodyPaths() {
			clients.Go(func() {
				began := time.Now()
				status := send(t, m, "ann", path, slow{bytes.NewReader([]byte(meshtest.Input("t", "hi")))})
				if took := time.Since(began); status == http.StatusOK || took > 20*time.Second {
					t.Errorf("POST %s at a byte a second: %d after %s, want it refused after 15 s", path, status, took)
				}
			})
		}
		if got := m.Ask("bob", "t", "你好"); got.Text() == "" {
			t.Error("beside the slow clients nothing is answered")
		}
		clients.Wait()
		<-time.After(2 * time.Second) // the clients' last bytes, which nobody reads any more
		m.Stop()
	})
}

// TestAReaderThatStopsIsCutOff: an answer that nobody takes does not hold its handler, and a stream that is
// only silent goes on.
func TestAReaderThatStopsIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := meshtest.Start(t, meshtest.Options{})
		for range 20 {
			m.Ask("ann", "t1", "今天食堂有什么菜？")
		}
		list := m.Open("ann", http.MethodGet, "/api/v1/audit?limit=100", "", nil)
		talk := m.Say("ann", "t2", "帮我订一份水煮牛肉。")
		q := talk.Question()
		var reader sync.WaitGroup
		reader.Go(talk.Rest) // fails where the stream is cut
		<-time.After(2 * time.Minute)
		if body, err := io.ReadAll(list.Body); err == nil {
			t.Errorf("after two minutes %d bytes came whole, want the connection cut", len(body))
		}
		_ = list.Body.Close()
		if status, _ := talk.Decide("confirm", q); status != http.StatusOK {
			t.Errorf("the decision: %d", status)
		}
		reader.Wait()
		m.Stop()
	})
}

// TestIdleStreamsHaveALimit opens 2,000 streams of one waiting run: the user meets a limit, others and the
// user's other requests do not.
func TestIdleStreamsHaveALimit(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	var open []*http.Response
	counts := map[int]int{}
	for range 2000 {
		resp := m.Open("ann", http.MethodGet, "/api/v1/runs/"+talk.RunID+"/events", "", nil)
		counts[resp.StatusCode]++
		if resp.StatusCode == http.StatusOK {
			open = append(open, resp)
			continue
		}
		_ = resp.Body.Close()
	}
	if counts[http.StatusOK] != 499 || counts[http.StatusTooManyRequests] != 1501 { // and talk's own
		t.Errorf("of 2000 streams: %v, want 499 open and the others refused with 429", counts)
	}
	if got := m.Ask("bob", "t", "你好"); got.Text() == "" {
		t.Error("beside the streams another user is not answered")
	}
	if status, _ := talk.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("beside the streams the decision: %d", status)
	}
	for i, resp := range open {
		if body := readAll(t, resp); !strings.Contains(body, "RUN_FINISHED") {
			t.Errorf("stream %d ended with %.200s", i, body)
		}
		_ = resp.Body.Close()
	}
	talk.Rest()
	for end := time.Now().Add(10 * time.Second); ; { // a stream's place is free a moment after its last byte
		resp := m.Open("ann", http.MethodGet, "/api/v1/runs/"+talk.RunID+"/events", "", nil)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal(fmt.Sprint("after all streams have ended: ", resp.StatusCode))
		}
	}
}
