package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"agentmesh/a2a"
	"agentmesh/a2a/gateway"
	"agentmesh/agent"
	"agentmesh/agent/demo"
	"agentmesh/agent/food"
	"agentmesh/agent/models"
	"agentmesh/agent/openai"
	"agentmesh/agent/orchestrator"
	"agentmesh/agent/order"
	"agentmesh/agent/run"
	"agentmesh/agent/schedule"
	"agentmesh/agent/weather"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/app/platform/wrap"
	"agentmesh/capability"
	"agentmesh/capability/a2atool"
	"agentmesh/capability/localtool"
	"agentmesh/capability/mcptool"
	"agentmesh/capability/starlarktool"
	"agentmesh/mcp"
	"agentmesh/mcp/catalog"
	"agentmesh/skills"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
	"agentmesh/ui"
)

// leaveTimes says how long a run goes on when nobody watches it (design, section 4).
func leaveTimes() map[agent.Origin]time.Duration {
	return map[agent.Origin]time.Duration{agent.ByAPI: time.Minute, agent.ByAGUI: 10 * time.Second}
}

// row is one module: its name, what it needs, and how it is made. Start follows the table, stop goes
// backward.
type row struct {
	name  string
	needs []string
	build func(ctx context.Context, w *wiring) (mesh.Module, error)
}

// table lists the modules; each needs only rows above it.
func table() []row {
	return []row{
		{"mcp", nil, buildCatalog},
		{"weather", nil, buildWeather},
		{"food", []string{"mcp"}, buildFood},
		{"gateway", []string{"food", "weather"}, buildGateway},
		{"orchestrator", []string{"mcp", "gateway"}, buildOrchestrator},
	}
}

// wiring is what the modules are made from.
type wiring struct {
	config    Config
	publicURL string // of the main listener, as others reach it
	network   *mesh.Network
	http      *http.Client // calls between modules: they carry identifiers
	outside   *http.Client // calls of a model's endpoint: who talks with us is nobody else's business
	zone      *time.Location
	now       func() time.Time
	demo      http.Handler
	counts    *counts
	spans     map[string]*moduleSpans
	closers   []io.Closer
	runs      *rundb.DB // nil: the orchestrator is elsewhere

	skills       []skills.Manifest       // beside the built-in ones
	capabilities []capability.Definition // theirs
}

func newWiring(c Config) (*wiring, error) {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("load time zone %s: %w", c.TimeZone, err)
	}
	key := c.InternalKey
	if key == "" {
		key = flow.NewID("key")
	}
	network := mesh.NewNetwork(key)
	transport := network.Transport()
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: flow.Transport(transport), CheckRedirect: noRedirect}
	outside := &http.Client{Transport: transport, CheckRedirect: noRedirect}
	w := &wiring{config: c, network: network, http: client, outside: outside, zone: zone, now: time.Now, demo: demo.Handler(), counts: newCounts(), spans: map[string]*moduleSpans{}}
	w.closeLater(closeFunc(func() error { outside.CloseIdleConnections(); return nil }))
	return w, nil
}

type closeFunc func() error

func (f closeFunc) Close() error { return f() }

// closeLater closes things at the end of the program, in the reverse order.
func (w *wiring) closeLater(c io.Closer) { w.closers = append(w.closers, c) }

func buildCatalog(ctx context.Context, w *wiring) (mesh.Module, error) {
	db, err := catalogdb.Open(ctx, filepath.Join(w.config.Data, catalogFile), catalogdb.Options{Now: w.now})
	if err != nil {
		return nil, err
	}
	w.closeLater(db)
	return catalog.New(db, catalog.Options{Location: w.zone, Now: w.now, CanWrite: w.network.HasKey, CanOperate: w.network.IsOperator, Guarded: true}), nil
}

func buildWeather(_ context.Context, w *wiring) (mesh.Module, error) {
	return weather.New(weather.Options{
		Location: w.zone, Now: w.now, Guard: w.network.RequireKey, BaseURL: w.network.BaseURL("weather") + weather.Prefix,
	})
}

func buildFood(_ context.Context, w *wiring) (mesh.Module, error) {
	return food.New(food.Options{
		Menu: food.NewMenu(w.catalogClient()), Now: w.now, Guard: w.network.RequireKey,
		BaseURL: w.network.BaseURL("food") + food.Prefix,
	}), nil
}

