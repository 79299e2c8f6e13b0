package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
)

// style is one of the two ways in which AG-UI shows a run that asks a person.
type style struct {
	name, path string
	// yes agrees to a question, and reads what comes of it to the end.
	yes func(t *testing.T, m *meshtest.Mesh, talk *meshtest.Talk, q agent.Confirmation)
}

func styles() []style {
	return []style{
		{"open stream", "/api/v1/runs", func(t *testing.T, m *meshtest.Mesh, talk *meshtest.Talk, q agent.Confirmation) {
			t.Helper()
			if status, body := m.Do("ann", http.MethodPost, "/runs/"+talk.RunID+"/confirm", `{"confirmationId":"`+q.ID+`"}`); status != http.StatusOK {
				t.Errorf("confirm: %d %s", status, body)
			}
			m.Follow("ann", talk.RunID, "").Rest()
		}},
		{"interrupt and resume", "/agui", func(t *testing.T, m *meshtest.Mesh, _ *meshtest.Talk, q agent.Confirmation) {
			t.Helper()
			if done := standard(t, m, resumeBody(q.ThreadID, q.ID, `true`)); done.Last().Type != agui.RunFinished || done.Last().Outcome != nil {
				t.Errorf("the resume ended with %+v", done.Last())
			}
		}},
	}
}

