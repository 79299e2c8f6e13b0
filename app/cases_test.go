package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/skills"
)

// TestCases plays every case of testdata/cases, which public reports stand behind, through the whole program: the
// script is the model, its tools are capabilities of an always-on skill, and the endpoint refuses what a strict
// provider refuses. What a case comes to is compared with its line of testdata/outcomes.json. Time is virtual.
func TestCases(t *testing.T) {
	t.Parallel()
	cases := loadCases(t)
	outcomes := loadOutcomes(t, cases)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playCase(t, c, outcomes[c.ID]) })
		})
	}
}

// TestCases_OfOurOwn plays what no report of testdata/cases stands for.
func TestCases_OfOurOwn(t *testing.T) {
	t.Parallel()
	const call = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"query_menu","arguments":"{}"}}]}}]}` + "\n\n"
	const text = `data: {"choices":[{"delta":{"content":"我看看"}}]}` + "\n\n"
	tests := []struct {
		name string
		turn llmstub.Turn
		want outcome
	}{
		{"a_call_whose_stream_broke_off_does_not_run", llmstub.Turn{SSE: call, End: "cut"}, outcome{observed: observed{
			Ends: []string{"completed"}, Requests: 2, Says: []string{"好"}, Retries: []string{"upstream"},
		}}},
		{"a_call_whose_stream_ended_early_does_not_run", llmstub.Turn{SSE: call}, outcome{observed: observed{
			Ends: []string{"completed"}, Requests: 2, Says: []string{"好"}, Retries: []string{"upstream"},
		}}},
		{"nor_does_one_behind_a_text_that_was_shown", llmstub.Turn{SSE: text + call, End: "cut"}, outcome{observed: observed{
			Ends: []string{"error upstream: the answer of the model demo was cut off"}, Requests: 1, Says: []string{"我看看" + cutMark},
		}}},
		{"a_wrong_key_is_not_tried_again", llmstub.Turn{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no"}}`}, outcome{observed: observed{
			Ends: []string{"error authentication: the model demo refused the key; check LLM_API_KEY"}, Requests: 1,
		}}},
		{"nor_is_a_key_without_rights", llmstub.Turn{Status: http.StatusForbidden, Body: `{"error":{"message":"no"}}`}, outcome{observed: observed{
			Ends: []string{"error permission: the key may not use the model demo; check LLM_API_KEY"}, Requests: 1,
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &llmstub.Case{ID: tt.name, UserMessage: "你好", Tools: []string{"query_menu"}, Turns: []llmstub.Turn{tt.turn, {Say: "好"}}}
			synctest.Test(t, func(t *testing.T) { playCase(t, c, tt.want) })
		})
	}
}

func loadCases(t *testing.T) []*llmstub.Case {
	t.Helper()
	cases, err := llmstub.LoadDir(filepath.Join("testdata", "cases"))
	if err != nil || len(cases) != 87 {
		t.Fatalf("got %d cases, %v, want 87", len(cases), err)
	}
	return cases
}

func playCase(t *testing.T, c *llmstub.Case, want outcome) {
	whole := *c
	if want.Repeats {
		whole.AfterLast = "repeat"
	}
	stub := llmstub.New(&whole)
	stub.Strict = true
	p := &player{t: t, steps: c.Steps}
	manifest := skills.Manifest{ID: "test.case", Name: "案例", NameEn: "Case", AlwaysOn: true, DefaultInstalled: true, Capabilities: c.Tools}
	p.m = meshtest.Start(t, meshtest.Options{With: []app.Option{
		app.WithModel(http.StripPrefix("/demo", stub)), app.WithSkill(manifest, p.tools(c.Tools)...),
	}})
	began := time.Now()
	p.say(c.UserMessage)
	for len(p.steps) > 0 {
		p.say(p.message())
	}
	took := time.Since(began)
	p.readBack()
	synctest.Wait()
	for _, r := range stub.Records() {
		if r.Ended == "" {
			t.Errorf("the answer to request %d is still being read", r.Turn)
		}
		if r.Turn > 0 {
			p.got.Requests++
		}
	}
	p.m.Stop()
	for _, bad := range stub.Check(c) {
		t.Errorf("on the wire: %s", bad)
	}
	p.judge(c)
	want.judge(t, p.got, took)
}

