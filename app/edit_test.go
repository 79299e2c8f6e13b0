package app_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/capability"
)

const twoPortions = `{"items":[{"dish":"food-001","quantity":2,"note":"不要辣"}],"note":"快一点"}`

// edited is the body of a yes with edited arguments.
func edited(q agent.Confirmation, args string) string {
	return `{"confirmationId":"` + q.ID + `","argsDigest":"` + q.ArgsDigest + `","args":` + args + `}`
}

// refusedAnswer is what a refused decision answers.
type refusedAnswer struct {
	Code, Detail   string
	ConfirmationID string
	Confirmation   agent.Confirmation
}

func problemIn(t *testing.T, body string) refusedAnswer {
	t.Helper()
	var p refusedAnswer
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return p
}

// TestOrderEdited: the person makes two portions of one, with a note. That is what is ordered, and what
// everything that tells of it says.
func TestOrderEdited(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{})
			before := stock(t, m, "food-001")
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			q := talk.Question()
			status, body := talk.Answer("confirm", edited(q, twoPortions))
			if status != http.StatusOK {
				t.Fatalf("confirm: %d %s", status, body)
			}
			c := confirmationIn(t, body)
			if c.Status != agent.ConfirmationConfirmed || c.Edited == nil || !strings.Contains(string(c.Edited.Summary), `"totalFen":6400`) || c.ArgsDigest != q.ArgsDigest {
				t.Errorf("the answer says %+v, want the edit with its total", c)
			}
			talk.Rest()
			checkEdited(t, m, talk)
			awaitStock(t, m, before-2)
			if status, body := talk.Answer("confirm", edited(q, `{"note":"快一点","items":[{"quantity":2,"note":"不要辣","dish":"food-001"}]}`)); status != http.StatusOK {
				t.Errorf("the same edit again: %d %s, want 200", status, body)
			}
			for name, other := range map[string]string{"without the edit": `{}`, "another edit": edited(q, strings.Replace(twoPortions, "2", "3", 1))} {
				if status, body := talk.Answer("confirm", other); status != http.StatusConflict {
					t.Errorf("%s: %d %s, want 409", name, status, body)
				}
			}
			awaitDelivered(t, m)
			m.Stop()
			checkBooks(t, m.Dir)
			if n := keys(t, filepath.Join(m.Dir, "catalog.db"), `SELECT rkey FROM reservations WHERE state = 'COMMITTED'`); len(n) != 1 || !strings.HasSuffix(n[0], "/2") {
				t.Errorf("committed: %q, want the second hold", n)
			}
		})
	}
}

// checkEdited compares the order, the run's record, its audit and its stream.
func checkEdited(t *testing.T, m *meshtest.Mesh, talk *meshtest.Talk) {
	t.Helper()
	list := orders(m, "ann")
	if len(list) != 1 || list[0].Status != "CONFIRMED" || list[0].Total != "64.00" || !strings.Contains(talk.Text(), "64.00") {
		t.Errorf("orders %+v, said %q, want one for 64.00", list, talk.Text())
	}
	var r struct {
		Invocations []struct {
			Name               string
			Args, ProposedArgs json.RawMessage
			Result             json.RawMessage
		}
	}
	m.Get("ann", "/api/v1/runs/"+talk.RunID, &r)
	inv := r.Invocations[len(r.Invocations)-1]
	if inv.Name != "place_order" || !capability.SameArgs(inv.Args, json.RawMessage(twoPortions)) || !strings.Contains(string(inv.ProposedArgs), `"quantity":1`) ||
		!strings.Contains(string(inv.Result), `"totalFen":6400`) {
		t.Errorf("the call is recorded as %+v", inv)
	}
	var audit struct {
		Items []struct{ Capability, Status, Input, ArgsDigest, ProposedDigest string }
	}
	m.Get("ann", "/api/v1/audit?runId="+talk.RunID, &audit)
	found := false
	for _, a := range audit.Items {
		if a.Capability != "place_order" {
			continue
		}
		found = a.ArgsDigest == capability.Digest(inv.Args) && a.ProposedDigest == capability.Digest(inv.ProposedArgs) && strings.Contains(a.Input, `"quantity":2`)
		if !found || a.Status != "SUCCESS" {
			t.Errorf("audited as %+v", a)
		}
	}
	if !found {
		t.Error("the order is not in the audit with both digests")
	}
	var messages struct {
		Items []struct {
			ToolCalls []struct{ Name, Arguments string }
		}
	}
	m.Get("ann", "/api/v1/conversations/t1/messages", &messages)
	for _, msg := range messages.Items {
		for _, call := range msg.ToolCalls {
			if call.Name == "place_order" && !capability.SameArgs(json.RawMessage(call.Arguments), json.RawMessage(twoPortions)) {
				t.Errorf("the message has the call with %s", call.Arguments)
			}
		}
	}
	for _, e := range talk.Events {
		about, _ := e.Metadata["agentmesh"].(map[string]any)
		if e.Type == agui.ToolCallResult && about["status"] == "SUCCEEDED" && strings.Contains(e.Content, "orderId") && about["editedArgs"] == nil {
			t.Errorf("the result does not tell what ran: %+v", e.Metadata)
		}
	}
}

