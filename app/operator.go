package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"agentmesh/mcp"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
	"agentmesh/store/catalogdb"
)

// operator is the catalog as its operator's commands need it. The database is one, and so is the running
// program's catalog, over MCP with the operator's key.
type operator interface {
	Shelves(ctx context.Context) ([]catalog.Shelf, error)
	Edit(ctx context.Context, edits []catalog.Edit, dry bool) ([]catalog.Change, error)
	io.Closer
}

// The databases of a data folder.
const (
	catalogFile = "catalog.db"
	runFile     = "orchestrator.db"
)

// openOperator finds the catalog of a data folder: that of the running process which has it, or knows
// where it is; otherwise the file, whose lock proves that nobody else works on it.
func openOperator(ctx context.Context, c Config) (operator, error) {
	o, err := findOperator(ctx, c)
	if errors.Is(err, store.ErrInUse) { // a program that was starting, and answers by now
		return findOperator(ctx, c)
	}
	return o, err
}

func findOperator(ctx context.Context, c Config) (operator, error) {
	found, err := running(c.Data)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if slices.Contains(i.Modules, catalog.Name) {
			return newRemoteCatalog(i, i.URL), nil
		}
	}
	for _, i := range found {
		if url, ok := i.Peers[catalog.Name]; ok {
			return newRemoteCatalog(i, url), nil
		}
	}
	if err := finishRestore(c.Data); err != nil {
		return nil, err
	}
	path := filepath.Join(c.Data, catalogFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no catalog in the data folder %s: start the program once, or name another folder with --data", c.Data)
	}
	return catalogdb.Open(ctx, path, catalogdb.Options{})
}

// remoteCatalog is the catalog of a running program.
type remoteCatalog struct {
	client *mcp.Client
	http   *http.Client
}

func newRemoteCatalog(i instance, url string) *remoteCatalog {
	hc := i.client()
	return &remoteCatalog{client: mcp.NewClient(url+catalog.Path, hc), http: hc}
}

func (r *remoteCatalog) Shelves(ctx context.Context) ([]catalog.Shelf, error) {
	var out catalog.Shelves
	err := r.call(ctx, catalog.ToolShelves, struct{}{}, &out)
	return out.Shelves, err
}

func (r *remoteCatalog) Edit(ctx context.Context, edits []catalog.Edit, dry bool) ([]catalog.Change, error) {
	var out catalog.Changes
	err := r.call(ctx, catalog.ToolEdit, catalog.Edits{Dishes: edits, Dry: dry}, &out)
	return out.Changes, err
}

func (r *remoteCatalog) call(ctx context.Context, tool string, args, into any) error {
	raw, err := r.client.CallTool(ctx, tool, args)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("the running program's catalog: %w", err)
	}
	return nil
}

// Close ends the connection.
func (r *remoteCatalog) Close() error {
	err := r.client.Close()
	r.http.CloseIdleConnections()
	return err
}
