package app

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// TestAuditor: portions that were sold under no order, as a restore may leave them, are told of after ten
// minutes, once, to whom they concern; those that are only held are not. Nothing is mended.
func TestAuditor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		runs, errR := rundb.Open(t.Context(), filepath.Join(dir, runFile))
		dishes, errD := catalogdb.Open(t.Context(), filepath.Join(dir, catalogFile), catalogdb.Options{})
		if err := errors.Join(errR, errD); err != nil {
			t.Fatal(err)
		}
		a := &auditor{data: dir, now: time.Now, runs: runs}
		k := &keeper{config: Config{Data: dir}, now: time.Now, runs: runs, books: a}
		for _, key := range []string{"inv-sold/1", "inv-held/1"} {
			r := catalog.Request{Key: key, Owner: "ann", Lines: []catalog.Wanted{{DishID: "food-001", Quantity: 1}}, TTL: 160 * time.Hour}
			if _, err := dishes.Reserve(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := dishes.Commit(t.Context(), "inv-sold/1"); err != nil {
			t.Fatal(err)
		}
		k.start(t.Context())
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{9 * time.Minute, 0}, {2 * time.Minute, 1}, {48 * time.Hour, 1}} {
			time.Sleep(c.wait)
			synctest.Wait()
			told, _, err := runs.Records(t.Context(), "ann", capability.Selection{Capability: booksCapability}, agent.Page{Limit: 10})
			if err != nil || len(told) != c.want || a.disagreements() != c.want {
				t.Errorf("%s later: got %+v, %v, %d, want %d", c.wait, told, err, a.disagreements(), c.want)
			}
		}
		if r, err := dishes.Reservation(t.Context(), "inv-sold/1"); err != nil || r.State != catalog.Committed {
			t.Errorf("got %+v, %v, want it as it was", r, err)
		}
		k.stop()
		if err := errors.Join(runs.Close(), dishes.Close()); err != nil {
			t.Error(err)
		}
	})
}
