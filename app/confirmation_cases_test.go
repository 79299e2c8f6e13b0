package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestConfirmationByAPerson has what public reports say goes wrong when a person is asked, a case each.
func TestConfirmationByAPerson(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T){
		"hitl-double-click":             hitlDoubleClick,
		"hitl-approve-and-deny-at-once": hitlApproveAndDenyAtOnce,
		"hitl-approve-after-expiry":     hitlApproveAfterExpiry,
		"hitl-approve-after-stop":       hitlApproveAfterStop,
		"hitl-reload":                   hitlReload,
		"hitl-restart":                  hitlRestart,
		"hitl-restart/expired":          hitlRestartExpired,
		"hitl-world-changed":            hitlWorldChanged,
		"hitl-only-by-post":             hitlOnlyByPost,
		"hitl-not-yours":                hitlNotYours,
		"hitl-queue":                    hitlQueue,
		"hitl-unknown-id":               hitlUnknownID,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func asJSON(t *testing.T, c agent.Confirmation) string {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// told gives the decisions that a stream has shown.
func told(t *testing.T, got meshtest.Transcript) []agent.Confirmation {
	t.Helper()
	var out []agent.Confirmation
	for _, e := range got.Events {
		if e.Name != agui.ConfirmationResolved {
			continue
		}
		var c agent.Confirmation
		if err := json.Unmarshal(e.Value, &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// wantDecision says that a run has one question, decided so, in its record and in a stream that was read to its end.
func wantDecision(t *testing.T, m *meshtest.Mesh, user string, seen meshtest.Transcript, want agent.ConfirmationStatus) {
	t.Helper()
	var r struct {
		Status        string
		Confirmations []agent.Confirmation
	}
	m.Get(user, "/api/v1/runs/"+seen.RunID, &r)
	if len(r.Confirmations) != 1 || r.Confirmations[0].Status != want {
		t.Errorf("the record has the questions %+v, want one that is %s", r.Confirmations, want)
	}
	if shown := told(t, seen); len(shown) != 1 || shown[0].Status != want || shown[0].ID != r.Confirmations[0].ID {
		t.Errorf("the stream shows the decisions %+v, want one that is %s", shown, want)
	}
}

// wantOrders says how a user's orders stand, the newest first, as words.
func wantOrders(t *testing.T, m *meshtest.Mesh, user, want string) {
	t.Helper()
	var got []string
	for _, o := range orders(m, user) {
		got = append(got, o.Status)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%s has the orders %q, want %q", user, got, want)
	}
}

// answers sends decisions at one moment and gives what was answered, in the order of the verbs.
func answers(t *testing.T, talk *meshtest.Talk, q agent.Confirmation, verbs ...string) (statuses []int, bodies []string) {
	t.Helper()
	statuses, bodies = make([]int, len(verbs)), make([]string, len(verbs))
	start, done := make(chan struct{}), make(chan struct{})
	for i, verb := range verbs {
		go func() {
			defer func() { done <- struct{}{} }()
			<-start
			statuses[i], bodies[i] = talk.Decide(verb, q)
		}()
	}
	close(start)
	for range verbs {
		<-done
	}
	return statuses, bodies
}

func hitlDoubleClick(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	const times = 5
	for i := range times {
		talk := m.Say("ann", "t"+string(rune('a'+i)), "帮我订一份水煮牛肉。")
		q := talk.Question()
		statuses, bodies := answers(t, talk, q, "confirm", "confirm")
		for i := range statuses {
			if c := confirmationIn(t, bodies[i]); statuses[i] != http.StatusOK || c.ID != q.ID || c.Status != agent.ConfirmationConfirmed {
				t.Errorf("a click got %d %s, want the same decision", statuses[i], bodies[i])
			}
		}
		if first, second := confirmationIn(t, bodies[0]), confirmationIn(t, bodies[1]); !first.DecidedAt.Equal(*second.DecidedAt) {
			t.Errorf("decided at %s and at %s, want one decision", first.DecidedAt, second.DecidedAt)
		}
		talk.Rest()
		wantDecision(t, m, "ann", talk.Transcript, agent.ConfirmationConfirmed)
	}
	wantOrders(t, m, "ann", strings.TrimSpace(strings.Repeat("CONFIRMED ", times)))
	awaitStock(t, m, before-times)
	m.Stop()
	checkBooks(t, m.Dir)
}

// A yes looks at the world once more before it counts, so a no of the same moment mostly wins; from round to round it
// comes a little later. Half of the denials are AG-UI resumes, so that both ways in meet.
func hitlApproveAndDenyAtOnce(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	const times = 50
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE dishes SET available = 60, initial = 60 WHERE id = 'food-001'`) // enough, whoever wins
	before, yes := stock(t, m, "food-001"), 0
	for i := range times {
		talk := m.Say("ann", fmt.Sprint("t", i), "帮我订一份水煮牛肉。")
		q := talk.Question()
		denied := make(chan int, 1)
		go func() {
			defer close(denied)
			for range i / 5 {
				stock(t, m, "food-002")
			}
			if i%2 == 0 {
				status, _ := talk.Decide("reject", q)
				denied <- status
				return
			}
			standard(t, m, resumeBody(q.ThreadID, q.ID, `false`))
		}()
		approved, _ := talk.Decide("confirm", q)
		no, byREST := <-denied
		talk.Rest()
		want, order, loser := agent.ConfirmationRejected, "REJECTED", approved
		if approved == http.StatusOK {
			want, order, loser, yes = agent.ConfirmationConfirmed, "CONFIRMED", no, yes+1
		}
		if (byREST || approved != http.StatusOK) && loser != http.StatusConflict || byREST && (no == http.StatusOK) == (approved == http.StatusOK) {
			t.Errorf("%d: the yes got %d and the no %d, want one 200 and one 409", i, approved, no)
		}
		wantDecision(t, m, "ann", talk.Transcript, want)
		if list := orders(m, "ann"); len(list) != i+1 || list[0].Status != order {
			t.Fatalf("%d: %d orders, the last %s, want %s", i, len(list), list[0].Status, order)
		}
	}
	t.Logf("of %d, %d were approved", times, yes)
	awaitStock(t, m, before-yes)
	awaitDelivered(t, m)
	m.Stop()
	checkBooks(t, m.Dir)
}

func hitlApproveAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.ConfirmationTTL = 3 * time.Second }})
		before := stock(t, m, "food-001")
		began := time.Now()
		talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
		q := talk.Question()
		talk.Rest()
		if waited := time.Since(began); waited < 3*time.Second || waited > 5*time.Second {
			t.Errorf("expired after %s, want about 3s", waited)
		}
		status, body := talk.Decide("confirm", q)
		if status != http.StatusGone || confirmationIn(t, body).Status != agent.ConfirmationExpired || !strings.Contains(body, "EXPIRED") {
			t.Errorf("confirm after expiry: %d %s, want 410 that says so", status, body)
		}
		for _, result := range talk.Results() {
			if !strings.Contains(result, `"expired"`) {
				t.Errorf("the model got %s, want that the question has expired", result)
			}
		}
		wantDecision(t, m, "ann", talk.Transcript, agent.ConfirmationExpired)
		if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "REJECTED" || list[0].Reason != "expired" {
			t.Errorf("orders: %+v, want one REJECTED for expiry", list)
		}
		synctest.Wait()
		awaitStock(t, m, before)
		if next := m.Ask("ann", "t1", "现在几点？"); next.Last().Type != agui.RunFinished || next.Text() == "" {
			t.Errorf("the conversation does not go on: %s", next.Types())
		}
		m.Stop()
	})
}

func hitlApproveAfterStop(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	tab := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := tab.Question()
	second := m.Follow("ann", tab.RunID, "")
	if shown := second.Question(); shown.ID != q.ID {
		t.Errorf("the second tab shows %s, want %s", shown.ID, q.ID)
	}
	if status, body := m.Do("ann", http.MethodPost, "/runs/"+tab.RunID+"/cancel", `{}`); status != http.StatusOK {
		t.Fatalf("stop: %d %s", status, body)
	}
	status, body := second.Decide("confirm", q)
	if status != http.StatusGone || confirmationIn(t, body).Status != agent.ConfirmationCancelled {
		t.Errorf("approve after the stop: %d %s, want 410", status, body)
	}
	for name, talk := range map[string]*meshtest.Talk{"the first tab": tab, "the second": second} {
		talk.Rest()
		if shown := told(t, talk.Transcript); len(shown) != 1 || shown[0].Status != agent.ConfirmationCancelled {
			t.Errorf("%s was told %+v, want the question closed", name, shown)
		}
	}
	wantDecision(t, m, "ann", tab.Transcript, agent.ConfirmationCancelled)
	wantOrders(t, m, "ann", "REJECTED")
	if open := openQuestion(m, "ann"); open.ID != "" {
		t.Errorf("still open: %+v", open)
	}
	awaitStock(t, m, before)
	m.Stop()
	checkBooks(t, m.Dir)
}

func hitlReload(t *testing.T) {
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	talk.Close() // the page is gone
	shown := map[string]agent.Confirmation{"the list": openQuestion(m, "ann")}
	reloaded, other := m.Follow("ann", talk.RunID, ""), m.Follow("ann", talk.RunID, "")
	shown["the reloaded page"], shown["another browser"] = reloaded.Question(), other.Question()
	for where, c := range shown {
		if asJSON(t, c) != asJSON(t, q) {
			t.Errorf("%s has %s, want %s", where, asJSON(t, c), asJSON(t, q))
		}
	}
	if status, body := reloaded.Decide("confirm", q); status != http.StatusOK {
		t.Fatalf("confirm: %d %s", status, body)
	}
	if status, _ := other.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("the other browser's yes: %d, want the same decision", status)
	}
	reloaded.Rest()
	other.Rest()
	if reloaded.Text() != other.Text() || reloaded.Text() == "" {
		t.Errorf("the two browsers saw %q and %q", reloaded.Text(), other.Text())
	}
	wantDecision(t, m, "ann", other.Transcript, agent.ConfirmationConfirmed)
	wantOrders(t, m, "ann", "CONFIRMED")
}

// restarted kills a process with SIGKILL and starts it again on its data.
func restarted(t *testing.T, p *process, further ...string) *meshtest.Mesh {
	t.Helper()
	p.stop(syscall.SIGKILL)
	p.args = append(p.args, further...)
	p.start()
	return meshtest.At(t, p.url)
}

func hitlRestart(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
	m := meshtest.At(t, p.url)
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	m = restarted(t, p)
	if open := asJSON(t, openQuestion(m, "ann")); open != asJSON(t, q) {
		t.Errorf("after the restart the question is %s, want %s", open, asJSON(t, q))
	}
	again := m.Follow("ann", talk.RunID, "")
	again.Question()
	statuses, bodies := answers(t, again, q, "confirm", "confirm")
	if statuses[0] != http.StatusOK || statuses[1] != http.StatusOK {
		t.Errorf("the answers got %v %v", statuses, bodies)
	}
	again.Rest()
	wantDecision(t, m, "ann", again.Transcript, agent.ConfirmationConfirmed)
	wantOrders(t, m, "ann", "CONFIRMED")
	awaitStock(t, m, before-1)
	if next := m.Ask("ann", "t1", "现在几点？"); next.Last().Type != agui.RunFinished || next.Text() == "" {
		t.Errorf("the conversation takes no new message: %s", next.Types())
	}
	checkSound(t, p)
	p.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}

func hitlRestartExpired(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, "--listen", "127.0.0.1:0", "--data", dir, "--confirmation-ttl", "1s")
	m := meshtest.At(t, p.url)
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	p.stop(syscall.SIGKILL)
	<-time.After(time.Until(q.Deadline)) // nobody is there to expire it
	p.start()
	m = meshtest.At(t, p.url)
	if status, body := m.Do("ann", http.MethodPost, "/runs/"+talk.RunID+"/confirm", `{"confirmationId":"`+q.ID+`"}`); status != http.StatusGone {
		t.Errorf("confirm after the deadline: %d %s, want 410", status, body)
	}
	again := m.Follow("ann", talk.RunID, "")
	again.Rest()
	wantDecision(t, m, "ann", again.Transcript, agent.ConfirmationExpired)
	wantOrders(t, m, "ann", "REJECTED")
	awaitStock(t, m, before)
	if next := m.Ask("ann", "t1", "现在几点？"); next.Last().Type != agui.RunFinished || next.Text() == "" {
		t.Errorf("the conversation takes no new message: %s", next.Types())
	}
	p.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}