// player plays the person of a case, runs the tools, and notes what the case comes to.
type player struct {
	t     *testing.T
	m     *meshtest.Mesh
	steps []string // that are left
	got   observed
	shown string // all text of the streams, as it came
	yes   int    // how often the person agreed

	mu       sync.Mutex
	executed []llmstub.ScriptCall
}

// step takes the next step.
func (p *player) step() string {
	if len(p.steps) == 0 {
		return ""
	}
	step := p.steps[0]
	p.steps = p.steps[1:]
	return step
}

// message takes the next step, which must be to say something, as nothing else is under way.
func (p *player) message() string {
	p.t.Helper()
	step := p.step()
	text, ok := strings.CutPrefix(step, "say: ")
	if !ok {
		p.t.Fatalf("the step %q is not known, or has nothing to act on", step)
	}
	return text
}

// say sends a message and plays the steps that come before the run's end.
func (p *player) say(text string) {
	p.t.Helper()
	talk := p.m.Say("anna", "t1", text)
	defer talk.Close()
	if len(p.steps) > 0 && p.steps[0] == "cancel" {
		p.step()
		talk.Until(func(e agui.Event) bool { return e.Type == agui.ToolCallResult })
		synctest.Wait() // what follows the result is under way
		talk.Answer("cancel", "{}")
	}
	for {
		last := talk.Until(func(e agui.Event) bool {
			return e.Name == agui.ConfirmationRequired || e.Type == agui.RunFinished || e.Type == agui.RunError
		})
		if last.Name != agui.ConfirmationRequired {
			p.shown += talk.Text()
			p.got.note(talk.Transcript)
			return
		}
		p.decide(talk, last)
	}
}

// decide answers a question as the next step says.
func (p *player) decide(talk *meshtest.Talk, asked agui.Event) {
	p.t.Helper()
	var q agent.Confirmation
	if err := json.Unmarshal(asked.Value, &q); err != nil {
		p.t.Fatalf("question: %v", err)
	}
	p.got.Asks = append(p.got.Asks, q.Tool+" "+string(q.Args))
	switch step := p.step(); step {
	case "approve":
		p.yes++
		talk.Decide("confirm", q)
	case "deny":
		talk.Decide("reject", q)
	default:
		p.t.Fatalf("asked about %s, which the step %q does not answer", q.Tool, step)
	}
}

// readBack notes what the conversation holds of the model's words.
func (p *player) readBack() {
	p.t.Helper()
	var page struct {
		Items []struct {
			Role, Content, Reasoning string
			Abandoned                bool
		} `json:"items"`
	}
	p.m.Get("anna", "/api/v1/conversations/t1/messages", &page)
	stored := ""
	for _, m := range page.Items {
		if m.Role != string(agent.Assistant) {
			continue
		}
		stored += m.Content
		if m.Reasoning != "" {
			p.got.Thinks = append(p.got.Thinks, m.Reasoning)
		}
		switch {
		case m.Abandoned:
			p.got.Says = append(p.got.Says, m.Content+cutMark)
		case m.Content != "":
			p.got.Says = append(p.got.Says, m.Content)
		}
	}
	if stored != p.shown {
		p.t.Errorf("shown was %q, and stored is %q", p.shown, stored)
	}
}