func confirmationIn(t *testing.T, body string) agent.Confirmation {
	t.Helper()
	var out struct{ Confirmation agent.Confirmation }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return out.Confirmation
}

// TestEditRefused: what cannot be leaves the question as it was, and says why.
func TestEditRefused(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	for _, c := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"not_as_the_schema_has_it", edited(q, `{"items":[{"dish":"food-001","quantity":0}]}`), 400, "quantity"},
		{"not_an_object", edited(q, `[1]`), 400, "JSON object"},
		{"a_member_too_many", edited(q, `{"items":[{"dish":"food-001","quantity":1}],"price":1}`), 400, "price"},
		{"unknown_dish", edited(q, `{"items":[{"dish":"龙虾","quantity":1}]}`), 400, "龙虾"},
		{"more_than_there_is", edited(q, `{"items":[{"dish":"food-001","quantity":20},{"dish":"food-001","quantity":20}]}`), 400, "20"},
		{"args_with_a_no", edited(q, twoPortions), 400, "yes"},
		{"another_digest", strings.Replace(edited(q, twoPortions), q.ArgsDigest, "sha256:0", 1), 409, "what you saw is not what is asked"},
	} {
		verb := "confirm"
		if c.name == "args_with_a_no" {
			verb = "reject"
		}
		status, body := talk.Answer(verb, c.body)
		p := problemIn(t, body)
		if status != c.status || !strings.Contains(p.Detail, c.says) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, status, body, c.status, c.says)
		}
		if c.name != "args_with_a_no" && p.Confirmation.Status != agent.ConfirmationOpen {
			t.Errorf("%s: the question is %s, want it open", c.name, p.Confirmation.Status)
		}
	}
	if got := stock(t, m, "food-001"); got != before-1 {
		t.Errorf("stock: %d, want only the first portion held of %d", got, before)
	}
	if status, _ := m.Do("bob", http.MethodPost, "/runs/"+talk.RunID+"/confirm", edited(q, twoPortions)); status != http.StatusNotFound {
		t.Errorf("somebody else's edit: %d, want 404", status)
	}
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Fatalf("confirm as it was: %d %s", status, body)
	}
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Total != "32.00" || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v, want the one that was asked about", list)
	}
	m.Stop()
	checkBooks(t, m.Dir)
}

