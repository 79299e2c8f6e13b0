package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/capability"
	"agentmesh/skills"
)

// stopTime bounds an orderly stop.
const stopTime = 10 * time.Second

// App is the running program.
type App struct {
	config    Config
	place     placement
	keys      *keyring
	wiring    *wiring
	modules   []mesh.Module
	inner     []*server
	public    *server
	addr      net.Addr
	announced *announcement
	keeper    atomic.Pointer[keeper] // nil until the modules have started, while listeners of their own serve already
	listen    func(addr string) (net.Listener, error)
}

// Option changes what a test must be able to change.
type Option func(*App)

// WithListener takes the place of the main listener's TCP.
func WithListener(l net.Listener) Option {
	return func(a *App) { a.listen = func(string) (net.Listener, error) { return l, nil } }
}

// WithNow sets the clock that stamps records and says which day is today.
func WithNow(now func() time.Time) Option { return func(a *App) { a.wiring.now = now } }

// WithSkill adds a skill and the capabilities that it groups, beside the built-in ones.
func WithSkill(m skills.Manifest, capabilities ...capability.Definition) Option {
	return func(a *App) {
		a.wiring.skills = append(a.wiring.skills, m)
		a.wiring.capabilities = append(a.wiring.capabilities, capabilities...)
	}
}

// WithModel puts another endpoint in the place of the built-in model, on the same wire.
func WithModel(endpoint http.Handler) Option { return func(a *App) { a.wiring.demo = endpoint } }

// New makes the program; Start sets it going.
func New(c Config, options ...Option) (*App, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	where, err := place(c)
	if err != nil {
		return nil, err
	}
	keys, err := openKeyring(c.Data, c.APIKeys)
	if err != nil {
		return nil, err
	}
	w, err := newWiring(c)
	if err != nil {
		return nil, err
	}
	for name, url := range where.peers {
		w.network.AddPeer(name, url)
	}
	a := &App{config: c, place: where, keys: keys, wiring: w, listen: listen}
	for _, o := range options {
		o(a)
	}
	return a, nil
}

// Start opens the databases, starts the modules in the order of their table, and listens. A failure
// leaves nothing running.
func (a *App) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Stop(ctx))
		}
	}()
	if err := finishRestore(a.config.Data); err != nil {
		return err
	}
	if lost := findLost(ctx, a.config.Data, a.place.local); lost != nil {
		return lost
	}
	l, err := a.listen(a.config.Listen)
	if err != nil {
		return err
	}
	a.addr = l.Addr()
	a.wiring.publicURL = cmp.Or(strings.TrimSuffix(a.config.PublicURL, "/"), "http://"+a.Addr())
	if err := a.startModules(ctx); err != nil {
		return errors.Join(err, l.Close())
	}
	k := a.wiring.keeper()
	k.start(ctx)
	a.keeper.Store(k)
	a.public = serve(ctx, l, a.guarded(l.Addr(), a.handlerOf(a.modules)))
	if a.announced, err = announce(a.config.Data, a.instance()); err != nil {
		flow.Log(ctx).Warn().Err(err).Msg("status, stop and catalog will not find this process") // it serves all the same
	}
	return nil
}

func (a *App) startModules(ctx context.Context) error {
	a.inner = append(a.inner, serve(ctx, a.wiring.network.Listen("demo"), a.wiring.demo))
	for _, row := range table() {
		if !slices.Contains(a.place.local, row.name) {
			continue
		}
		if err := a.wiring.openSpans(ctx, row); err != nil {
			return fmt.Errorf("open spans of %s: %w", row.name, err)
		}
		m, err := row.build(ctx, a.wiring)
		if err != nil {
			return fmt.Errorf("build %s: %w", row.name, err)
		}
		if err := a.serveModule(ctx, m); err != nil {
			return fmt.Errorf("serve %s: %w", row.name, err)
		}
		a.modules = append(a.modules, m) // also when its start fails half-way: it is stopped then
		if err := m.Start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", row.name, err)
		}
	}
	return nil
}

