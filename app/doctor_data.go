package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"agentmesh/mcp/catalog"
	"agentmesh/store"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
	"agentmesh/store/spandb"
)

// settleTime is how long two databases that are at work may disagree.
const settleTime = 2 * time.Second

// overdue is how long after its time a hold may still be there while the catalog runs.
const overdue = time.Minute

// checkable is an open database of ours.
type checkable interface {
	Check(ctx context.Context) error
	Version(ctx context.Context) (int, error)
	Invariant(ctx context.Context) error
}

// databases opens the databases to read, looks for damage, and compares the books.
func (d *doctor) databases(ctx context.Context) {
	if exists(filepath.Join(d.config.Data, stagedFolder, planName)) {
		d.problem("databases", "start the program, or restore again", "a restore of this folder was interrupted")
		return
	}
	if lost := findLost(ctx, d.config.Data, d.modules()); lost != nil {
		d.problem("databases", lost.remedy(), "%s", lost.what())
	}
	var b books
	if db, err := catalogdb.OpenReader(ctx, filepath.Join(d.config.Data, catalogFile)); d.opened(catalogFile, err) {
		defer func() { _ = db.Close() }()
		if d.sound(ctx, catalogFile, db) {
			b.stocks = db
		}
	}
	if db, err := rundb.OpenReader(ctx, filepath.Join(d.config.Data, runFile)); d.opened(runFile, err) {
		defer func() { _ = db.Close() }()
		if d.sound(ctx, runFile, db) {
			b.orders = db
			d.oldest(ctx, db)
		}
	}
	d.spans(ctx)
	if b.stocks != nil {
		d.holds(ctx, b.stocks)
	}
	if b.stocks != nil && b.orders != nil {
		d.compare(ctx, b)
	}
}

// modules are those that run on the folder, or that would with these settings.
func (d *doctor) modules() (out []string) {
	for _, i := range d.found {
		out = append(out, i.Modules...)
	}
	if !d.runs() {
		where, _ := place(d.config) // what is wrong with it the settings tell
		out = where.local
	}
	return out
}

// spans looks for damage in the modules' spans, which nothing but the traces needs.
func (d *doctor) spans(ctx context.Context) {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(d.config.Data), spansFolder, "*.db")) // the pattern is good
	for _, path := range paths {
		switch err := spandb.Check(ctx, path); {
		case errors.Is(err, store.ErrOldVersion):
		case err != nil:
			d.problem("databases", "stop the program and remove "+path+"*: only old traces are in it", "%v", err)
		}
	}
}

func (d *doctor) opened(name string, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist):
		d.ok("databases", "%s is not in this folder", name)
	case errors.Is(err, store.ErrOldVersion):
		d.warn("databases", "start the program once; a copy of the folder first does no harm", "%s is of an earlier version", name)
	default:
		d.problem("databases", "restore a copy, or use the program that wrote it", "%v", err)
	}
	return false
}

// sound looks for damage, and whether the rows agree in themselves.
func (d *doctor) sound(ctx context.Context, name string, db checkable) bool {
	version, err := db.Version(ctx)
	if err == nil {
		err = db.Check(ctx)
	}
	if err != nil {
		d.problem("databases", "stop the program, keep a copy of the folder, and restore an older one", "%s: %v", name, err)
		return false
	}
	if err := db.Invariant(ctx); err != nil {
		d.problem("books", "keep a copy of the folder; nothing is mended by itself", "%s: %v", name, err)
		return true
	}
	d.ok("databases", "%s is whole, version %d", name, version)
	return true
}

// holds finds holds that outlive their time. While nobody runs the catalog it cannot end them.
func (d *doctor) holds(ctx context.Context, db *catalogdb.DB) {
	entries, err := db.Entries(ctx)
	if err != nil {
		d.problem("books", "", "%v", err)
		return
	}
	late := 0
	for _, e := range entries {
		if e.State == catalog.Held && time.Since(e.ExpiresAt) > overdue {
			late++
		}
	}
	served := slices.ContainsFunc(d.found, func(i instance) bool { return slices.Contains(i.Modules, catalog.Name) })
	switch {
	case late > 0 && served:
		d.problem("books", "see the program's log for 'holds not expired'", "%d holds outlive their time", late)
	case late > 0:
		d.ok("books", "the time of %d holds is over; the next start gives their portions back", late)
	}
}

// compare checks that orders and reservations are the same. What is written at this moment is looked at
// twice.
func (d *doctor) compare(ctx context.Context, b books) {
	found, err := b.compare(ctx)
	if err == nil && len(found) > 0 && d.runs() {
		select {
		case <-time.After(settleTime):
		case <-ctx.Done():
		}
		var again []finding
		again, err = b.compare(ctx)
		found = slices.DeleteFunc(found, func(f finding) bool { return !slices.Contains(again, f) })
	}
	if err != nil {
		d.problem("books", "", "%v", err)
		return
	}
	for _, f := range found {
		if f.passing {
			d.warn("books", "the program mends this by itself, at the latest when it starts", "%s", f.text)
		} else {
			d.problem("books", "keep a copy of the folder; nothing is mended by itself", "%s", f.text)
		}
	}
	if len(found) == 0 {
		d.ok("books", "confirmed orders and sold portions are the same")
	}
}