// TestEditSoldOut: the person gets what is left of a dish that others want, their own portion included, and
// no more.
func TestEditSoldOut(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET initial = initial - available + 1, available = 1 WHERE id = 'food-001'`)
	status, body := talk.Answer("confirm", edited(q, `{"items":[{"dish":"food-001","quantity":3}]}`))
	if p := problemIn(t, body); status != http.StatusConflict || !strings.Contains(p.Detail, "3") || !strings.Contains(p.Detail, "2") || p.Confirmation.Status != agent.ConfirmationOpen {
		t.Fatalf("three of two: %d %s, want 409 and the question open", status, body)
	}
	if status, body := talk.Answer("confirm", edited(q, `{"items":[{"dish":"food-001","quantity":2}]}`)); status != http.StatusOK {
		t.Fatalf("the last two: %d %s", status, body)
	}
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Total != "64.00" || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
	if got := stock(t, m, "food-001"); got != 0 {
		t.Errorf("stock: %d, want 0", got)
	}
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

// TestEditToAnotherDish: its price was on no card yet.
func TestEditToAnotherDish(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	status, body := talk.Answer("confirm", edited(q, `{"items":[{"dish":"food-002","quantity":1}]}`))
	if status != http.StatusConflict || problemIn(t, body).Code != "confirmation_replaced" {
		t.Fatalf("%d %s, want a new question", status, body)
	}
	again := talk.Question()
	awaitStock(t, m, before)
	if status, body := talk.Decide("reject", again); status != http.StatusOK {
		t.Fatalf("reject: %d %s", status, body)
	}
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "REJECTED" {
		t.Errorf("orders: %+v", list)
	}
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

// TestEditRaces: of many answers at once one counts, whatever they say.
func TestEditRaces(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	three := strings.Replace(twoPortions, `"quantity":2`, `"quantity":3`, 1)
	gone := 0
	for i := range 6 {
		talk := m.Say("ann", "t"+string(rune('a'+i)), "帮我订一份水煮牛肉。")
		q := talk.Question()
		plain := `{"confirmationId":"` + q.ID + `"}`
		bodies := []string{plain, edited(q, twoPortions), edited(q, three), edited(q, twoPortions), plain}
		statuses := make(chan int, len(bodies)+1)
		for _, body := range bodies {
			go func() { status, _ := talk.Answer("confirm", body); statuses <- status }()
		}
		go func() { status, _ := talk.Answer("reject", plain); statuses <- status }()
		wins := 0
		for range cap(statuses) {
			switch status := <-statuses; status {
			case http.StatusOK:
				wins++
			case http.StatusConflict:
			default:
				t.Errorf("a decision got %d, want 200 or 409", status)
			}
		}
		if wins == 0 || wins > 2 { // two bodies say the same
			t.Errorf("%d answers were told that they stand", wins)
		}
		talk.Rest()
		o := orders(m, "ann")[0]
		want := map[string]int{"32.00": 1, "64.00": 2, "96.00": 3}[o.Total]
		if o.Status == "REJECTED" {
			want = 0
		}
		gone += want
	}
	awaitStock(t, m, before-gone)
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

// TestStandardResumeWithEdits: the interrupt says that arguments may be edited and how they look; a resume
// with them runs the edited call.
func TestStandardResumeWithEdits(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	asked := standard(t, m, meshtest.Input("t1", "帮我订一份水煮牛肉。"))
	id := interruptOf(t, asked)
	schema, _ := json.Marshal(asked.Last().Outcome.Interrupts[0].ResponseSchema)
	if !strings.Contains(string(schema), `"editedArgs":{`) || !strings.Contains(string(schema), `"quantity"`) {
		t.Errorf("the response schema is %s", schema)
	}
	for args, says := range map[string]string{
		`{"items":[{"dish":"food-001","quantity":0}]}`: "quantity",
		`{"items":[{"dish":"龙虾","quantity":1}]}`:       "龙虾",
	} {
		refused := standard(t, m, resumeBody("t1", id, `{"approved":true,"editedArgs":`+args+`}`))
		if got := interruptOf(t, refused); got != id || !strings.Contains(refused.Last().Outcome.Interrupts[0].Message, says) {
			t.Errorf("%s: got the interrupt %+v, want the same with %q", args, refused.Last().Outcome.Interrupts[0], says)
		}
	}
	done := standard(t, m, resumeBody("t1", id, `{"approved":true,"editedArgs":`+twoPortions+`}`))
	if done.Last().Type != agui.RunFinished || done.Last().Outcome != nil || !strings.Contains(done.Text(), "64.00") {
		t.Fatalf("ended with %+v, said %q", done.Last(), done.Text())
	}
	at := slices.IndexFunc(done.Events, func(e agui.Event) bool { return e.Type == agui.MessagesSnapshot })
	for _, msg := range done.Events[at].Messages {
		for _, call := range msg.ToolCalls {
			if !capability.SameArgs(json.RawMessage(call.Function.Arguments), json.RawMessage(twoPortions)) {
				t.Errorf("the snapshot has the call with %s", call.Function.Arguments)
			}
		}
	}
	if list := orders(m, "ann"); len(list) != 1 || list[0].Total != "64.00" || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
	awaitStock(t, m, before-2)
	late := standard(t, m, resumeBody("t1", id, `{"approved":true}`))
	if late.Last().Type != agui.RunFinished || late.Last().Outcome != nil {
		t.Errorf("a late answer ended with %+v, want a normal run", late.Last())
	}
}

// TestStandardPriceChanged: the new question is the new interrupt, of this resume and of one that comes with
// the old id.
func TestStandardPriceChanged(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	id := interruptOf(t, standard(t, m, meshtest.Input("t1", "帮我订一份水煮牛肉。")))
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET price_fen = 3500 WHERE id = 'food-001'`)
	again := standard(t, m, resumeBody("t1", id, `true`))
	next := interruptOf(t, again)
	if next == id || !strings.Contains(again.Types(), agui.ConfirmationRequired) {
		t.Errorf("got the interrupt %s after %s, want a new question", next, again.Types())
	}
	stale := standard(t, m, resumeBody("t1", id, `true`))
	if got := interruptOf(t, stale); got != next || !strings.Contains(stale.Last().Outcome.Interrupts[0].Message, "a new question is open") {
		t.Errorf("the old id got %+v, want the new question and why", stale.Last().Outcome.Interrupts[0])
	}
	done := standard(t, m, resumeBody("t1", next, `true`))
	if list := orders(m, "ann"); done.Last().Outcome != nil || len(list) != 1 || list[0].Total != "35.00" || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v after %s", list, done.Types())
	}
}