// everyStyle runs a test in both.
func everyStyle(t *testing.T, test func(t *testing.T, s style)) {
	t.Helper()
	for _, s := range styles() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// wantWhole reads a run's stream from where a watcher was, and all of it for one who saw nothing. Both must see one
// beginning, one end, and a text that is the stored one. It gives that text.
func wantWhole(t *testing.T, m *meshtest.Mesh, before *meshtest.Talk) string {
	t.Helper()
	rest, fresh := m.Follow("ann", before.RunID, before.At), m.Follow("ann", before.RunID, "")
	rest.Rest()
	fresh.Rest()
	back := rest.Transcript
	if before.At != "" { // the streams of POST /agui have no places to come back to: their watchers begin anew
		back.Events = slices.Concat(before.Events, rest.Events)
	}
	said := answerOf(t, m, before.RunID)
	for name, seen := range map[string]meshtest.Transcript{"the watcher that came back": back, "a new watcher": fresh.Transcript} {
		types, results, open := map[string]int{}, map[string]int{}, map[string]bool{}
		for _, e := range seen.Events {
			if e.Type == agui.RunFinished && e.Outcome != nil {
				continue // a stream's end, not the run's
			}
			types[e.Type]++
			switch e.Type {
			case agui.TextMessageStart:
				open[e.MessageID] = true
			case agui.TextMessageEnd:
				delete(open, e.MessageID)
			case agui.ToolCallResult:
				results[e.ToolCallID]++
			}
		}
		if types[agui.RunStarted] != 1 || types[agui.RunFinished] != 1 || types[agui.RunError] != 0 || len(open) > 0 {
			t.Errorf("%s saw %s, want one beginning, one end, and every message ended", name, seen.Types())
		}
		if got := lastMessage(seen); got != said || got == "" {
			t.Errorf("%s read %q, stored is %q", name, got, said)
		}
		for id, n := range results {
			if n > 1 {
				t.Errorf("%s saw the result of %s %d times", name, id, n)
			}
		}
	}
	return said
}

// lastMessage is the text of the last message that a watcher saw begin.
func lastMessage(seen meshtest.Transcript) string {
	id, text := "", ""
	for _, e := range seen.Events {
		switch {
		case e.Type == agui.TextMessageStart:
			id, text = e.MessageID, ""
		case e.Type == agui.TextMessageContent && e.MessageID == id:
			text += e.Delta
		}
	}
	return text
}

// answerOf is the stored answer of a run that has succeeded; it must be the only one.
func answerOf(t *testing.T, m *meshtest.Mesh, runID string) string {
	t.Helper()
	var r struct{ Status, ThreadID string }
	m.Get("ann", "/api/v1/runs/"+runID, &r)
	if r.Status != "SUCCEEDED" {
		t.Errorf("the run is %s, want SUCCEEDED", r.Status)
	}
	var messages struct {
		Items []struct{ RunID, Role, Content string }
	}
	m.Get("ann", "/api/v1/conversations/"+r.ThreadID+"/messages", &messages)
	var answers []string
	for _, msg := range messages.Items {
		if msg.RunID == runID && msg.Role == "assistant" && msg.Content != "" {
			answers = append(answers, msg.Content)
		}
	}
	if len(answers) != 1 {
		t.Fatalf("stored are the answers %q, want one", answers)
	}
	return answers[0]
}

// goesOn says something further in a conversation.
func goesOn(t *testing.T, m *meshtest.Mesh, thread string) {
	t.Helper()
	if next := m.Ask("ann", thread, "现在几点？"); next.Last().Type != agui.RunFinished || next.Text() == "" {
		t.Errorf("the conversation takes no new message: %s", next.Types())
	}
}

// TestKilledDuringTheAnswer: the answer that a kill cut off is asked for again, and nobody sees the two glued together.
// The tool that had answered before is not called again.
func TestKilledDuringTheAnswer(t *testing.T) {
	t.Parallel()
	everyStyle(t, func(t *testing.T, s style) {
		slow := llmstub.Turn{Say: strings.Repeat("现在是十二点，", 200), PieceDelayMS: 30}
		model := httptest.NewServer(llmstub.New(&llmstub.Case{ID: "case", Turns: []llmstub.Turn{
			{Call: []llmstub.ScriptCall{{ID: "call-1", Name: "get_current_time", Arguments: json.RawMessage(`{}`)}}}, slow, {Say: "现在是中午十二点整。"},
		}}))
		t.Cleanup(model.Close)
		dir := t.TempDir()
		p := launchWith(t, []string{"LLM_BASE_URL=" + model.URL + "/v1", "LLM_MODEL=case"}, "--listen", "127.0.0.1:0", "--data", dir)
		m := meshtest.At(t, p.url)
		talk := m.Stream("ann", s.path, meshtest.Input("t1", "现在几点？"))
		pieces := 0
		talk.Until(func(e agui.Event) bool {
			if e.Type == agui.TextMessageContent {
				pieces++
			}
			return pieces == 3
		})
		m = restarted(t, p)
		if said := wantWhole(t, m, talk); said != "现在是中午十二点整。" {
			t.Errorf("the answer is %q, want the new one alone", said)
		}
		if got := audited(m, "ann", talk.RunID); len(got) != 1 || got[0] != "get_current_time SUCCESS" {
			t.Errorf("audited: %q, want the one call", got)
		}
		goesOn(t, m, "t1")
		checkSound(t, p)
	})
}

// TestKilledDuringTheConfirmation: the question waits, for its watchers too, and a yes orders once.
func TestKilledDuringTheConfirmation(t *testing.T) {
	t.Parallel()
	everyStyle(t, func(t *testing.T, s style) {
		dir := t.TempDir()
		p := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
		m := meshtest.At(t, p.url)
		before := stock(t, m, "food-001")
		talk := m.Stream("ann", s.path, meshtest.Input("t1", "帮我订一份水煮牛肉。"))
		q := talk.Question()
		m = restarted(t, p)
		if again := standard(t, m, meshtest.Input("t1", "再说一句")); interruptOf(t, again) != q.ID {
			t.Error("a new message is not answered with the open question")
		}
		s.yes(t, m, talk, q)
		if said := wantWhole(t, m, talk); !strings.Contains(said, "order-") {
			t.Errorf("said %q, want the order", said)
		}
		wantOrders(t, m, "ann", "CONFIRMED")
		awaitStock(t, m, before-1)
		goesOn(t, m, "t1")
		checkSound(t, p)
		p.stop(syscall.SIGTERM)
		checkBooks(t, dir)
	})
}

// gate stands before a catalog of its own process, and holds its commits when told to: on their way there, or
// their answers on the way back.
type gate struct {
	url     string
	catalog atomic.Pointer[url.URL]
	at      atomic.Value // "there", "back" or ""
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

func newGate(t *testing.T, catalog, at string) *gate {
	t.Helper()
	g := &gate{reached: make(chan struct{}), open: make(chan struct{})}
	g.at.Store(at)
	g.aim(t, catalog)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(g.catalog.Load()) }, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		commit := bytes.Contains(body, []byte(`"commit_reservation"`)) && bytes.Contains(body, []byte(`"tools/call"`))
		if commit && g.at.Load() == "there" {
			g.hold()
		}
		if commit && g.at.Load() == "back" {
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, r)
			g.hold()
			for name, values := range answer.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(g.pass)
	g.url = s.URL
	return g
}

func (g *gate) aim(t *testing.T, catalog string) {
	t.Helper()
	to, err := url.Parse(catalog)
	if err != nil {
		t.Fatal(err)
	}
	g.catalog.Store(to)
}

func (g *gate) hold() {
	select {
	case <-g.reached:
	default:
		close(g.reached)
	}
	<-g.open
}

// pass lets through what is held, and everything from now on.
func (g *gate) pass() {
	g.once.Do(func() {
		g.at.Store("")
		close(g.open)
	})
}

// TestKilledAtTheCommit kills the front, or the catalog, between the decision and the commit and between the commit and
// the order's confirmation. The yes counts, once.
func TestKilledAtTheCommit(t *testing.T) {
	t.Parallel()
	for at, place := range map[string]string{"there": "between decision and commit", "back": "between commit and confirmation"} {
		for _, victim := range []string{"front", "catalog"} {
			t.Run(place+"/"+victim, func(t *testing.T) {
				t.Parallel()
				everyStyle(t, func(t *testing.T, s style) { killAtTheCommit(t, s, at, victim) })
			})
		}
	}
}

func killAtTheCommit(t *testing.T, s style, at, victim string) {
	dir := t.TempDir()
	catalog := launch(t, "--module", "mcp", "--listen", "127.0.0.1:0", "--data", dir)
	g := newGate(t, catalog.url, at)
	front := launch(t, "--listen", "127.0.0.1:0", "--data", dir, "--peer", "mcp="+g.url)
	m, books := meshtest.At(t, front.url), meshtest.At(t, catalog.url)
	before := stock(t, books, "food-001")
	talk := m.Stream("ann", s.path, meshtest.Input("t1", "帮我订一份水煮牛肉。"))
	q := talk.Question()
	decided := make(chan struct{})
	go func() { // its answer may never come
		defer close(decided)
		path, body := "/runs/"+talk.RunID+"/confirm", `{"confirmationId":"`+q.ID+`"}`
		if s.path == "/agui" {
			path, body = "/agui", resumeBody("t1", q.ID, `true`)
		}
		m.Try("ann", path, body)
	}()
	<-g.reached
	switch victim {
	case "front":
		m = restarted(t, front)
	case "catalog":
		books = restarted(t, catalog)
		g.aim(t, catalog.url)
	}
	g.pass()
	<-decided
	s.yes(t, m, talk, q) // what a person does whose yes was not answered
	if said := wantWhole(t, m, talk); !strings.Contains(said, "order-") {
		t.Errorf("said %q, want the order", said)
	}
	wantDecision(t, m, "ann", replayed(t, m, talk.RunID), agent.ConfirmationConfirmed)
	wantOrders(t, m, "ann", "CONFIRMED")
	awaitStock(t, books, before-1)
	goesOn(t, m, "t1")
	front.stop(syscall.SIGTERM)
	catalog.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}

// replayed is all of a run's stream.
func replayed(t *testing.T, m *meshtest.Mesh, runID string) meshtest.Transcript {
	t.Helper()
	talk := m.Follow("ann", runID, "")
	talk.Rest()
	return talk.Transcript
}
