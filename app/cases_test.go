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
// provider refuses. Time is virtual.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := llmstub.LoadDir(filepath.Join("testdata", "cases"))
	if err != nil || len(cases) != 87 {
		t.Fatalf("got %d cases, %v, want 87", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playCase(t, c) })
		})
	}
}

// endpointsThatNeverAnswer lists the cases whose last turn is what the endpoint always sends, however often it is asked.
func endpointsThatNeverAnswer() []string { return []string{"body-empty", "error-html-200"} }

// played is what a case came to.
type played struct {
	mu       sync.Mutex
	executed []llmstub.ScriptCall
	asked    []string
	answer   string // what the runs said, and the words of their errors
	ends     []string
}

func playCase(t *testing.T, c *llmstub.Case) {
	if slices.Contains(endpointsThatNeverAnswer(), c.ID) {
		whole := *c
		whole.AfterLast = "repeat"
		c = &whole
	}
	stub := llmstub.New(c)
	stub.Strict = true
	p := &played{}
	manifest := skills.Manifest{ID: "test.case", Name: "案例", NameEn: "Case", AlwaysOn: true, DefaultInstalled: true, Capabilities: c.Tools}
	m := meshtest.Start(t, meshtest.Options{With: []app.Option{
		app.WithModel(http.StripPrefix("/demo", stub)), app.WithSkill(manifest, p.tools(c.Tools)...),
	}})
	steps := slices.Clone(c.Steps)
	p.say(m, c.UserMessage, &steps)
	for len(steps) > 0 {
		text, ok := strings.CutPrefix(steps[0], "say: ")
		if !ok {
			t.Errorf("the step %q had nothing to act on", steps[0])
		}
		steps = steps[1:]
		p.say(m, text, &steps)
	}
	m.Stop()
	for _, bad := range stub.Check(c) {
		t.Errorf("on the wire: %s", bad)
	}
	p.judge(t, c)
}

// say sends a message and plays the steps that come before the run's end.
func (p *played) say(m *meshtest.Mesh, text string, steps *[]string) {
	talk := m.Say("anna", "t1", text)
	defer talk.Close()
	if len(*steps) > 0 && (*steps)[0] == "cancel" {
		*steps = (*steps)[1:]
		talk.Until(func(e agui.Event) bool { return e.Type == agui.ToolCallResult })
		talk.Answer("cancel", "{}")
	}
	for {
		last := talk.Until(func(e agui.Event) bool {
			return e.Name == agui.ConfirmationRequired || e.Type == agui.RunFinished || e.Type == agui.RunError
		})
		if last.Name != agui.ConfirmationRequired {
			p.answer += talk.Text() + last.Message
			p.ends = append(p.ends, last.Type)
			return
		}
		var q agent.Confirmation
		_ = json.Unmarshal(last.Value, &q)
		p.asked = append(p.asked, q.Tool)
		verb := "reject"
		if len(*steps) > 0 && (*steps)[0] == "approve" {
			verb = "confirm"
		}
		if len(*steps) > 0 && !strings.HasPrefix((*steps)[0], "say") {
			*steps = (*steps)[1:]
		}
		talk.Decide(verb, q)
	}
}

// tools are the logical tools of the scripts.
func (p *played) tools(names []string) []capability.Definition {
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
func (p *played) handle(_ context.Context, call capability.Call) (json.RawMessage, error) {
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

func (p *played) judge(t *testing.T, c *llmstub.Case) {
	t.Helper()
	for _, want := range c.Expected.Executed {
		if got := p.count(want); got != max(1, want.Times) {
			t.Errorf("%s %s ran %d times, want %d; ran %s", want.Tool, want.Arguments, got, max(1, want.Times), p.ran())
		}
	}
	for _, name := range c.Expected.NotExecuted {
		if tool, _, _ := strings.Cut(name, " "); strings.Contains(p.ran(), tool+"{") {
			t.Errorf("%s ran: %s", tool, p.ran())
		}
	}
	for _, tool := range c.Expected.NeedsConfirmation {
		if !slices.Contains(p.asked, tool) {
			t.Errorf("nobody was asked about %s", tool)
		}
	}
	for _, want := range c.Expected.AnswerContains {
		if !strings.Contains(p.answer, want) {
			t.Errorf("got the answer %q, want %q in it", p.answer, want)
		}
	}
	for _, bad := range c.Expected.AnswerNotContains {
		if strings.Contains(p.answer, bad) {
			t.Errorf("got the answer %q, want no %q in it", p.answer, bad)
		}
	}
	if slices.Contains(endpointsThatNeverAnswer(), c.ID) && !slices.Contains(p.ends, agui.RunError) {
		t.Errorf("got the answer %q of an endpoint that gives none", p.answer)
	}
	if strings.Contains(p.answer, "脚本已结束") {
		t.Errorf("the script was over before the run: %q", p.answer)
	}
	if strings.TrimSpace(p.answer) == "" {
		t.Error("nobody was told anything")
	}
	if c.Expected.Outcome == "answer" && slices.Contains(p.ends, agui.RunError) {
		t.Errorf("got an error: %s", p.answer)
	}
}

func (p *played) count(want llmstub.ExpectedCall) int {
	n := 0
	for _, call := range p.executed {
		if call.Name == want.Tool && (len(want.Arguments) == 0 || sameJSON(call.Arguments, want.Arguments)) {
			n++
		}
	}
	return n
}

func (p *played) ran() string {
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

// TestGoldenCases writes the table of the cases into docs/model-wire.md.
func TestGoldenCases(t *testing.T) {
	t.Parallel()
	cases, err := llmstub.LoadDir(filepath.Join("testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	var doc strings.Builder
	doc.WriteString(wireHead)
	for _, c := range cases {
		fmt.Fprintf(&doc, "| `%s` | %s | %s | %s |\n", c.ID, c.Family, cell(c.Description), cell(strings.Join(c.Source, ", ")))
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
the wire, the tools that ran, the questions, and the words that an answer must or must not hold; an outcome that a case describes in a sentence is judged
only by somebody being told something. This table is written by ` + "`make golden`" + `.

| case | family | what happens | reported in |
| --- | --- | --- | --- |
`
