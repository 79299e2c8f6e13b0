package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
	"agentmesh/store"
	"agentmesh/store/spandb"
)

const (
	// spansFolder is where the files of spans are in the data folder.
	spansFolder = "spans"
	// spansPrefix is where each module's spans are read, by other modules only.
	spansPrefix = "/spans/"
	// spansTime bounds how long the spans of a module are waited for, for each module between it and the
	// last one that it needs: whoever waits for others still answers in time, and says who did not.
	spansTime = 1500 * time.Millisecond
	// ownTime is how long a module may take for its own.
	ownTime = 300 * time.Millisecond
	// maxSpansAnswer is the largest answer that is read, in bytes.
	maxSpansAnswer = 8 << 20
)

// moduleSpans are the spans of one module of this process, and of the modules that it needs, wherever
// they run: who needs a module knows where it is.
type moduleSpans struct {
	name    string
	height  int // how many modules may be behind it, one behind the other
	now     func() time.Time
	needs   []string
	own     *spandb.DB // nil: the module keeps none of its own (the orchestrator's are in its journals)
	baseURL func(module string) string
	http    *http.Client
	hasKey  func(*http.Request) bool
}

// openSpans opens a module's spans and says how they are recorded.
func (w *wiring) openSpans(ctx context.Context, r row) error {
	m := &moduleSpans{name: r.name, height: height(r.name), needs: r.needs, now: w.now, baseURL: w.network.BaseURL, http: w.http, hasKey: w.network.HasKey}
	w.spans[r.name] = m
	if r.name == "orchestrator" {
		return nil
	}
	db, err := w.openSpanFile(ctx, filepath.Join(w.config.Data, spansFolder, r.name+".db"))
	if err != nil {
		return err
	}
	w.closeLater(db)
	m.own = db
	return nil
}

// openSpanFile opens a file of spans. One that is damaged is put aside: nobody's order waits for an
// explanation. One that only cannot be opened now, for a lock or a full disk, is left as it is.
func (w *wiring) openSpanFile(ctx context.Context, path string) (*spandb.DB, error) {
	db, err := spandb.Open(ctx, path)
	if !store.IsDamaged(err) {
		return db, err
	}
	aside := path + ".damaged"
	flow.Log(ctx).Error().Err(err).Str("file", path).Str("aside", aside).Msg("spans cannot be read; they are put aside, and new ones begin")
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("put %s aside: %w", path, err)
		}
	}
	if err := os.Rename(path, aside); err != nil {
		return nil, fmt.Errorf("put %s aside: %w", path, err)
	}
	return spandb.Open(ctx, path)
}

// observe records the module's requests, where it keeps spans of its own (flow.Observer).
func (m *moduleSpans) observe(r *http.Request, module string) (context.Context, func(int)) {
	if m.own == nil {
		return r.Context(), func(int) {}
	}
	return span.Observe(m.own, m.now)(r, module)
}

// height counts the modules behind one, along the longest way of the table of needs.
func height(name string) int {
	most := 0
	for _, r := range table() {
		if r.name != name {
			continue
		}
		for _, need := range r.needs {
			most = max(most, 1+height(need))
		}
	}
	return most
}

// spansAnswer is what a module tells another one.
type spansAnswer struct {
	Spans   []span.Span `json:"spans"`
	Missing []string    `json:"missing"`
}

// Spans reads the spans of a chain, and names the modules that could not be asked.
func (m *moduleSpans) Spans(ctx context.Context, traceID string) ([]span.Span, []string) {
	ctx, stop := context.WithTimeout(flow.With(ctx, flow.IDs{}), time.Duration(m.height)*spansTime+ownTime) // reading a trace is no part of it
	defer stop()
	var all spansAnswer
	if m.own != nil {
		own, err := m.own.Spans(ctx, traceID)
		if err != nil {
			flow.Log(ctx).Error().Err(err).Str("module", m.name).Msg("spans not read")
			all.Missing = append(all.Missing, m.name)
		}
		all.Spans = own
	}
	answers := make([]spansAnswer, len(m.needs))
	var asked sync.WaitGroup
	for i, need := range m.needs {
		asked.Go(func() {
			var err error
			if answers[i], err = m.ask(ctx, need, traceID); err != nil {
				flow.Log(ctx).Warn().Err(err).Str("module", need).Msg("spans not had")
				answers[i].Missing = []string{need}
			}
		})
	}
	asked.Wait()
	for _, a := range answers {
		all.Spans, all.Missing = append(all.Spans, a.Spans...), append(all.Missing, a.Missing...)
	}
	return all.Spans, all.Missing
}

func (m *moduleSpans) ask(ctx context.Context, module, traceID string) (spansAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.baseURL(module)+spansPrefix+module+"/"+traceID, http.NoBody)
	if err != nil {
		return spansAnswer{}, fmt.Errorf("ask %s for spans: %w", module, err)
	}
	resp, err := m.http.Do(r)
	if err != nil {
		return spansAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return spansAnswer{}, fmt.Errorf("ask %s for spans: it answered %d", module, resp.StatusCode)
	}
	var out spansAnswer
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxSpansAnswer)).Decode(&out); err != nil {
		return spansAnswer{}, fmt.Errorf("read spans of %s: %w", module, err)
	}
	return out, nil
}

// ServeHTTP tells another module of the mesh. Nobody else may ask: a trace has an owner, whom only the
// orchestrator knows.
func (m *moduleSpans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	traceID := strings.TrimPrefix(r.URL.Path, spansPrefix+m.name+"/")
	switch {
	case !m.hasKey(r):
		noSuchPath(w, r)
	case r.Method != http.MethodGet:
		fault.MethodNotAllowed(w, http.MethodGet)
	default:
		found, missing := m.Spans(r.Context(), traceID)
		writeJSON(w, http.StatusOK, spansAnswer{Spans: found, Missing: missing})
	}
}