func buildGateway(_ context.Context, w *wiring) (mesh.Module, error) {
	return gateway.New(gateway.Options{
		Agents: []gateway.Agent{
			{Name: "food", URL: w.network.BaseURL("food") + "/agents/food"},
			{Name: "weather", URL: w.network.BaseURL("weather") + "/agents/weather"},
		},
		Transport: w.http.Transport,
		HasKey:    w.network.HasKey,
		Open:      true, // the listener has asked for a key, where there are any
		PublicURL: func(r *http.Request) string {
			if w.network.HasKey(r) {
				return w.network.BaseURL("gateway")
			}
			return w.publicURL
		},
	}), nil
}

func buildOrchestrator(ctx context.Context, w *wiring) (mesh.Module, error) {
	db, err := rundb.Open(ctx, filepath.Join(w.config.Data, runFile))
	if err != nil {
		return nil, err
	}
	w.closeLater(db)
	w.runs = db
	model, err := w.model(ctx)
	if err != nil {
		return nil, err
	}
	var pipeline *capability.Pipeline
	orders := order.New(order.Deps{
		Store: db,
		Call: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			return pipeline.Invoke(ctx, call)
		},
		Preferences:     localtool.Statements(db),
		ConfirmationTTL: w.config.ConfirmationTTL, Zone: w.zone, Now: w.now, NewID: flow.NewID,
	})
	model = agent.WrapModel(model, w.counts.aroundModel)
	registry, err := w.registry(ctx, db, orders, model)
	if err != nil {
		return nil, err
	}
	w.counts.readFrom(db)
	pipeline = capability.NewPipeline(registry, countedLedger{db, w.counts, registry.Has}, w.now)
	if err := registry.CheckRules(w.config.Policies); err != nil {
		return nil, err
	}
	pipeline.Govern(w.config.Policies, db)
	pipeline.Wrap(w.counts.aroundCall)
	manifests, err := skills.Builtin(w.config.DemoTools)
	if err != nil {
		return nil, err
	}
	market, err := skills.NewMarketplace(append(manifests, w.skills...), registry, db, w.now)
	if err != nil {
		return nil, err
	}
	runs := run.New(run.Deps{
		Store: countedStore{db, w.counts, registry.Has}, Model: model, Registry: registry, Pipeline: pipeline,
		Market: market, Around: []wrap.Wrapper[run.Work]{w.counts.aroundRun}, Now: w.now, NewID: flow.NewID,
	}, run.Config{
		ConfirmationTTL: w.config.ConfirmationTTL, Leave: leaveTimes(),
		Strict: w.config.Recovery == "fail", OffloadAfter: w.config.OffloadAfter, Bounds: run.DefaultBounds(), Zone: w.zone,
	})
	schedules := schedule.New(schedule.Deps{Store: db, Runner: runs, Now: w.now, NewID: flow.NewID, Zone: w.config.TimeZone})
	deps := orchestrator.Deps{
		Engine: runs, Runs: db, Conversations: db, Orders: db, Audit: db, Preferences: db, Grants: db, Schedules: schedules, Agents: w.agentList(), Spans: w.spans["orchestrator"],
		Relay: orders, Cancel: orders, Market: market, Registry: registry, Page: ui.Handler(), Ping: db.Ping, Now: w.now,
	}
	deps.About.Version, deps.About.Model.Name, deps.About.Model.Demo = Version, model.Name(), w.config.demo()
	return orchestrator.New(deps), nil
}

// model makes the client of the models: the configured ones, or the demo model over the same wire.
func (w *wiring) model(ctx context.Context) (agent.Model, error) {
	endpoints := w.config.endpoints()
	if w.config.demo() {
		endpoints = []openai.Config{{
			BaseURL: w.network.BaseURL("demo") + "/demo/v1", Model: "demo", Context: w.config.LLMContext,
			AddressFrom: fromAddress, KeyFrom: fromKey,
		}}
	}
	if err := w.probe(ctx, addresses(endpoints)); err != nil {
		return nil, err
	}
	list := make([]agent.Model, 0, len(endpoints))
	for _, e := range endpoints {
		e.HTTP = w.outside
		list = append(list, openai.New(e))
	}
	return models.New(list[0], list[1:]...), nil
}

// probe looks whether something answers where the models are. One address that does is enough, as the list of models
// is there for that.
func (w *wiring) probe(ctx context.Context, endpoints []openai.Config) error {
	var errs []error
	for _, e := range endpoints {
		e.HTTP = w.outside
		if err := openai.Probe(ctx, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.AddressFrom, err))
		}
	}
	if len(errs) == len(endpoints) {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		flow.Log(ctx).Warn().Err(err).Msg("a model's address does not answer")
	}
	return nil
}

