package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"agentmesh/app/meshtest"
)

// items is a part of a list.
type items struct {
	Items      []struct{ ID, Name, Title, Statement, Content, Status string }
	NextCursor string
}

func listed(m *meshtest.Mesh, user, path string) items {
	var out items
	m.Get(user, path, &out)
	return out
}

// problem asks for something that must be refused with a problem document of this code.
func problem(t *testing.T, m *meshtest.Mesh, user, method, path, body, code string) {
	t.Helper()
	resp := m.Open(user, method, path, body, nil)
	defer func() { _ = resp.Body.Close() }()
	raw := readAll(t, resp)
	var p struct{ Code string }
	if err := json.Unmarshal([]byte(raw), &p); err != nil || p.Code != code || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %s: got %d %s, want the problem %s", method, path, resp.StatusCode, raw, code)
	}
}

func TestConversationIsRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	problem(t, m, "ann", "GET", "/api/v1/conversations/t1", "", "not_found")
	problem(t, m, "ann", "GET", "/api/v1/conversations/t1/messages", "", "not_found")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	problem(t, m, "ann", "DELETE", "/api/v1/conversations/t1", "", "conflict")
	talk.Decide("confirm", q)
	talk.Rest()
	kept := audited(m, "ann", talk.RunID)

	for _, bad := range []string{``, `{}`, `{"title":"  "}`, `{"title":"` + strings.Repeat("长", 201) + `"}`, `{"title":"a\nb"}`, `{"title":7}`, `{"name":"x"}`, `null`} {
		problem(t, m, "ann", "PATCH", "/api/v1/conversations/t1", bad, "invalid")
	}
	title := strings.Repeat("长", 200)
	if status, body := m.Do("ann", http.MethodPatch, "/api/v1/conversations/t1", `{"title":" `+title+` "}`); status != http.StatusOK || !strings.Contains(body, `"title":"`+title+`"`) {
		t.Errorf("rename: %d %s", status, body)
	}
	var one struct{ ID, Title string }
	if m.Get("ann", "/api/v1/conversations/t1", &one); one.ID != "t1" || one.Title != title {
		t.Errorf("the conversation is %+v", one)
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		problem(t, m, "bob", method, "/api/v1/conversations/t1", `{"title":"mine"}`, "not_found")
	}

	if status, body := m.Do("ann", http.MethodDelete, "/api/v1/conversations/t1", ""); status != http.StatusNoContent || body != "" {
		t.Errorf("delete: %d %s", status, body)
	}
	problem(t, m, "ann", "DELETE", "/api/v1/conversations/t1", "", "not_found")
	problem(t, m, "ann", "GET", "/api/v1/conversations/t1/messages", "", "not_found")
	problem(t, m, "ann", "GET", "/api/v1/runs/"+talk.RunID, "", "not_found")
	problem(t, m, "ann", "POST", "/runs/"+talk.RunID+"/confirm", `{"confirmationId":"`+q.ID+`"}`, "not_found")
	if got := orders(m, "ann"); len(got) != 1 || got[0].Status != "CONFIRMED" {
		t.Errorf("orders after the deletion: %+v", got)
	}
	if got := audited(m, "ann", talk.RunID); len(got) == 0 || !slices.Equal(got, kept) {
		t.Errorf("audit after the deletion: %v, want %v", got, kept)
	}
	if again := m.Ask("ann", "t1", "你好"); again.Text() == "" {
		t.Error("the id cannot be used again")
	}
	m.Stop()
	checkBooks(t, m.Dir)
}

