package app

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/store/rundb"
	"agentmesh/store/spandb"
)

const (
	// pruneEvery is how often a running program drops what is no longer kept; also soon after its start.
	pruneEvery = 24 * time.Hour
	// prunePath is where a command of the data folder asks for it.
	prunePath = "/operator/prune"
)

// keeper drops what is older than the settings say, in the databases that this process has open.
type keeper struct {
	config Config
	now    func() time.Time
	runs   *rundb.DB // nil: none here
	spans  map[string]*spandb.DB
	books  *auditor // nil: none here

	mu      sync.Mutex // one prune at a time
	end     context.CancelFunc
	working sync.WaitGroup
}

func (w *wiring) keeper() *keeper {
	k := &keeper{config: w.config, now: w.now, runs: w.runs, spans: map[string]*spandb.DB{}}
	for name, m := range w.spans {
		if m.own != nil {
			k.spans[name] = m.own
		}
	}
	if w.runs != nil {
		k.books = &auditor{data: w.config.Data, now: w.now, runs: w.runs}
	}
	return k
}

// start prunes now and once a day.
func (k *keeper) start(ctx context.Context) {
	ctx, k.end = context.WithCancel(context.WithoutCancel(ctx))
	if k.books != nil {
		k.working.Go(func() { k.books.watch(ctx) })
	}
	k.working.Go(func() {
		again := time.NewTicker(pruneEvery)
		defer again.Stop()
		for {
			switch done, err := k.prune(ctx, false); {
			case ctx.Err() != nil:
				return
			case err != nil:
				flow.Log(ctx).Error().Err(err).Msg("old data is still there")
			case done.any():
				flow.Log(ctx).Info().Interface("pruned", done).Msg("old data pruned")
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

func (k *keeper) stop() {
	k.end()
	k.working.Wait()
}

// pruneReport says what went, or would go.
type pruneReport struct {
	rundb.Pruned
	Spans  int    `json:"spans"`
	Before int64  `json:"bytesBefore"` // of the databases, side files included
	After  int64  `json:"bytesAfter"`
	Note   string `json:"note,omitempty"`
}

func (r pruneReport) any() bool {
	return r.Spans > 0 || r.Pruned != rundb.Pruned{}
}

func (r *pruneReport) add(o pruneReport) {
	r.Events += o.Events
	r.Requests += o.Requests
	r.Deliveries += o.Deliveries
	r.Audit += o.Audit
	r.Cards += o.Cards
	r.Spans += o.Spans
	r.Before += o.Before
	r.After += o.After
}

// before gives the time before which things are too old; the zero time when they are kept for ever.
func (k *keeper) before(keep time.Duration) time.Time {
	if keep == 0 {
		return time.Time{}
	}
	return k.now().Add(-keep)
}

// prune drops what is too old; a dry one only counts it.
func (k *keeper) prune(ctx context.Context, dry bool) (r pruneReport, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r.Before = k.bytes()
	if k.runs != nil {
		cutoffs := rundb.Cutoffs{Events: k.before(k.config.KeepEvents), Audit: k.before(k.config.KeepAudit)}
		if r.Pruned, err = k.runs.Prune(ctx, cutoffs, dry); err == nil && r.Pruned != (rundb.Pruned{}) && !dry {
			err = k.runs.Checkpoint(ctx)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.spans)) {
		if k.config.KeepSpans == 0 || err != nil {
			break
		}
		n, errS := k.spans[name].Prune(ctx, k.before(k.config.KeepSpans), dry)
		if errS == nil && n > 0 && !dry {
			errS = k.spans[name].Checkpoint(ctx)
		}
		r.Spans += n
		err = errors.Join(err, errS)
	}
	r.After = k.bytes()
	return r, err
}

// bytes is how large the databases are with their side files.
func (k *keeper) bytes() (sum int64) {
	var paths []string
	if k.runs != nil {
		paths = append(paths, filepath.Join(k.config.Data, runFile))
	}
	for name := range k.spans {
		paths = append(paths, filepath.Join(k.config.Data, spansFolder, name+".db"))
	}
	for _, path := range paths {
		sum += sizeOf(path)
	}
	return sum
}

// sizeOf is how large a database is with its side files; 0 if it is not there.
func sizeOf(path string) (sum int64) {
	for _, side := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + side); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// servePrune lets a command of the data folder prune through this process.
func (a *App) servePrune(w http.ResponseWriter, r *http.Request) {
	k := a.keeper.Load()
	switch {
	case !a.wiring.network.IsOperator(r):
		noSuchPath(w, r)
	case r.Method != http.MethodPost:
		fault.MethodNotAllowed(w, http.MethodPost)
	case k == nil:
		fault.Write(w, fault.New(fault.Unavailable, "the program is starting: try again in a moment"))
	default:
		report, err := k.prune(r.Context(), r.URL.Query().Get("dry") != "")
		if err != nil {
			flow.Log(r.Context()).Error().Err(err).Msg("prune failed")
			fault.Write(w, err)
			return
		}
		writeJSON(w, http.StatusOK, report)
	}
}
