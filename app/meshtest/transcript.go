package meshtest

import (
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/agui/aguicheck"
	"agentmesh/app/platform/sse"
)

// Transcript is what a client saw of one run.
type Transcript struct {
	RunID  string
	Events []agui.Event
}

// Talk is an open stream of a run.
type Talk struct {
	Transcript
	At   string // the place in the stream, to come back to with Follow
	m    *Mesh
	user string
	resp *http.Response
	next func() (sse.Event, error, bool)
	stop func()

	check *aguicheck.Checker // of a stream from its beginning on
}

// Ask starts a run and reads its stream to the end.
func (m *Mesh) Ask(user, thread, text string) Transcript {
	m.t.Helper()
	talk := m.Say(user, thread, text)
	talk.Rest()
	return talk.Transcript
}

// Say starts a run and leaves its stream open.
func (m *Mesh) Say(user, thread, text string) *Talk {
	m.t.Helper()
	return m.Stream(user, "/api/v1/runs", Input(thread, text))
}

// Stream posts to a path that answers with a run's stream, and leaves it open.
func (m *Mesh) Stream(user, path, body string) *Talk {
	m.t.Helper()
	resp := m.Open(user, http.MethodPost, path, body, nil)
	if resp.StatusCode != http.StatusOK {
		m.fatalf("POST %s: %s", path, resp.Status)
	}
	return m.talk(user, resp)
}

// Follow opens a run's events again from a place on.
func (m *Mesh) Follow(user, runID, after string) *Talk {
	m.t.Helper()
	resp := m.Open(user, http.MethodGet, "/api/v1/runs/"+runID+"/events", "", http.Header{"Last-Event-ID": {after}})
	if resp.StatusCode != http.StatusOK {
		m.fatalf("GET events: %s", resp.Status)
	}
	return m.talk(user, resp)
}

func (m *Mesh) talk(user string, resp *http.Response) *Talk {
	t := &Talk{m: m, user: user, resp: resp}
	t.RunID = resp.Header.Get("X-Run-Id")
	t.next, t.stop = iter.Pull2(sse.Read(resp.Body))
	return t
}

// Until reads the stream to the first event that fits.
func (t *Talk) Until(fits func(agui.Event) bool) agui.Event {
	t.m.t.Helper()
	for {
		raw, err, ok := t.next()
		if err != nil {
			t.m.fatalf("read stream: %v; saw %s", err, t.Types())
		}
		if !ok {
			t.m.fatalf("the stream ended; saw %s", t.Types())
		}
		var e agui.Event
		if err := json.Unmarshal([]byte(raw.Data), &e); err != nil {
			t.m.fatalf("event %q: %v", raw.Data, err)
		}
		t.obey(raw.Data, e)
		t.Events = append(t.Events, e)
		if raw.ID != "" {
			t.At = raw.ID
		}
		if fits(e) {
			return e
		}
	}
}

// obey checks that an event may stand where it does: every stream that a test reads keeps to the protocol.
func (t *Talk) obey(data string, e agui.Event) {
	t.m.t.Helper()
	switch {
	case t.check == nil && (len(t.Events) > 0 || e.Type != agui.RunStarted):
		return // taken up in its middle
	case t.check == nil:
		t.check = aguicheck.New(e.ProtocolVersion != "")
	}
	if err := t.check.Take(data); err != nil {
		t.m.fatalf("%v; saw %s", err, t.Types())
	}
}

// Question reads the stream to the question.
func (t *Talk) Question() agent.Confirmation {
	t.m.t.Helper()
	e := t.Until(func(e agui.Event) bool {
		if e.Type == agui.RunFinished || e.Type == agui.RunError {
			t.m.fatalf("the run ended without a question: %s; said %q", t.Types(), t.Text())
		}
		return e.Name == agui.ConfirmationRequired
	})
	var c agent.Confirmation
	if err := json.Unmarshal(e.Value, &c); err != nil {
		t.m.fatalf("question: %v", err)
	}
	return c
}

// Rest reads the stream to the end of the run.
func (t *Talk) Rest() {
	t.m.t.Helper()
	t.Until(func(e agui.Event) bool { return e.Type == agui.RunFinished || e.Type == agui.RunError })
	t.Close()
}

// Close leaves the stream.
func (t *Talk) Close() {
	t.stop()
	_ = t.resp.Body.Close()
}

// Decide answers a question by REST: verb is confirm or reject.
func (t *Talk) Decide(verb string, c agent.Confirmation) (int, string) {
	t.m.t.Helper()
	return t.Answer(verb, `{"confirmationId":"`+c.ID+`"}`)
}

// Answer decides with a body of the test's own.
func (t *Talk) Answer(verb, body string) (int, string) {
	t.m.t.Helper()
	return t.m.Do(t.user, http.MethodPost, "/runs/"+t.RunID+"/"+verb, body)
}

// Text is the answer's text.
func (t Transcript) Text() string {
	var b strings.Builder
	for _, e := range t.Events {
		if e.Type == agui.TextMessageContent {
			b.WriteString(e.Delta)
		}
	}
	return b.String()
}

// Tools lists the tools that were called, in order.
func (t Transcript) Tools() []string {
	var out []string
	for _, e := range t.Events {
		if e.Type == agui.ToolCallStart {
			out = append(out, e.ToolCallName)
		}
	}
	return out
}

// Results gives the results by tool call id.
func (t Transcript) Results() map[string]string {
	out := map[string]string{}
	for _, e := range t.Events {
		if e.Type == agui.ToolCallResult {
			out[e.ToolCallID] = e.Content
		}
	}
	return out
}

// Last is the last event.
func (t Transcript) Last() agui.Event {
	if len(t.Events) == 0 {
		return agui.Event{}
	}
	return t.Events[len(t.Events)-1]
}

// Types writes the order of the events.
func (t Transcript) Types() string {
	var out []string
	for _, e := range t.Events {
		name := e.Type
		if e.Name != "" {
			name += ":" + e.Name
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}
