package crash

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentmesh/app/platform/failpoint"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

// plan says what a harness run does.
type plan struct {
	split    bool // the catalog in a process of its own
	visitors int
	mutant   failpoint.Point // a rule that is left out, all the time
	fault    string          // failpoints of the first start
	ttl      time.Duration
	seed     int64
}

// world is the program's processes with everything around them.
type world struct {
	t       *testing.T
	plan    plan
	dir     string
	kitchen *kitchen
	model   *model
	main    *process
	catalog *process // nil in one process
	base    atomic.Value
	tally   *tally
}

func newWorld(t *testing.T, p plan) *world {
	t.Helper()
	w := &world{t: t, plan: p, dir: keptDir(t), kitchen: newKitchen(), model: newModel(), tally: newTally()}
	t.Cleanup(w.kitchen.Close)
	t.Cleanup(w.model.Close)
	w.stock()
	env := []string{
		"AGENTMESH_INTERNAL_KEY=key-of-the-harness", kitchenURL + "=" + w.kitchen.URL,
		"LLM_BASE_URL=" + w.model.URL + "/v1", "LLM_API_KEY=none", "LLM_MODEL=script",
	}
	usual := []string{"--data", w.dir, "--log-level", "info", "--confirmation-ttl", p.ttl.String(), "--offload-after", offloadAfter}
	w.main = &process{env: env, log: &tailLog{}}
	w.main.args = append(w.main.args, usual...)
	if p.mutant == failpoint.BestEffort { // and the rest of the plain demo's rules
		w.main.args = append(w.main.args, "--recovery", "fail")
	}
	if p.split {
		address := freeAddress(t)
		w.catalog = &process{env: env, log: &tailLog{}, args: append([]string{"--module", "mcp", "--listen", address}, usual...)}
		for _, module := range []string{"weather", "food", "gateway", "orchestrator"} {
			w.main.args = append(w.main.args, "--module", module)
		}
		w.main.args = append(w.main.args, "--peer", "mcp=http://"+address)
		w.start(w.catalog, "")
	}
	w.main.args = append(w.main.args, "--listen", "127.0.0.1:0")
	w.start(w.main, p.fault)
	t.Cleanup(func() {
		for _, p := range w.processes() {
			p.kill()
		}
	})
	return w
}

// freeAddress finds an address that a process can have again after it was killed: others know it by it.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// The dishes that are ordered: one there is enough of, and one that runs out.
const (
	plenty = "food-001"
	scarce = "food-035"
)

// stock fills the shelf before the program first starts.
func (w *world) stock() {
	w.t.Helper()
	ctx := context.Background()
	db, err := catalogdb.Open(ctx, filepath.Join(w.dir, "catalog.db"), catalogdb.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	enough := 9000
	if _, err := db.Edit(ctx, []catalog.Edit{{ID: plenty, Stock: &enough}}, false); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) processes() []*process {
	if w.catalog == nil {
		return []*process{w.main}
	}
	return []*process{w.main, w.catalog}
}

// faults are the failpoints of a start: a mutant stays one.
func (w *world) faults(fault string) string {
	armed := []string{}
	if fault != "" {
		armed = append(armed, fault)
	}
	if w.plan.mutant != "" {
		armed = append(armed, string(w.plan.mutant)+"=skip")
	}
	return strings.Join(armed, ";")
}

// start starts a process with a fault. One that the fault ends before it is ready is started again without,
// and start tells so.
func (w *world) start(p *process, fault string) (fell bool) {
	w.t.Helper()
	began := time.Now()
	err := p.start(w.faults(fault))
	if fault != "" && errors.Is(err, errDied) {
		fell, err = true, p.start(w.faults(""))
	}
	for tries := 0; err != nil && tries < 3; tries++ { // its address may still be on its way back
		err = p.start(w.faults(""))
	}
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", p.args, err, tail(p.log.String()))
	}
	if p == w.main {
		w.base.Store(p.url)
	}
	w.tally.started(time.Since(began))
	return fell
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

func (w *world) url() string { return w.base.Load().(string) }

func portions(dish string, n int) string {
	return fmt.Sprintf(`<place_order {"items":[{"dish":"%s","quantity":%d}]}>`, dish, n)
}

const simmer = `<simmer {}>`

func ring(tag string) string { return `<ring_bell {"tag":` + strconv.Quote(tag) + `}>` }
