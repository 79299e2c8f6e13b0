package app

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"agentmesh/store/rundb"
)

// pruneLate is how much older than it is kept something may be before the doctor wonders: it goes once a day.
const pruneLate = 2 * pruneEvery

// sizes says how much room the databases take, and how much there is.
func (d *doctor) sizes() {
	var sum int64
	var parts []string
	for _, name := range dataFiles(d.config.Data) {
		if n := sizeOf(filepath.Join(d.config.Data, name)); strings.HasSuffix(name, ".db") && n > 0 {
			sum += n
			parts = append(parts, filepath.ToSlash(name)+" "+amount(n))
		}
	}
	free, known := diskFree(d.config.Data)
	switch {
	case known && free < littleDisk:
		d.problem("disk", "make room, or 'agentmesh prune': orders and runs cannot be written to a full disk", "only %d MiB are free where %s is", free>>20, d.config.Data)
	case known:
		d.ok("disk", "%d MiB are free", free>>20)
	}
	if len(parts) > 0 {
		d.ok("disk", "the databases take %s: %s", amount(sum), strings.Join(parts, ", "))
	}
}

// oldest says how far back events and audit go, and whether they are pruned.
func (d *doctor) oldest(ctx context.Context, db *rundb.DB) {
	events, audit, err := db.Oldest(ctx)
	if err != nil {
		d.problem("databases", "", "%v", err)
		return
	}
	for _, kept := range []struct {
		what string
		at   time.Time
		keep time.Duration
	}{{"the oldest events of ended runs", events, d.config.KeepEvents}, {"the oldest audit records", audit, d.config.KeepAudit}} {
		age := time.Since(kept.at)
		switch limit := (*days)(&kept.keep); {
		case kept.at.IsZero():
		case kept.keep > 0 && age > kept.keep+pruneLate:
			d.warn("keeping", "'agentmesh prune' drops them; serve does it at its start and daily", "%s are %s old, and kept for %s", kept.what, since(age), limit)
		default:
			d.ok("keeping", "%s are %s old", kept.what, since(age))
		}
	}
}
