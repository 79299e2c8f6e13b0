package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
)

// What an operator may do meanwhile is in TestCatalogCommand_UnderAnOpenQuestion.
func hitlWorldChanged(t *testing.T) {
	t.Run("the price", priceChangesUnderTheCard)
	t.Run("the last portion is sold to somebody else", lastPortionGoes)
	t.Run("everybody else buys the rest", theRestGoes)
	t.Run("off the menu", offTheMenu)
}

// A yes to a price that is none any more is asked again with the new one, edited or not,
// and never ordered at a price that the person has not seen.
func priceChangesUnderTheCard(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{"a plain yes": "", "an edited yes": twoPortions} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := meshtest.Start(t, meshtest.Options{})
			before := stock(t, m, "food-001")
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			q := talk.Question()
			execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET price_fen = 3500 WHERE id = 'food-001'`)
			answer, portions, total := `{"confirmationId":"`+q.ID+`"}`, 1, "35.00"
			if args != "" {
				answer, portions, total = edited(q, args), 2, "70.00"
			}
			status, body := talk.Answer("confirm", answer)
			p := problemIn(t, body)
			if status != http.StatusConflict || p.Code != "confirmation_replaced" || p.ConfirmationID == q.ID || p.ConfirmationID != p.Confirmation.ID {
				t.Fatalf("%d %s, want 409 with the new question", status, body)
			}
			again := talk.Question()
			if again.ID != p.ConfirmationID || !strings.Contains(string(again.Summary), `"total":"`+total+`"`) {
				t.Errorf("asked anew with %s, want %s", again.Summary, total)
			}
			if status, body := talk.Answer("confirm", answer); status != http.StatusConflict || problemIn(t, body).ConfirmationID != again.ID {
				t.Errorf("the old card again: %d %s, want 409 that names the new question", status, body)
			}
			if status, body := talk.Answer("confirm", `{}`); status != http.StatusConflict || problemIn(t, body).Code != "confirmation_replaced" {
				t.Errorf("a yes that names no card: %d %s, want 409", status, body)
			}
			if len(orders(m, "ann")) != 1 || orders(m, "ann")[0].Status != "PLACING" {
				t.Errorf("orders before the second yes: %+v", orders(m, "ann"))
			}
			if status, body := talk.Decide("confirm", again); status != http.StatusOK {
				t.Fatalf("the new question: %d %s", status, body)
			}
			talk.Rest()
			if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" || list[0].Total != total {
				t.Errorf("orders: %+v, want one for %s", list, total)
			}
			awaitStock(t, m, before-portions)
			awaitDelivered(t, m)
			m.Stop()
			checkBooks(t, m.Dir)
		})
	}
}

// The hold was given back, by the catalog's clock say, and somebody else bought what was held.
func lastPortionGoes(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET initial = 1, available = 1 WHERE id = 'food-001'`)
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE reservations SET expires_at = 1`)
	eve := m.Say("eve", "t1", "帮我订一份米饭。") // the next to hold anything finds what is over
	eve.Decide("reject", eve.Question())
	eve.Rest()
	other := m.Say("bob", "t1", "Order one Sichuan boiled beef")
	other.Decide("confirm", other.Question())
	other.Rest()
	status, body := talk.Decide("confirm", q)
	talk.Rest()
	if status != http.StatusOK && status != http.StatusConflict || !strings.Contains(talk.Text()+body, "没有下单") {
		t.Errorf("a yes to what is sold: %d %s, and then %q, want that nothing was ordered", status, body, talk.Text())
	}
	wantOrders(t, m, "ann", "REJECTED")
	wantOrders(t, m, "bob", "CONFIRMED")
	if left := stock(t, m, "food-001"); left != 0 {
		t.Errorf("left: %d, want 0", left)
	}
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

// What is on the card is held for the person: it cannot be sold to others.
func theRestGoes(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET initial = 2, available = 2 WHERE id = 'food-001'`)
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	other := m.Say("bob", "t1", "Order one Sichuan boiled beef")
	other.Decide("confirm", other.Question())
	other.Rest()
	if late := m.Ask("eve", "t1", "帮我订一份水煮牛肉。"); !strings.Contains(late.Text(), "已售完") {
		t.Errorf("the third was told %q, want that it is sold out", late.Text())
	}
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("a yes to what is held: %d %s", status, body)
	}
	talk.Rest()
	wantOrders(t, m, "ann", "CONFIRMED")
	wantOrders(t, m, "eve", "")
	m.Stop()
	checkBooks(t, m.Dir)
}