func TestPreferencesAreShownAndForgotten(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	m.Ask("ann", "t1", "记住我不吃辣。")
	found := listed(m, "ann", "/api/v1/preferences").Items
	if len(found) != 1 || !strings.Contains(found[0].Statement, "不吃辣") {
		t.Fatalf("preferences: %+v", found)
	}
	if got := listed(m, "bob", "/api/v1/preferences").Items; len(got) != 0 {
		t.Errorf("bob sees %+v", got)
	}
	path := "/api/v1/preferences/" + found[0].ID
	problem(t, m, "bob", "DELETE", path, "", "not_found")
	if status, body := m.Do("ann", http.MethodDelete, path, ""); status != http.StatusNoContent {
		t.Errorf("forget: %d %s", status, body)
	}
	problem(t, m, "ann", "DELETE", path, "", "not_found")
	if got := listed(m, "ann", "/api/v1/preferences").Items; len(got) != 0 {
		t.Errorf("still there: %+v", got)
	}
}

// Each agent is listed with the address of a card that can be fetched there.
func TestAgentsInEveryPlacement(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{})
			var list struct {
				Items []struct {
					Name, CardURL, Description string
					Reachable                  bool
					Skills                     []struct{ ID, Name string }
				}
			}
			m.Get("ann", "/api/v1/agents", &list)
			if len(list.Items) != 2 || list.Items[0].Name != "food" || list.Items[1].Name != "weather" {
				t.Fatalf("agents: %+v", list)
			}
			for _, a := range list.Items {
				if !a.Reachable || a.Description == "" || len(a.Skills) == 0 || a.Skills[0].ID == "" {
					t.Errorf("agent %+v", a)
				}
				u, err := url.Parse(a.CardURL)
				if err != nil || strings.HasSuffix(u.Host, ".internal") || u.Path != "/a2a/agents/"+a.Name+"/.well-known/agent-card.json" {
					t.Errorf("the card is at %s", a.CardURL)
				}
			}
		})
	}
}

func TestListsComeInParts(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	const talks = 5
	for i := range talks {
		m.Ask("ann", fmt.Sprintf("t%d", i), "记住我喜欢吃"+string([]rune("鱼肉蛋菜汤")[i])+"。")
	}
	for _, path := range []string{
		"/api/v1/runs", "/api/v1/conversations", "/api/v1/audit", "/api/v1/preferences", "/api/v1/capabilities",
		"/api/v1/skill-marketplace", "/api/v1/agents", "/api/v1/runs?threadId=t0", "/api/v1/conversations/t0/messages",
	} {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		var whole, got struct{ Items []json.RawMessage }
		m.Get("ann", path, &whole)
		cursor := ""
		for turns := 0; turns == 0 || cursor != ""; turns++ {
			var part struct {
				Items      []json.RawMessage
				NextCursor string
			}
			m.Get("ann", path+sep+"limit=2&cursor="+cursor, &part)
			if turns == 0 && path == "/api/v1/runs" {
				m.Ask("ann", "late", "你好") // what is added meanwhile does not disturb
			}
			if strings.HasSuffix(path, "/messages") {
				got.Items = append(part.Items, got.Items...) // the newest come first
			} else {
				got.Items = append(got.Items, part.Items...)
			}
			if cursor = part.NextCursor; turns > 50 {
				t.Fatalf("%s: no end", path)
			}
		}
		if fmt.Sprintf("%s", got.Items) != fmt.Sprintf("%s", whole.Items) || len(whole.Items) == 0 {
			t.Errorf("%s: the parts are\n%s\nwant\n%s", path, got.Items, whole.Items)
		}
		for _, bad := range []string{"x", "%00", "bm9uc2Vuc2U", "***"} {
			problem(t, m, "ann", "GET", path+sep+"cursor="+bad, "", "invalid")
		}
	}
	first := listed(m, "ann", "/api/v1/runs?limit=1")
	problem(t, m, "ann", "GET", "/api/v1/conversations?cursor="+first.NextCursor, "", "invalid")
	for _, path := range []string{"/api/v1/orders", "/api/v1/confirmations"} {
		if got := listed(m, "ann", path); len(got.Items) != 0 || got.NextCursor != "" {
			t.Errorf("%s: %+v", path, got)
		}
		problem(t, m, "ann", "GET", path+"?cursor=x", "", "invalid")
		problem(t, m, "ann", "GET", path+"?limit=201", "", "invalid")
	}
}