// serveModule puts a module behind the mesh's pipe, or behind a listener of its own; the others reach it
// the same way, and find the address by its name.
func (a *App) serveModule(ctx context.Context, m mesh.Module) error {
	addr, split := a.place.split[m.Name()]
	if !split {
		a.inner = append(a.inner, serve(ctx, a.wiring.network.Listen(m.Name()), authenticate(a.keys, a.wiring.network, false, a.observed(m))))
		return nil
	}
	l, err := listen(addr)
	if err != nil {
		return fmt.Errorf("--split %s: %w", m.Name(), err)
	}
	a.wiring.network.AddPeer(m.Name(), "http://"+l.Addr().String())
	a.inner = append(a.inner, serve(ctx, l, a.guarded(l.Addr(), a.handlerOf([]mesh.Module{m}))))
	return nil
}

// guarded lets only requests for us through: to a Host that we answer to and from our own pages, or from
// a module that has the internal key, which no web page can know.
func (a *App) guarded(addr net.Addr, next http.Handler) http.Handler {
	next = limitTimes(authenticate(a.keys, a.wiring.network, a.exposed(addr), next))
	strict := guard(allowedHosts(addr, a.config), a.config.AllowOrigins, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.wiring.network.HasKey(r) || a.wiring.network.IsOperator(r) {
			next.ServeHTTP(w, r)
			return
		}
		strict.ServeHTTP(w, r)
	})
}

// exposed tells whether others than this machine reach an address, and the operator has not said that this
// is meant.
func (a *App) exposed(addr net.Addr) bool {
	host, _, err := net.SplitHostPort(addr.String())
	return err == nil && !loopback(host) && !a.config.Insecure // an error: a test's pipe
}

// handlerOf shows modules' paths, health, metrics and the demo model on a listener.
func (a *App) handlerOf(modules []mesh.Module) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", readOnly(http.HandlerFunc(healthz)))
	mux.Handle("/readyz", readOnly(readyz{modules: modules, peers: a.place.peers, http: a.wiring.http, books: a.disagreements}))
	mux.Handle("/metrics", readOnly(a.wiring.counts))
	mux.Handle("/demo/v1/", a.wiring.demo)
	mux.HandleFunc(prunePath, a.servePrune)
	front := false
	for _, m := range modules {
		h := a.observed(m)
		mux.Handle(spansPrefix+m.Name()+"/", h)
		for _, prefix := range m.Prefixes() {
			mux.Handle(prefix, h)
			if prefix != "/" {
				mux.Handle(prefix+"/", h)
			}
			front = front || prefix == "/"
		}
	}
	if !front {
		mux.HandleFunc("/", noSuchPath)
	}
	return plainPaths(mux)
}

// observed is a module's handler with what the program adds to each: identifiers, counts, spans.
func (a *App) observed(m mesh.Module) http.Handler {
	spans := a.wiring.spans[m.Name()]
	mux := http.NewServeMux()
	mux.Handle(spansPrefix+m.Name()+"/", spans)
	mux.Handle("/", flow.Middleware(m.Name(), m.Handler(), a.wiring.counts.observe, spans.observe))
	return mux
}

// plainPaths refuses paths with empty or dot segments, which the mux would redirect to other routes.
func plainPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if clean := path.Clean(p); p == "" || (clean != p && clean+"/" != p) {
			noSuchPath(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func noSuchPath(w http.ResponseWriter, _ *http.Request) {
	fault.Write(w, fault.New(fault.NotFound, "there is no such path"))
}

// Addr is the address of the main listener.
func (a *App) Addr() string { return a.addr.String() }

// Stop ends the program in order: the main listener, the modules backward, so that the orchestrator
// records how its runs stand while the others still answer, the inner servers, the databases.
func (a *App) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if a.public != nil {
		a.public.close(ctx)
	}
	if k := a.keeper.Load(); k != nil {
		k.stop()
	}
	var errs []error
	for i := len(a.modules) - 1; i >= 0; i-- {
		if err := a.modules[i].Stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", a.modules[i].Name(), err))
		}
	}
	for i := len(a.inner) - 1; i >= 0; i-- {
		a.inner[i].close(ctx)
	}
	for i := len(a.wiring.closers) - 1; i >= 0; i-- {
		errs = append(errs, closeAll(a.wiring.closers[i]))
	}
	if a.announced != nil {
		errs = append(errs, closeAll(a.announced)) // last: who waits for the end sees the databases closed
		a.announced = nil
	}
	return errors.Join(errs...)
}

// disagreements counts what is wrong with the books and a person must settle.
func (a *App) disagreements() int {
	k := a.keeper.Load()
	if k == nil || k.books == nil {
		return 0
	}
	return k.books.disagreements()
}

func closeAll(c io.Closer) error {
	if err := c.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}
