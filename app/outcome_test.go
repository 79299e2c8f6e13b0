package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/skills"
)

// theLetterbox names the folder that a process of the tests posts letters to.
const theLetterbox = "AGENTMESH_TEST_LETTERBOX"

// letters lets the program send letters: an effect that nobody recognises when it comes again. A letter is a
// line in a file of the box. While there is a file "hang", a letter has no answer; while there is one "lose", the
// answer is lost on its way.
func letters(box string) app.Option {
	return app.WithSkill(
		skills.Manifest{
			ID: "test.letters", Name: "信件", NameEn: "Letters", Version: "1.0.0", Publisher: "test", AlwaysOn: true,
			Capabilities: []string{"send_letter"}, DefaultInstalled: true,
		},
		capability.Definition{
			Name: "send_letter", Kind: capability.Local, Provider: "local", Description: "Sends a letter.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`),
			Handle: func(ctx context.Context, c capability.Call) (json.RawMessage, error) {
				if err := post(box, string(c.Args)); err != nil {
					return nil, err
				}
				switch {
				case inBox(box, "hang"):
					<-ctx.Done()
					return nil, ctx.Err()
				case inBox(box, "lose"):
					return nil, fault.New(fault.Unavailable, "the post office hung up")
				}
				return json.RawMessage(`{"sent":true}`), nil
			},
		},
	)
}