func offTheMenu(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET weekdays = '[]' WHERE id = 'food-001'`)
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Fatalf("a yes to a dish that is off the menu: %d %s", status, body)
	}
	talk.Rest()
	if !strings.Contains(talk.Text(), "不在菜单上") {
		t.Errorf("said %q, want that the dish is not on the menu", talk.Text())
	}
	wantOrders(t, m, "ann", "REJECTED")
	awaitStock(t, m, before)
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

func hitlOnlyByPost(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	body := `{"confirmationId":"` + q.ID + `"}`
	for _, c := range []struct {
		name, method, body string
		header             http.Header
		status             int
	}{
		{"GET", http.MethodGet, "", nil, http.StatusMethodNotAllowed},
		{"HEAD", http.MethodHead, "", nil, http.StatusMethodNotAllowed},
		{"PUT", http.MethodPut, body, nil, http.StatusMethodNotAllowed},
		{"a form from another origin", http.MethodPost, "confirmationId=" + q.ID, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://evil.example"}}, http.StatusForbidden},
		{"a form without origin", http.MethodPost, "confirmationId=" + q.ID, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, http.StatusBadRequest},
		{"text/plain without origin", http.MethodPost, body, http.Header{"Content-Type": {"text/plain"}}, http.StatusBadRequest},
		{"no type", http.MethodPost, body, http.Header{"Content-Type": {""}}, http.StatusBadRequest},
		{"JSON from another origin", http.MethodPost, body, http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
	} {
		for _, path := range []string{"/runs/" + talk.RunID + "/confirm", "/api/v1/runs/" + talk.RunID + "/confirm"} {
			resp := m.Open("ann", c.method, path, c.body, c.header)
			_ = resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("%s of %s: %d, want %d", c.name, path, resp.StatusCode, c.status)
			}
		}
	}
	if open := openQuestion(m, "ann"); open.ID != q.ID {
		t.Errorf("the question is not open any more: %+v", open)
	}
	wantOrders(t, m, "ann", "PLACING")
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("a proper POST: %d %s", status, body)
	}
	talk.Rest()
	wantOrders(t, m, "ann", "CONFIRMED")
}

func hitlNotYours(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	mine, other := m.Say("ann", "t1", "帮我订一份水煮牛肉。"), m.Say("ann", "t2", "帮我订一份米饭。")
	q, otherQ := mine.Question(), other.Question()
	body := `{"confirmationId":"` + q.ID + `"}`
	for _, c := range []struct{ name, user, run string }{
		{"from another conversation", "ann", other.RunID},
		{"by another user", "bob", mine.RunID},
		{"by another user with the label of the run", "bob", q.RunID},
	} {
		for _, verb := range []string{"confirm", "reject"} {
			if status, answer := m.Do(c.user, http.MethodPost, "/runs/"+c.run+"/"+verb, body); status != http.StatusNotFound {
				t.Errorf("%s %s: %d %s, want 404", verb, c.name, status, answer)
			}
		}
	}
	if got := interruptOf(t, standard(t, m, resumeBody("t2", q.ID, `true`))); got != otherQ.ID {
		t.Errorf("a resume of another conversation got %s, want its own open question %s", got, otherQ.ID)
	}
	if resp := whole(t, m, "bob", "/agui", resumeBody("t1", q.ID, `true`)); resp.Last().Outcome != nil {
		t.Errorf("another user's resume ended with %+v", resp.Last())
	}
	wantOrders(t, m, "ann", "PLACING PLACING")
	wantOrders(t, m, "bob", "")
	for talk, q := range map[*meshtest.Talk]agent.Confirmation{mine: q, other: otherQ} {
		if status, _ := talk.Decide("reject", q); status != http.StatusOK {
			t.Errorf("the owner's no: %d", status)
		}
		talk.Rest()
	}
}

// hitlQueue: the model asks for two orders in one answer. There are two cards, the no to one leaves the other
// usable, and the model gets both results in the order of its calls.
func hitlQueue(t *testing.T) {
	call := func(id, dish string) llmstub.ScriptCall {
		return llmstub.ScriptCall{ID: id, Name: "place_order", Arguments: json.RawMessage(`{"items":[{"dish":"` + dish + `","quantity":1}]}`)}
	}
	stub := llmstub.New(&llmstub.Case{ID: "case", Turns: []llmstub.Turn{{Call: []llmstub.ScriptCall{call("call-1", "水煮牛肉"), call("call-2", "米饭")}}, {Say: "好了。"}}})
	model := httptest.NewServer(stub)
	t.Cleanup(model.Close)
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.LLMBaseURL, c.LLMModel = model.URL+"/v1", "case" }})
	talk := m.Say("ann", "t1", "订水煮牛肉和米饭，分开订")
	cards := map[string]agent.Confirmation{}
	for range 2 {
		q := talk.Question()
		cards[q.CallID] = q
	}
	if status, body := talk.Answer("confirm", `{}`); status != http.StatusBadRequest {
		t.Errorf("a yes to one of two, not named: %d %s, want 400", status, body)
	}
	if status, body := talk.Decide("reject", cards["call-1"]); status != http.StatusOK {
		t.Fatalf("the no to the first: %d %s", status, body)
	}
	if open := openQuestion(m, "ann"); open.ID != cards["call-2"].ID {
		t.Fatalf("open after the no to the first: %+v, want the second", open)
	}
	if status, body := talk.Decide("confirm", cards["call-2"]); status != http.StatusOK {
		t.Fatalf("the yes to the second: %d %s", status, body)
	}
	talk.Rest()
	if talk.Text() != "好了。" {
		t.Errorf("said %q", talk.Text())
	}
	byDish := map[string]string{}
	for _, o := range orders(m, "ann") {
		byDish[o.Lines[0].Name] = o.Status
	}
	if fmt.Sprint(byDish) != "map[水煮牛肉:REJECTED 米饭:CONFIRMED]" {
		t.Errorf("orders: %v", byDish)
	}
	records := stub.Records()
	var sent struct {
		Messages []struct {
			Role    string
			CallID  string `json:"tool_call_id"`
			Content any
		}
	}
	if err := json.Unmarshal(records[len(records)-1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, msg := range sent.Messages {
		if msg.Role == "tool" {
			results = append(results, msg.CallID+" "+fmt.Sprint(msg.Content))
		}
	}
	if len(results) != 2 || !strings.HasPrefix(results[0], "call-1 ") || !strings.Contains(results[0], "DENIED") || !strings.HasPrefix(results[1], "call-2 ") || !strings.Contains(results[1], "order-") {
		t.Errorf("the model got the results %q, want the no and the order", results)
	}
}

func hitlUnknownID(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
	m := meshtest.At(t, p.url)
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		run, body string
		statuses  string
	}{
		"unknown":               {talk.RunID, `{"confirmationId":"conf-unknown"}`, "404"},
		"empty":                 {talk.RunID, `{"confirmationId":""}`, "400"},
		"null":                  {talk.RunID, `{"confirmationId":null}`, "400"},
		"very long":             {talk.RunID, `{"confirmationId":"` + long + `"}`, "404"},
		"not UTF-8":             {talk.RunID, "{\"confirmationId\":\"\xff\xfe\"}", "400 404"},
		"with a NUL":            {talk.RunID, `{"confirmationId":"` + q.ID + `\u0000"}`, "404"},
		"a number":              {talk.RunID, `{"confirmationId":7}`, "400"},
		"of an unknown run":     {"run-unknown", `{"confirmationId":"` + q.ID + `"}`, "404"},
		"of an empty run":       {"", `{"confirmationId":"` + q.ID + `"}`, "404"},
		"of a very long run":    {long, `{"confirmationId":"` + q.ID + `"}`, "404"},
		"of a run not in UTF-8": {"%ff%fe", `{"confirmationId":"` + q.ID + `"}`, "404"},
		"of a run with a NUL":   {"%00", `{"confirmationId":"` + q.ID + `"}`, "404"},
	} {
		for _, verb := range []string{"confirm", "reject"} {
			status, body := m.Do("ann", http.MethodPost, "/runs/"+c.run+"/"+verb, c.body)
			if !strings.Contains(c.statuses, fmt.Sprint(status)) || len(body) > 2000 {
				t.Errorf("%s an id that is %s: %d %.300s, want %s", verb, name, status, body, c.statuses)
			}
		}
	}
	for name, id := range map[string]string{"unknown": "conf-unknown", "empty": "", "very long": long, "not UTF-8": "\xff"} {
		status, body := m.Do("ann", http.MethodPost, "/agui", resumeBody("t1", id, `true`))
		if status != http.StatusOK && status != http.StatusBadRequest || strings.Contains(body, agui.ConfirmationResolved) {
			t.Errorf("resume of an id that is %s: %d %.300s", name, status, body)
		}
	}
	if open := openQuestion(m, "ann"); open.ID != q.ID {
		t.Errorf("the question is not open any more: %+v", open)
	}
	checkSound(t, p)
}
