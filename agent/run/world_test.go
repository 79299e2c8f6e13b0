package run_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/wrap"
	"agentmesh/capability"
	"agentmesh/capability/localtool"
	"agentmesh/skills"
	"agentmesh/store/rundb"
)

// world is the engine on a real database, with a scripted model and a few capabilities.
type world struct {
	t       *testing.T
	path    string
	db      *rundb.DB
	runs    *run.Service
	model   *scriptedModel
	tools   *tools
	cfg     run.Config
	log     io.Writer // of errors
	now     func() time.Time
	rules   []capability.Rule
	around  wrap.Wrapper[run.Work]
	commits int64 // of all, once stopped
	open    func(ctx context.Context, path string) (*rundb.DB, error)
	store   func(agent.RunStore) agent.RunStore // what stands between the engine and the database
}

func newWorld(t *testing.T, change ...func(*world)) *world {
	t.Helper()
	w := &world{
		t: t, path: filepath.Join(t.TempDir(), "orchestrator.db"), model: &scriptedModel{}, tools: &tools{},
		open: rundb.Open, store: func(s agent.RunStore) agent.RunStore { return s },
		around: func(next run.Work) run.Work { return next },
		log:    io.Discard, now: time.Now, cfg: run.Config{ConfirmationTTL: 300 * time.Second, Leave: map[agent.Origin]time.Duration{agent.ByAPI: time.Minute, agent.ByAGUI: 10 * time.Second}, Bounds: run.DefaultBounds()},
	}
	for _, c := range change {
		c(w)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *world) start() {
	w.t.Helper()
	ctx := flow.WithLogger(context.Background(), flow.NewLogger(w.log, "error"))
	db, err := w.open(ctx, w.path)
	must(w.t, err)
	registry, err := capability.NewRegistry(append(w.tools.definitions(),
		localtool.ReadResult(run.ReadResult, db, func() int { return run.ResultPage(w.model.ContextSize()) }))...)
	must(w.t, err)
	market, err := skills.NewMarketplace(manifests(), registry, db, time.Now)
	must(w.t, err)
	w.db = db
	pipeline := capability.NewPipeline(registry, db, w.now)
	pipeline.Govern(w.rules, db)
	w.runs = run.New(run.Deps{
		Store: w.store(db), Model: w.model, Registry: registry, Market: market, Now: w.now, NewID: flow.NewID,
		Pipeline: pipeline, Around: []wrap.Wrapper[run.Work]{w.around},
	}, w.cfg)
	must(w.t, w.runs.Start(ctx))
}

func (w *world) stop() {
	if w.db == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := w.runs.Stop(ctx); err != nil {
		w.t.Errorf("stop: %v", err)
	}
	w.commits = w.db.Commits()
	_ = w.db.Close()
	w.db = nil
}

func manifests() []skills.Manifest {
	return []skills.Manifest{
		{ID: "test.basics", AlwaysOn: true, Name: "基础", NameEn: "Basics", Capabilities: []string{"look", "slow", "wait", "hold", "outside"}, DefaultInstalled: true},
		{
			ID: "test.buy", Name: "买", NameEn: "Buy", Capabilities: []string{"buy", "note"}, DefaultInstalled: true,
			Routing: skills.Routing{Keywords: []string{"buy"}},
		},
	}
}

// scriptedModel answers each round with the next of its turns; without one it says "done".
type scriptedModel struct {
	mu      sync.Mutex
	turns   []turn
	prompts []agent.Prompt
	size    int // of its context; 32,768 when 0

	summary   func(context.Context, agent.Prompt) (agent.Answer, error) // answers what asks for a summary
	summaries []agent.Prompt
	refuse    func(agent.Prompt) error // before anything else
}

// turn is one answer: text in pieces, calls, or whatever do says.
type turn struct {
	say   []string
	calls []agent.ToolCall
	do    func(ctx context.Context, onText func(string)) (agent.Answer, error)
}

func (m *scriptedModel) script(turns ...turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = append(m.turns, turns...)
}

func (m *scriptedModel) Name() string { return "scripted" }

func (m *scriptedModel) ContextSize() int { return cmp.Or(m.size, 32_768) }

func (m *scriptedModel) Stream(ctx context.Context, p agent.Prompt, l agent.Listener) (agent.Answer, error) {
	m.mu.Lock()
	if m.refuse != nil {
		if err := m.refuse(p); err != nil {
			m.mu.Unlock()
			return agent.Answer{}, err
		}
	}
	if m.summary != nil && strings.HasPrefix(p.Messages[0].Text, "You write the summary") {
		m.summaries = append(m.summaries, p)
		m.mu.Unlock()
		return m.summary(ctx, p)
	}
	m.prompts = append(m.prompts, p)
	next := turn{say: []string{"done"}}
	if len(m.turns) > 0 {
		next, m.turns = m.turns[0], m.turns[1:]
	}
	m.mu.Unlock()
	if next.do != nil {
		return next.do(ctx, l.Text)
	}
	for _, piece := range next.say {
		l.Text(piece)
	}
	return agent.Answer{
		Text: strings.Join(next.say, ""), Calls: next.calls, Complete: true, Finish: "stop", Model: "scripted",
		Usage: agent.Usage{Input: 3, Output: 2},
	}, nil
}

func (m *scriptedModel) lastPrompt() agent.Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.prompts[len(m.prompts)-1]
}