// awaitDelivered waits until no release is due.
func awaitDelivered(t *testing.T, m *meshtest.Mesh) {
	t.Helper()
	path := filepath.Join(m.Dir, "orchestrator.db")
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if len(keys(t, path, `SELECT okey FROM outbox WHERE done_at = 0`)) == 0 {
			return
		}
	}
	t.Errorf("not delivered: %q", keys(t, path, `SELECT okey || ' ' || reason FROM outbox WHERE done_at = 0`))
}

// TestEditIsInTheRunsTrace: what is looked at between the yes and the call belongs to the run, not to the
// request that brought the yes.
func TestEditIsInTheRunsTrace(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	if status, body := talk.Answer("confirm", edited(talk.Question(), twoPortions)); status != http.StatusOK {
		t.Fatalf("confirm: %d %s", status, body)
	}
	talk.Rest()
	var r struct{ TraceID string }
	m.Get("ann", "/api/v1/runs/"+talk.RunID, &r)
	var audit struct {
		Items []struct{ Capability, TraceID string }
	}
	m.Get("ann", "/api/v1/audit?runId="+talk.RunID, &audit)
	quotes := 0
	for _, a := range audit.Items {
		if a.TraceID != r.TraceID {
			t.Errorf("%s is in the trace %s, want %s", a.Capability, a.TraceID, r.TraceID)
		}
		if a.Capability == "quote_order" {
			quotes++
		}
	}
	if quotes != 2 {
		t.Errorf("%d quotes are audited, want that of the question and that of the edit", quotes)
	}
}

// TestEditedWords: with the combined tool the person edits the sentence; what it orders is what is ordered.
func TestEditedWords(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.FoodTools = "combined" }})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	if q.Tool != "call_food" {
		t.Fatalf("asked about %s", q.Tool)
	}
	if status, body := talk.Answer("confirm", edited(q, `{"text":"今天有什么推荐？"}`)); status != http.StatusBadRequest || problemIn(t, body).Confirmation.Status != agent.ConfirmationOpen {
		t.Errorf("words that order nothing: %d %s, want 400 and the question open", status, body)
	}
	if status, body := talk.Answer("confirm", edited(q, `{"text":"订三份水煮牛肉"}`)); status != http.StatusOK {
		t.Fatalf("three: %d %s", status, body)
	}
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Total != "96.00" || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v, want one for 96.00", list)
	}
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}
