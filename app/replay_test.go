package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/platform/sse"
)

// seen is an event as a client has it: its place, if it carries one, and its JSON.
type seen struct{ at, data string }

func events(t *testing.T, m *meshtest.Mesh, runID, after string) []seen {
	t.Helper()
	resp := m.Open("ann", http.MethodGet, "/api/v1/runs/"+runID+"/events", "", http.Header{"Last-Event-ID": {after}})
	defer func() { _ = resp.Body.Close() }()
	var out []seen
	for e, err := range sse.Read(resp.Body) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, seen{e.ID, e.Data})
	}
	return out
}

// plain joins pieces of text and leaves out what depends on when an event is read.
func plain(t *testing.T, list []seen) string {
	t.Helper()
	var b strings.Builder
	text := false
	for _, s := range list {
		var e agui.Event
		if err := json.Unmarshal([]byte(s.data), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == agui.TextMessageContent {
			if !text {
				b.WriteString("\nTEXT ")
			}
			text = true
			b.WriteString(e.Delta)
			continue
		}
		text = false
		if e.Name == agui.ConfirmationRequired {
			e.Value = nil
		}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n" + string(raw))
	}
	return b.String()
}

// TestReplayFromEveryPlace: a client that was cut off anywhere reads on as if it had not been.
func TestReplayFromEveryPlace(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	talk.Decide("confirm", talk.Question())
	talk.Rest()
	all := events(t, m, talk.RunID, "")
	if len(all) < 12 {
		t.Fatalf("only %d events", len(all))
	}
	for i, s := range all {
		if s.at == "" {
			continue
		}
		want := plain(t, all[i+1:])
		if got := plain(t, events(t, m, talk.RunID, s.at)); got != want {
			t.Errorf("after %s got\n%s\nwant\n%s", s.at, got, want)
		}
	}
	// and within the answer's text
	last := all[len(all)-1].at
	for _, s := range all {
		if head, _, ok := strings.Cut(s.at, "."); ok {
			whole := plain(t, events(t, m, talk.RunID, head))
			rest := plain(t, events(t, m, talk.RunID, head+".3"))
			_, text, _ := strings.Cut(whole, "\nTEXT ") // after the message's start, which has no place of its own
			if runes := []rune(text); "\nTEXT "+string(runes[3:]) != rest {
				t.Errorf("after %s.3 got\n%s\nwant the rest of\n%s", head, rest, whole)
			}
			break
		}
	}
	// characters of an event that is no model call do not count
	if got, want := plain(t, events(t, m, talk.RunID, "1.3")), plain(t, events(t, m, talk.RunID, "1")); got != want {
		t.Errorf("after 1.3 got\n%s\nwant what comes after 1\n%s", got, want)
	}
	if status, _ := m.Do("ann", http.MethodGet, "/api/v1/runs/"+talk.RunID+"/events?after=9999", ""); status != http.StatusBadRequest {
		t.Errorf("a place beyond the end: %d, want 400", status)
	}
	if got := events(t, m, talk.RunID, last); len(got) != 0 {
		t.Errorf("after the end: %d events", len(got))
	}
}

// Ids are the client's: what they hold must come back as it is.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for _, id := range []string{"a/b", "a;b", "a b", "50%", "100%25", "聊天", "a?b#c", "…"} {
		body := `{"threadId":` + quoted(id) + `,"runId":` + quoted(id) + `,"messages":[{"role":"user","content":"你好"}]}`
		resp := m.Open("ann", http.MethodPost, "/api/v1/runs", body, nil)
		readAll(t, resp)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: POST got %d", id, resp.StatusCode)
			continue
		}
		var r struct{ ThreadID, Status string }
		m.Get("ann", "/api/v1/runs/"+url.PathEscape(id), &r)
		if r.ThreadID != id || r.Status != "SUCCEEDED" {
			t.Errorf("%s: got %+v", id, r)
		}
		var list struct{ Items []struct{ Content string } }
		m.Get("ann", "/api/v1/conversations/"+url.PathEscape(id)+"/messages", &list)
		if len(list.Items) != 2 {
			t.Errorf("%s: got %d messages, want 2", id, len(list.Items))
		}
	}
	for _, path := range []string{"/runs//confirm", "/api/v1/runs/../runs/x/confirm", "/runs/%2e%2e/confirm"} {
		if status, body := m.Do("ann", http.MethodPost, path, `{}`); status != http.StatusNotFound && status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, want 404 or 400", path, status, body)
		}
	}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}