func (m *scriptedModel) rounds() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.prompts)
}

func call(id, name, args string) agent.ToolCall {
	return agent.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

// tools counts what the capabilities did.
type tools struct {
	mu       sync.Mutex
	log      []string
	slow     chan struct{} // slow waits for it, or for its context
	buying   chan struct{} // a purchase waits for it, if there is one
	failing  bool          // prepare refuses
	warnings string        // of prepare
	review   func(capability.Call) (capability.Review, error)
	note     func(context.Context) error // what becomes of a note; nothing goes wrong when nil

	reviewTime time.Duration // how long a review takes

	found json.RawMessage // what look finds; its own arguments when empty
}

func (x *tools) did(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.log = append(x.log, fmt.Sprintf(format, args...))
}

func (x *tools) count(what string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, l := range x.log {
		if l == what {
			n++
		}
	}
	return n
}

var anyObject = json.RawMessage(`{"type":"object"}`)

func (x *tools) definitions() []capability.Definition {
	handle := func(name string) func(context.Context, capability.Call) (json.RawMessage, error) {
		return func(_ context.Context, c capability.Call) (json.RawMessage, error) {
			x.did("%s", name)
			if name == "look" && len(x.found) > 0 {
				return x.found, nil
			}
			return json.Marshal(map[string]any{"did": name, "args": c.Args})
		}
	}
	return []capability.Definition{
		{Name: "look", Kind: capability.Local, Description: "looks", InputSchema: anyObject, ReadOnly: true, Handle: handle("look")},
		{
			Name: "slow", Kind: capability.Local, Description: "is slow", InputSchema: anyObject, ReadOnly: true, Timeout: time.Hour,
			Handle: func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
				x.did("slow")
				select {
				case <-x.slow:
					return json.RawMessage(`{"did":"slow"}`), nil
				case <-ctx.Done():
					x.did("slow cancelled")
					return nil, ctx.Err()
				}
			},
		},
		{
			Name: "buy", Kind: capability.A2A, Description: "buys", Idempotent: true, RequiresConfirmation: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`),
			Handle:      x.purchase, Prepare: x.prepare, Review: x.look,
			Settle: func(_ context.Context, _ capability.Call, result json.RawMessage, failure error) (json.RawMessage, []capability.Change, error) {
				x.did("settle")
				return result, nil, failure
			},
			Dismiss: func(_ capability.Call, reason string) []capability.Change {
				x.did("dismiss %s", reason)
				return nil
			},
		},
		{Name: "wait", Kind: capability.Local, Description: "waits for seconds", InputSchema: anyObject, ReadOnly: true, Timeout: time.Hour, Handle: x.wait},
		{Name: "hold", Kind: capability.Local, Description: "waits, and is waited for", InputSchema: anyObject, ReadOnly: true, Foreground: true, Timeout: time.Hour, Handle: x.wait},
		{Name: "outside", Kind: capability.Local, Description: "somebody else makes it", InputSchema: anyObject, External: true},
		{Name: "note", Kind: capability.Local, Description: "notes, not repeatable", InputSchema: anyObject, Handle: x.notes},
	}
}

// wait takes its seconds, and then fails if it is to.
func (x *tools) wait(ctx context.Context, c capability.Call) (json.RawMessage, error) {
	var args struct {
		S    int
		Fail bool
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, err
	}
	x.did("wait")
	select {
	case <-time.After(time.Duration(args.S) * time.Second):
	case <-ctx.Done():
		x.did("wait cancelled")
		return nil, ctx.Err()
	}
	if args.Fail {
		return nil, fault.New(fault.Unavailable, "the kitchen is closed")
	}
	return json.Marshal(map[string]any{"waited": args.S})
}

func (x *tools) purchase(_ context.Context, c capability.Call) (json.RawMessage, error) {
	x.did("buy")
	if x.buying != nil {
		<-x.buying
	}
	return json.Marshal(map[string]any{"did": "buy", "args": c.Args})
}

// notes has an effect that nobody can recognise when it comes again.
func (x *tools) notes(ctx context.Context, c capability.Call) (json.RawMessage, error) {
	x.did("note")
	if x.note != nil {
		if err := x.note(ctx); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"did": "note", "args": c.Args})
}

func (x *tools) look(ctx context.Context, c capability.Call) (capability.Review, error) {
	x.did("review %s", c.Args)
	if x.review == nil {
		return capability.Review{}, nil
	}
	select {
	case <-time.After(x.reviewTime):
	case <-ctx.Done():
		return capability.Review{}, ctx.Err()
	}
	r, err := x.review(c)
	if err == nil {
		r.Drop = func(context.Context) { x.did("drop %s", c.Args) }
	}
	return r, err
}

func (x *tools) prepare(context.Context, capability.Call) (capability.Prepared, error) {
	x.did("prepare")
	if x.failing {
		return capability.Prepared{}, fmt.Errorf("sold out")
	}
	return capability.Prepared{Summary: json.RawMessage(`{"total":"32.00"}`), Warnings: json.RawMessage(x.warnings)}, nil
}

// send stores an input and sets its run going.
func (w *world) send(thread, text string) agent.Run {
	w.t.Helper()
	return w.sendBy(agent.ByAPI, thread, text)
}

// sendBy is send from another place.
func (w *world) sendBy(origin agent.Origin, thread, text string) agent.Run {
	w.t.Helper()
	r := w.create(origin, thread, text)
	w.runs.Begin(r.ID)
	return r
}

// create stores an input whose run nobody begins.
func (w *world) create(origin agent.Origin, thread, text string) agent.Run {
	w.t.Helper()
	r, err := w.runs.Create(context.Background(), run.Input{
		Origin: origin, UserID: "ann", ThreadID: thread, ClientRunID: "label", MessageID: flow.NewID("msg"), Text: text,
	})
	must(w.t, err)
	return r
}

// until follows a run to its first event of a type, and gives all that was seen.
func (w *world) until(runID string, last agent.EventType) []run.Update {
	w.t.Helper()
	return w.untilSeen(runID, string(last), func(u run.Update) bool { return u.Event != nil && u.Event.Type == last })
}

// speaking follows a run to the first piece of text.
func (w *world) speaking(runID string) {
	w.t.Helper()
	w.untilSeen(runID, "a piece of text", func(u run.Update) bool { return u.Delta != "" })
}

func (w *world) untilSeen(runID, last string, is func(run.Update) bool) []run.Update {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	var seen []run.Update
	for u, err := range w.runs.Follow(ctx, runID, run.Cursor{}) {
		if err != nil {
			w.t.Fatalf("follow until %s: %v; saw %s", last, err, types(seen))
		}
		seen = append(seen, u)
		if is(u) {
			return seen
		}
	}
	w.t.Fatalf("the run ended before %s: saw %s", last, types(seen))
	return nil
}

// end follows a run to its end and gives it as stored.
func (w *world) end(runID string) agent.Run {
	w.t.Helper()
	w.until(runID, agent.RunEnded)
	r, err := w.db.Run(context.Background(), "ann", runID)
	must(w.t, err)
	return r
}

func (w *world) question(runID string) agent.Confirmation {
	w.t.Helper()
	w.until(runID, agent.ConfirmationRequired)
	open, err := w.db.OpenConfirmations(context.Background(), "ann")
	must(w.t, err)
	for _, c := range open {
		if c.RunID == runID {
			return c
		}
	}
	w.t.Fatalf("run %s has no open question", runID)
	return agent.Confirmation{}
}

func (w *world) decide(runID, id string, status agent.ConfirmationStatus) (agent.Confirmation, error) {
	return w.runs.Decide(context.Background(), "ann", runID, id, agent.Decision{Status: status, By: "ann", Via: "test"})
}

func (w *world) journal(runID string) agent.Journal {
	w.t.Helper()
	j, err := w.db.Journal(context.Background(), runID)
	must(w.t, err)
	return j
}

func types(seen []run.Update) string {
	var out []string
	for _, u := range seen {
		switch {
		case u.Event != nil:
			out = append(out, string(u.Event.Type))
		case u.Delta != "":
			out = append(out, "«"+u.Delta+"»")
		}
	}
	return strings.Join(out, " ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
