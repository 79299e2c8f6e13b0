package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/flow"
)

// visitor is one user with a conversation at a time.
type visitor struct {
	w      *world
	user   string
	rand   *rand.Rand
	acts   int
	thread string
	wg     sync.WaitGroup // of further watchers
}

func (w *world) visitor(n int) *visitor {
	return &visitor{w: w, user: fmt.Sprintf("u%d", n), rand: rand.New(rand.NewPCG(uint64(w.plan.seed), uint64(n)))}
}

// act is something that a visitor does: what they say, and how they answer the question that comes of it.
type act struct {
	name   string
	say    func(v *visitor, tag string) string
	answer string // "confirm", "reject", "edit"; empty: none, it expires
	cancel bool   // the run, some time after it began
	undo   bool   // the order that came of it
}

// acts are what visitors do, the usual ones more often.
func acts() []act {
	some := func(dish string) func(*visitor, string) string {
		return func(v *visitor, _ string) string { return portions(dish, 1+v.rand.IntN(3)) }
	}
	return []act{
		{name: "talk", say: func(*visitor, string) string { return "" }},
		{name: "ring", say: func(_ *visitor, tag string) string { return ring(tag) }},
		{name: "ring twice", say: func(_ *visitor, tag string) string { return ring(tag) + ring(tag+"-b") + ";" + ring(tag+"-c") }},
		{name: "simmer", say: func(*visitor, string) string { return simmer }},
		{name: "simmer and ring", say: func(_ *visitor, tag string) string { return simmer + simmer + ";" + ring(tag) }},
		{name: "cancel what simmers", say: func(*visitor, string) string { return simmer }, cancel: true},
		{name: "order", say: some(plenty), answer: "confirm"},
		{name: "order what runs out", say: some(scarce), answer: "confirm"},
		{name: "order and ring", say: func(_ *visitor, tag string) string { return portions(plenty, 1) + ring(tag) }, answer: "confirm"},
		{name: "edit", say: some(plenty), answer: "edit"},
		{name: "reject", say: some(plenty), answer: "reject"},
		{name: "let expire", say: some(plenty)},
		{name: "cancel while asked", say: some(plenty), cancel: true},
		{name: "cancel after yes", say: some(plenty), answer: "confirm", cancel: true},
		{name: "cancel talk", say: func(*visitor, string) string { return "" }, cancel: true},
		{name: "order and take back", say: some(plenty), answer: "confirm", undo: true},
	}
}

// visit acts until ctx ends; what was begun is brought to its end.
func (v *visitor) visit(ctx context.Context) {
	all := acts()
	for ctx.Err() == nil {
		v.begin(all[v.rand.IntN(len(all))])
		pause(ctx.Done(), time.Duration(v.rand.IntN(200))*time.Millisecond)
	}
	v.wg.Wait()
}

// do does one act, and waits for everybody in it.
func (v *visitor) do(a act) {
	v.begin(a)
	v.wg.Wait()
}

// begin does one act from the message to the end of its run.
func (v *visitor) begin(a act) {
	v.acts++
	tag := fmt.Sprintf("%s-%d", v.user, v.acts)
	if v.thread == "" || v.rand.IntN(4) == 0 {
		v.thread = "t-" + tag
	}
	resp := v.ask("帮我订餐，并告诉厨房 #" + tag + " " + a.say(v, tag))
	if resp == nil {
		v.thread = "" // whatever became of it, it does not stand in the way of the next
		return
	}
	run := resp.Header.Get("X-Run-Id")
	v.w.tally.note(func() { v.w.tally.accepted[run] = v.user })
	ctx, stop := context.WithTimeout(v.w.t.Context(), patience+v.w.plan.ttl)
	defer stop()
	if v.rand.IntN(3) == 0 {
		other := v.w.watcher(v.user, run)
		v.wg.Go(func() { other.follow(ctx, nil) })
	}
	wa := v.w.watcher(v.user, run)
	wa.onQuestion = func(q question) { v.answer(a, q) }
	if a.cancel {
		after := time.Duration(v.rand.IntN(600)) * time.Millisecond
		v.wg.Go(func() { pause(ctx.Done(), after); v.cancel(run) })
	}
	wa.follow(ctx, resp.Body)
	if !wa.ended { // how long a run takes is the machine's; whether it has ended is judged at the end
		v.w.tally.note(func() { v.w.tally.left++ })
	}
	if a.undo {
		v.takeBack(run)
	}
}

// ask sends a message once: who gets no answer does not know whether it arrived.
func (v *visitor) ask(text string) *http.Response {
	body, _ := json.Marshal(map[string]any{
		"threadId": v.thread, "runId": flow.NewID("label"), "tools": []any{}, "context": []any{}, "state": map[string]any{},
		"forwardedProps": map[string]any{}, "messages": []map[string]string{{"id": flow.NewID("u"), "role": "user", "content": text}},
	})
	resp, err := v.w.send(v.w.t.Context(), v.user, http.MethodPost, "/api/v1/runs", string(body), nil)
	if err != nil {
		return nil
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil
	}
	return resp
}

// answer says what the visitor says to a question, beside the stream that it came on.
func (v *visitor) answer(a act, q question) {
	verb, body := a.answer, map[string]any{"confirmationId": q.ID}
	switch {
	case q.Kind == "outcome":
		verb, body["answer"] = "confirm", v.found(q)
	case verb == "":
		return
	case verb == "edit":
		verb, body["args"] = "confirm", json.RawMessage(`{"items":[{"dish":"`+plenty+`","quantity":4}]}`)
	}
	wait := time.Duration(v.rand.IntN(300)) * time.Millisecond
	v.wg.Go(func() {
		pause(v.w.t.Context().Done(), wait)
		raw, _ := json.Marshal(body)
		var answer struct{ Confirmation agent.Confirmation }
		if v.w.insist(v.user, http.MethodPost, "/runs/"+q.RunID+"/"+verb, string(raw), &answer) == http.StatusOK {
			v.w.tally.note(func() { v.w.tally.decided[q.ID] = string(answer.Confirmation.Status) })
		}
	})
}

// found is what a visitor finds out about a call of which the program does not know whether it happened: they
// look into the kitchen, or have it tried again.
func (v *visitor) found(q question) string {
	switch {
	case v.rand.IntN(2) == 0:
		v.w.tally.note(func() { v.w.tally.retries[q.InvocationID]++ })
		return "try_again"
	case v.w.kitchen.effects()[q.InvocationID] > 0:
		return "happened"
	}
	return "did_not_happen"
}

func (v *visitor) cancel(run string) {
	var answer struct{ Run struct{ Status string } }
	if v.w.insist(v.user, http.MethodPost, "/runs/"+run+"/cancel", "{}", &answer) == http.StatusOK {
		v.w.tally.note(func() { v.w.tally.runs[run] = answer.Run.Status })
	}
}

// takeBack cancels the order that came of a run.
func (v *visitor) takeBack(run string) {
	var mine struct {
		Items []struct{ ID, RunID, Status string }
	}
	v.w.insist(v.user, http.MethodGet, "/api/v1/orders", "", &mine)
	for _, o := range mine.Items {
		if o.RunID != run || o.Status != "CONFIRMED" {
			continue
		}
		var answer struct{ Status string }
		if v.w.insist(v.user, http.MethodPost, "/api/v1/orders/"+o.ID+"/cancel", "{}", &answer) == http.StatusOK {
			v.w.tally.note(func() { v.w.tally.orders[o.ID] = answer.Status })
		}
	}
}