func (w *wiring) catalogClient() *mcp.Client {
	client := mcp.NewClient(w.network.BaseURL("mcp")+catalog.Path, w.http)
	w.closeLater(client)
	return client
}

func (w *wiring) agentClient(name string) *a2a.Client {
	client := a2a.NewClient(w.network.BaseURL("gateway")+"/a2a/agents/"+name, w.http)
	w.closeLater(client)
	return client
}

// registry lists the capabilities of design section 5, in the order in which a model sees them.
func (w *wiring) registry(ctx context.Context, db *rundb.DB, orders *order.Service, model agent.Model) (*capability.Registry, error) {
	fromCatalog, err := w.discover(ctx)
	if err != nil {
		return nil, err
	}
	foodAgent := w.agentClient("food")
	definitions := []capability.Definition{
		localtool.Clock(w.now, w.zone), localtool.Recall(db), localtool.Remember(db, w.now), localtool.Forget(db, w.now),
	}
	definitions = append(definitions, fromCatalog...)
	definitions = append(definitions, w.foodTools(foodAgent, orders)...)
	definitions = append(definitions,
		a2atool.Weather(w.agentClient("weather")), a2atool.Quote(foodAgent), a2atool.Intent(foodAgent),
		localtool.WebSearch(w.config.DemoTools), starlarktool.ExecutePython(w.config.DemoTools, sandbox),
		localtool.ReadResult(run.ReadResult, db, func() int { return run.ResultPage(model.ContextSize()) }),
	)
	return capability.NewRegistry(append(definitions, w.capabilities...)...)
}

// catalogWait is how long the start waits for a catalog that runs in another process to say what it offers.
const catalogWait = 3 * time.Second

// discover asks the catalog for its tools. Where that is another process which does not answer, they are those
// that a catalog of this version has: runs, questions and all else work without it, and its calls fail until it
// is there. The catalog is the same program, so it offers the same.
func (w *wiring) discover(ctx context.Context) ([]capability.Definition, error) {
	client := w.catalogClient()
	limit, cancel := context.WithTimeout(ctx, catalogWait)
	defer cancel()
	found, err := mcptool.Discover(limit, "catalog", client, catalogPolicies())
	if code := fault.CodeOf(err); err == nil || (code != fault.Unavailable && code != fault.Timeout) {
		return found, err
	}
	flow.Log(ctx).Warn().Err(err).Str("at", w.network.BaseURL("mcp")).Msg("the catalog does not answer yet")
	var tools []mcp.RemoteTool
	for _, t := range catalog.Tools() {
		tools = append(tools, mcp.RemoteTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, ReadOnly: t.ReadOnly, Idempotent: t.Idempotent})
	}
	return mcptool.Define("catalog", client, tools, catalogPolicies())
}

// foodTools are the Food agent's tools: split into a reading and an ordering half, or combined (D-99).
func (w *wiring) foodTools(client *a2a.Client, orders *order.Service) []capability.Definition {
	combined := w.config.FoodTools == "combined"
	recommend, place, both := a2atool.Recommend(client), a2atool.Order(client), a2atool.Food(client)
	place.Prepare, place.Review, place.Settle, place.Dismiss = orders.Prepare, orders.Review, orders.Settle, orders.Dismiss
	both.Prepare, both.Review, both.Settle, both.Dismiss = orders.PrepareText, orders.ReviewText, orders.Settle, orders.Dismiss
	recommend.Disabled, place.Disabled, both.Disabled = combined, combined, !combined
	return []capability.Definition{recommend, place, both}
}

// catalogPolicies says which of the catalog's tools are trusted how. The model sees the reading ones
// only (D-62).
func catalogPolicies() []mcptool.Policy {
	var out []mcptool.Policy
	for _, name := range []string{"search_food_catalog", "get_food_item", "list_menu_by_day"} {
		out = append(out, mcptool.Policy{Name: name, ReadOnly: true, Idempotent: true})
	}
	for _, name := range []string{"reserve_stock", "commit_reservation", "release_reservation", "get_reservation", "return_stock", "deduct_stock"} {
		out = append(out, mcptool.Policy{Name: name, Idempotent: true, Hidden: true, Timeout: 10 * time.Second})
	}
	return out
}