// tools are the logical tools of the scripts.
func (p *player) tools(names []string) []capability.Definition {
	schemas := map[string]string{
		"query_menu":    `{"type":"object","properties":{"date":{"type":"string"},"keyword":{"type":"string"}}}`,
		"check_stock":   `{"type":"object","properties":{"dish":{"type":"string"}},"required":["dish"]}`,
		"get_time":      `{"type":"object"}`,
		"search_memory": `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
		"submit_order": `{"type":"object","required":["items"],"properties":{"items":{"type":"array","minItems":1,"items":{"type":"object",
			"required":["dish","qty"],"properties":{"dish":{"type":"string"},"qty":{"type":"integer","minimum":1},"note":{"type":"string"}}}}}}`,
	}
	var out []capability.Definition
	for _, name := range names {
		out = append(out, capability.Definition{
			Name: name, Kind: capability.Local, Provider: "local", Description: "A tool of the scripts.", InputSchema: json.RawMessage(schemas[name]),
			ReadOnly: name != "submit_order", RequiresConfirmation: name == "submit_order", Handle: p.handle,
		})
	}
	return out
}

// handle knows no dish with 龙 in its name, and no 榴莲 on the menu.
func (p *player) handle(_ context.Context, call capability.Call) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.executed = append(p.executed, llmstub.ScriptCall{Name: call.Name, Arguments: call.Args})
	switch {
	case strings.Contains(string(call.Args), "榴莲"):
		return json.RawMessage(`[]`), nil
	case strings.Contains(string(call.Args), "龙肉"):
		return nil, fault.New(fault.NotFound, "there is no such dish")
	}
	return json.RawMessage(`{"found":"清蒸鲈鱼","left":3,"priceFen":1800}`), nil
}

// judge says what of a case's own expectations does not hold; those of the wire are llmstub's.
func (p *player) judge(c *llmstub.Case) {
	p.t.Helper()
	for _, want := range c.Expected.Executed {
		if got := p.count(want); got != max(1, want.Times) {
			p.t.Errorf("%s %s ran %d times, want %d; ran %s", want.Tool, want.Arguments, got, max(1, want.Times), p.ran())
		}
	}
	for _, entry := range c.Expected.NotExecuted {
		if p.ranDespite(entry) {
			p.t.Errorf("%s: ran %s", entry, p.ran())
		}
	}
	if got := p.count(llmstub.ExpectedCall{Tool: "submit_order"}); got != p.yes {
		p.t.Errorf("%d orders after %d times yes: %s", got, p.yes, p.ran())
	}
	for _, tool := range c.Expected.NeedsConfirmation {
		if !slices.ContainsFunc(p.got.Asks, func(asked string) bool { return strings.HasPrefix(asked, tool+" ") }) {
			p.t.Errorf("nobody was asked about %s", tool)
		}
	}
	for _, want := range c.Expected.AnswerContains {
		if !strings.Contains(p.shown, want) {
			p.t.Errorf("got the answer %q, want %q in it", p.shown, want)
		}
	}
	for _, bad := range c.Expected.AnswerNotContains {
		if strings.Contains(p.shown, bad) {
			p.t.Errorf("got the answer %q, want no %q in it", p.shown, bad)
		}
	}
}

// ranDespite tells whether a call was made that an entry of not_executed forbids. Calls that nobody agreed to are
// counted in every case.
func (p *player) ranDespite(entry string) bool {
	tool, args, _ := strings.Cut(entry, " ")
	return args != llmstub.Unconfirmed && p.count(llmstub.ExpectedCall{Tool: tool, Arguments: json.RawMessage(args)}) > 0
}

func (p *player) count(want llmstub.ExpectedCall) int {
	n := 0
	for _, call := range p.executed {
		if call.Name == want.Tool && (len(want.Arguments) == 0 || sameJSON(call.Arguments, want.Arguments)) {
			n++
		}
	}
	return n
}

func (p *player) ran() string {
	var b strings.Builder
	for _, call := range p.executed {
		fmt.Fprintf(&b, "%s%s ", call.Name, call.Arguments)
	}
	return b.String()
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func TestPlayer_RanDespite(t *testing.T) {
	t.Parallel()
	p := &player{executed: []llmstub.ScriptCall{{Name: "q", Arguments: json.RawMessage(`{"a":1,"b":2}`)}}}
	for entry, want := range map[string]bool{`q`: true, `q {"b":2, "a":1}`: true, `q {"a":1}`: false, `r`: false, `q without confirmation`: false} {
		if got := p.ranDespite(entry); got != want {
			t.Errorf("%s: got %v, want %v", entry, got, want)
		}
	}
}

// TestGoldenCases writes the table of the cases into docs/model-wire.md.
func TestGoldenCases(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	doc.WriteString(wireHead)
	cases := loadCases(t)
	outcomes := loadOutcomes(t, cases)
	for _, c := range cases {
		fmt.Fprintf(&doc, "| `%s` | %s | %s | %s | %s |\n",
			c.ID, c.Family, cell(c.Description), cell(strings.Join(outcomes[c.ID].Ends, "; ")), cell(strings.Join(c.Source, ", ")))
	}
	compareGolden(t, filepath.Join("..", "docs", "model-wire.md"), doc.String())
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}

const wireHead = `# The model's wire: what endpoints send, and what becomes of it

The client (agent/openai) lets openai-go make the request and reads the answer itself; agent/models asks again and asks the
next model; the engine (agent/run) decides what runs. What holds:

- A thought (reasoning_content, reasoning, or think tags at the beginning of a text) is no text. It is stored, and goes back with
  the calls that it came with; so does extra_content.
- A call runs only if its answer is complete, its arguments are one object that fits the schema, and the tool was offered. Otherwise the
  model is told what is wrong and what exists. Calls written as text in tool_call tags are calls.
- No limit on the whole answer but its size (512 KiB) and the run's working time: two minutes to the first byte, a minute between two. A heartbeat (a
  comment such as OpenRouter's ": OPENROUTER PROCESSING" or DeepSeek's ": keep-alive", an empty event, a ping) says that the request waits in a queue: it
  is no silence. But five minutes without a piece of the answer end the call, so that a run of ten minutes can still ask another model.
- Errors have a class, by HTTP status, by the same number in a stream, and by words only where endpoints have no number: authentication (401), permission (402,
  403), rate_limit (429), context_length (413, or said in words), upstream (408, 409, 5xx, or what is no answer), connection (not reached, broken, silent),
  invalid_request (the others, redirects too, which are not followed), internal (our own fault). rate_limit, upstream and connection are tried again twice
  (0.5 s, doubled; Retry-After up to 30 s), then the next model is asked, at once if the failure took a minute; nothing is repeated once a piece of
  the answer was shown. The event model_retry tells of it. Words on the page name the model and the setting to look at, the log the host too; no URL, no key.
- Of more tools than an endpoint takes (128) the last are not offered, and a line in the log names them, once for each model and set.

## Models with an address of their own

LLM_BASE_URL, LLM_API_KEY and LLM_MODEL name one model, LLM_MODELS several of that address. ` + "`models`" + ` in ` + "`agentmesh.yaml`" + ` (JSON in AGENTMESH_MODELS)
takes the place of LLM_MODEL and LLM_MODELS: an ordered list, of which the first is asked, and the next one when that fails before it has said anything.

` + "```yaml" + `
models:
  - name: gpt-4o-mini                # at LLM_BASE_URL, with LLM_API_KEY
  - name: deepseek-chat
    base_url: https://api.deepseek.com/v1
    key_env: DEEPSEEK_API_KEY        # the NAME of the variable, in the environment or in .env
    context_size: 65536              # tokens; LLM_CONTEXT_SIZE where it is left out
  - name: qwen3
    base_url: http://127.0.0.1:11434/v1
    echo_reasoning: false            # true: reasoning_content goes back with the calls that it came with
    leave_out: [stream_options]      # fields that this endpoint refuses
    extra_body: {seed: 7}            # fields that its requests have besides
    max_tools: 64                    # 128
` + "```" + `

- A key is never in the file, and none is sent to another address than its own: a model with a base_url has the key of its key_env, or none. A model without
  either has LLM_BASE_URL and LLM_API_KEY. All keys are hidden in the log; ` + "`agentmesh config`" + ` shows the list, ` + "`doctor`" + ` looks at each address.
- leave_out takes stream (which an endpoint may answer with one document), stream_options, parallel_tool_calls and max_completion_tokens; the last two are sent
  only if extra_body has them. A refusal that names a field of the request says so in the words of the error.
- echo_reasoning is on, since DeepSeek's and others' thinking models refuse calls without their thoughts; Mistral refuses the field.
- A prompt must fit whichever model answers, so the smallest context_size counts. At the start at least one address must answer.

## The cases

` + "`make cases`" + ` plays these 87 conversations through the whole program, with an endpoint that refuses what a strict provider refuses. Judged are
the wire, by the case; and by its line of app/testdata/outcomes.json how each run ends, with its error's class and words, how often the endpoint was asked
and why again, each call with what became of it, each question, and each text and thought that is stored, with a mark where it broke off. Time is
virtual. This table is written by ` + "`make golden`" + `.

| case | family | what happens | how it ends | reported in |
| --- | --- | --- | --- | --- |
`
