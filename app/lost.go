package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

// lostDatabase says that one of the two databases is not where the other is: orders without their stock, or
// stock that is held and sold without its orders.
type lostDatabase struct{ data, missing, beside string }

func (l *lostDatabase) Error() string { return l.what() + ": " + l.remedy() }

func (l *lostDatabase) what() string {
	return fmt.Sprintf("%s is missing beside %s in the data folder %s", l.missing, l.beside, l.data)
}

func (l *lostDatabase) remedy() string {
	return fmt.Sprintf("put it there, or restore a backup of both ('agentmesh restore FILE --force'); to begin with a new one, make an empty file %s",
		filepath.Join(l.data, l.missing))
}

// findLost looks for a database that is missing where these modules are to run; nil when none is. A first start makes the
// catalog first, and may be interrupted then, so a catalog by itself has lost only orders that something tells of.
func findLost(ctx context.Context, data string, modules []string) *lostDatabase {
	if !slices.Contains(modules, catalog.Name) || !slices.Contains(modules, "orchestrator") {
		return nil
	}
	stocks, orders := exists(filepath.Join(data, catalogFile)), exists(filepath.Join(data, runFile))
	switch {
	case orders && !stocks:
		return &lostDatabase{data, catalogFile, runFile}
	case stocks && !orders && hasOrders(ctx, filepath.Join(data, catalogFile)):
		return &lostDatabase{data, runFile, catalogFile}
	}
	return nil
}

// hasOrders tells whether a catalog has held or sold portions. One that cannot be read is refused when it is opened.
func hasOrders(ctx context.Context, path string) bool {
	db, err := catalogdb.OpenReader(ctx, path)
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	entries, err := db.Entries(ctx)
	return err == nil && len(entries) > 0
}