func post(box, letter string) error {
	f, err := os.OpenFile(filepath.Join(box, "letters"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(letter + "\n")
	return errors.Join(err, f.Close())
}

func inBox(box, name string) bool {
	_, err := os.Stat(filepath.Join(box, name))
	return err == nil
}

// posted counts the letters.
func posted(box string) int {
	raw, _ := os.ReadFile(filepath.Join(box, "letters")) // none yet
	return strings.Count(string(raw), "\n")
}

// put makes a file of the box, and gives back what takes it away.
func put(t *testing.T, box, name string) (remove func()) {
	t.Helper()
	path := filepath.Join(box, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() { _ = os.Remove(path) }
}

// awaitLetters waits until so many letters were sent.
func awaitLetters(t *testing.T, box string, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); posted(box) < n; {
		if time.Now().After(end) {
			t.Fatalf("%d letters were sent, want %d", posted(box), n)
		}
	}
}

// letterModel plays a model that sends one letter and then says that it is done.
func letterModel(t *testing.T) *httptest.Server {
	t.Helper()
	letter := llmstub.ScriptCall{ID: "call-1", Name: "send_letter", Arguments: json.RawMessage(`{"to":"bob"}`)}
	srv := httptest.NewServer(llmstub.New(&llmstub.Case{ID: "case", Turns: []llmstub.Turn{{Call: []llmstub.ScriptCall{letter}}, {Say: "好了。"}}}))
	t.Cleanup(srv.Close)
	return srv
}

// office is a mesh in which a letter can be sent.
type office struct {
	*meshtest.Mesh
	t   *testing.T
	o   meshtest.Options
	box string
}

func openOffice(t *testing.T, change func(*app.Config)) *office {
	t.Helper()
	box, model := t.TempDir(), letterModel(t)
	o := meshtest.Options{Dir: t.TempDir(), With: []app.Option{letters(box)}, Change: func(c *app.Config) {
		c.LLMBaseURL, c.LLMModel = model.URL+"/v1", "case"
		change(c)
	}}
	return &office{meshtest.Start(t, o), t, o, box}
}

// interrupt ends the mesh while a letter is under way, and starts it again, where letters are answered.
func (o *office) interrupt(path, thread string) (runID string) {
	o.t.Helper()
	answered := put(o.t, o.box, "hang")
	before := posted(o.box)
	talk := o.Stream("ann", path, meshtest.Input(thread, "写信"))
	awaitLetters(o.t, o.box, before+1)
	o.restart()
	answered()
	return talk.RunID
}

func (o *office) restart() {
	o.t.Helper()
	o.Stop()
	o.Mesh = meshtest.Start(o.t, o.o)
}

type openQuestions struct{ Items []agent.Confirmation }

// TestKilledWhileALetterIsSent kills the process, whose next one asks, in the inbox, with what is known; each
// answer does what it says, once.
func TestKilledWhileALetterIsSent(t *testing.T) {
	t.Parallel()
	for answer, want := range map[agent.Reply]struct {
		letters int
		status  string
	}{
		agent.Happened: {1, "SUCCEEDED"}, agent.DidNotHappen: {1, "FAILED"}, agent.TryAgain: {2, "SUCCEEDED"},
	} {
		t.Run(string(answer), func(t *testing.T) {
			t.Parallel()
			box, dir := t.TempDir(), t.TempDir()
			answered := put(t, box, "hang")
			p := launchWith(t, []string{theLetterbox + "=" + box, "LLM_BASE_URL=" + letterModel(t).URL + "/v1", "LLM_MODEL=case"}, "--listen", "127.0.0.1:0", "--data", dir)
			resp, err := p.post("/api/v1/runs", meshtest.Input("t1", "写信"))
			if err != nil {
				t.Fatal(err)
			}
			runID := resp.Header.Get("X-Run-Id")
			awaitLetters(t, box, 1)
			p.stop(syscall.SIGKILL)
			_ = resp.Body.Close()
			answered()
			p.start()

			q := p.awaitQuestion()
			if q.Kind != agent.AskOutcome || q.Attempt == nil || q.Attempt.Why != agent.Interrupted || q.Attempt.Number != 1 || len(q.Answers) != 3 {
				t.Fatalf("the question is %+v", q)
			}
			for range 2 { // the same answer again is the same answer
				got, err := p.post("/runs/"+runID+"/confirm", `{"answer":"`+string(answer)+`","confirmationId":"`+q.ID+`"}`)
				if err != nil || got.StatusCode != http.StatusOK {
					t.Fatalf("answer: %v %v", got, err)
				}
				_ = got.Body.Close()
			}
			events := p.get("/api/v1/runs/" + runID + "/events") // to its end
			if !strings.Contains(events, "好了。") || posted(box) != want.letters {
				t.Errorf("%d letters, want %d; %s", posted(box), want.letters, events)
			}
			var r struct {
				Status      string
				Invocations []struct{ Status string }
			}
			if err := json.Unmarshal([]byte(p.get("/api/v1/runs/"+runID)), &r); err != nil || r.Status != "SUCCEEDED" || r.Invocations[0].Status != want.status {
				t.Errorf("the run is %+v, %v, want a call that is %s", r, err, want.status)
			}
			p.stop(syscall.SIGTERM)
			checkBooks(t, dir)
		})
	}
}

func (p *process) get(path string) string {
	p.t.Helper()
	resp, err := http.Get(p.url + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return readAll(p.t, resp)
}

// awaitQuestion waits until a question is in the inbox.
func (p *process) awaitQuestion() agent.Confirmation {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		var open openQuestions
		if err := json.Unmarshal([]byte(p.get("/api/v1/confirmations?status=open")), &open); err == nil && len(open.Items) == 1 {
			return open.Items[0]
		}
	}
	p.t.Fatal("there is no question")
	return agent.Confirmation{}
}

// TestOutcome_OpenStream: the stream that is read again shows the question, its kind and its answers, and what
// became of it; what is no answer is a 400 that names them.
func TestOutcome_OpenStream(t *testing.T) {
	t.Parallel()
	o := openOffice(t, withKeys)
	runID := o.keyed(annsKey)
	path := "/runs/" + runID
	_, body := do(t, o.Mesh, annsKey, http.MethodGet, "/api/v1/confirmations?status=open", "")
	id := firstID(t, body, "confirmationId")
	for _, bad := range []struct{ verb, body string }{
		{"/confirm", `{}`}, {"/confirm", `{"answer":"perhaps"}`}, {"/reject", `{}`}, {"/reject", `{"answer":"happened"}`}, {"/confirm", `{"answer":"try_again","args":{"to":"eve"}}`},
	} {
		status, body := do(t, o.Mesh, annsKey, http.MethodPost, path+bad.verb, bad.body)
		if status != http.StatusBadRequest || (bad.body == `{}` && !strings.Contains(body, "happened, did_not_happen or try_again")) {
			t.Errorf("%s %s: %d %s, want 400", bad.verb, bad.body, status, body)
		}
	}
	for secret, want := range map[string]int{bobsKey: http.StatusNotFound, botsKey: http.StatusForbidden} {
		if status, body := do(t, o.Mesh, secret, http.MethodPost, path+"/confirm", `{"answer":"happened"}`); status != want {
			t.Errorf("with another key: %d %s, want %d", status, body, want)
		}
	}
	talk := o.Open("ann", http.MethodGet, "/api/v1"+path+"/events", "", bearer(annsKey))
	defer func() { _ = talk.Body.Close() }()
	for _, c := range []struct {
		body string
		want int
	}{{`{"answer":"happened"}`, 200}, {`{"answer":"happened"}`, 200}, {`{"answer":"try_again"}`, 409}} {
		if status, body := do(t, o.Mesh, annsKey, http.MethodPost, path+"/confirm", c.body); status != c.want {
			t.Errorf("%s: %d %s, want %d", c.body, status, body, c.want)
		}
	}
	seen := readAll(t, talk)
	for _, part := range []string{
		`"tool_confirmation_required","value":{"confirmationId":"` + id + `","kind":"outcome"`, `"answers":["happened","did_not_happen","try_again"]`,
		`"why":"interrupted"`, `"status":"ANSWERED","answer":"happened"`, "said_to_have_happened", "好了。",
	} {
		if !strings.Contains(seen, part) {
			t.Errorf("the stream lacks %s:\n%s", part, seen)
		}
	}
	if n := posted(o.box); n != 1 {
		t.Errorf("%d letters, want 1", n)
	}
}

// keyed is interrupt for a user with a key.
func (o *office) keyed(secret string) (runID string) {
	o.t.Helper()
	answered := put(o.t, o.box, "hang")
	resp := o.Open("ann", http.MethodPost, "/api/v1/runs", meshtest.Input("t1", "写信"), bearer(secret))
	awaitLetters(o.t, o.box, 1)
	o.restart()
	answered()
	_ = resp.Body.Close()
	runID = resp.Header.Get("X-Run-Id")
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if _, body := do(o.t, o.Mesh, secret, http.MethodGet, "/api/v1/confirmations?status=open", ""); strings.Contains(body, runID) {
			return runID
		}
	}
	o.t.Fatal("there is no question")
	return ""
}

// TestOutcome_Standard: the interrupt says what an answer looks like, resume gives one, and what is none changes
// nothing. A CopilotKit page goes the same way.
func TestOutcome_Standard(t *testing.T) {
	t.Parallel()
	for path, payload := range map[string]string{"/agui": `{"answer":"try_again","reason":"no letter came"}`, copilot + "/run": `"try_again"`} {
		o := openOffice(t, func(*app.Config) {})
		runID := o.interrupt(path, "t1")
		awaitQuestions(t, o.Mesh, 1)
		asked := whole(t, o.Mesh, "ann", path, resumeBody("t1", "conf-unknown", `true`))
		id := interruptOf(t, asked)
		got := asked.Last().Outcome.Interrupts[0]
		schema, _ := json.Marshal(got.ResponseSchema)
		if got.Reason != "input_required" || got.ToolCallID != "call-1" || !strings.Contains(string(schema), `"enum":["happened","did_not_happen","try_again"]`) ||
			!strings.Contains(got.Message, "发生了吗") || !strings.Contains(got.Message, "Did send_letter happen? Attempt 1 began at ") {
			t.Errorf("%s: the interrupt is %+v", path, got)
		}
		refused := whole(t, o.Mesh, "ann", path, resumeBody("t1", id, `{"approved":true}`))
		if interruptOf(t, refused) != id || !strings.Contains(refused.Last().Outcome.Interrupts[0].Message, "happened, did_not_happen or try_again") {
			t.Errorf("%s: a yes ended with %+v", path, refused.Last().Outcome)
		}
		silent := whole(t, o.Mesh, "ann", path, strings.Replace(resumeBody("t1", id, `null`), "resolved", "cancelled", 1))
		if interruptOf(t, silent) != id {
			t.Errorf("%s: no answer ended with %+v", path, silent.Last().Outcome)
		}
		if status, _ := o.Do("ann", http.MethodPost, path, resumeBody("t1", id, `{"answer":"perhaps"}`)); status != http.StatusBadRequest {
			t.Errorf("%s: another word: %d, want 400", path, status)
		}
		done := whole(t, o.Mesh, "ann", path, resumeBody("t1", id, payload))
		if done.Last().Outcome != nil || done.RunID != runID || done.Text() != "好了。" || len(done.Results()) != 1 || posted(o.box) != 2 {
			t.Errorf("%s: ended with %+v after %s, %d letters", path, done.Last(), done.Types(), posted(o.box))
		}
	}
}

// TestOutcome_CopilotKitConnect: a page that was reloaded is shown the question.
func TestOutcome_CopilotKitConnect(t *testing.T) {
	t.Parallel()
	o := openOffice(t, func(*app.Config) {})
	o.interrupt(copilot+"/run", "t1")
	awaitQuestions(t, o.Mesh, 1)
	id := interruptOf(t, whole(t, o.Mesh, "ann", copilot+"/connect", connectBody("t1", "connect")))
	done := whole(t, o.Mesh, "ann", copilot+"/run", resumeBody("t1", id, `{"answer":"did_not_happen"}`))
	if done.Last().Outcome != nil || !strings.Contains(done.Results()["call-1"], "said_not_to_have_happened") {
		t.Errorf("ended with %+v after %s", done.Last(), done.Types())
	}
}

// TestOutcome_LostAnswer: an answer that is lost on its way asks at once, without any restart, in the stream that
// is open.
func TestOutcome_LostAnswer(t *testing.T) {
	t.Parallel()
	o := openOffice(t, func(*app.Config) {})
	found := put(t, o.box, "lose")
	talk := o.Say("ann", "t1", "写信")
	q := talk.Question()
	found()
	if q.Kind != agent.AskOutcome || q.Attempt.Why != "unavailable" {
		t.Fatalf("the question is %+v", q)
	}
	if status, body := talk.Answer("confirm", `{"answer":"try_again"}`); status != http.StatusOK {
		t.Fatalf("answer: %d %s", status, body)
	}
	talk.Rest()
	if talk.Text() != "好了。" || posted(o.box) != 2 {
		t.Errorf("said %q after %d letters", talk.Text(), posted(o.box))
	}
}
