package catalog

import (
	"context"
	"fmt"

	"agentmesh/mcp"
)

// The tools of the catalog's operator. They ask for the operator's scope, and are no capabilities: neither a
// model nor a module calls them.
const (
	ToolShelves = "list_shelves"
	ToolEdit    = "edit_dishes"
)

const (
	shelvesIn  = `{"type":"object","properties":{}}`
	shelvesOut = `{"type":"object","properties":{"shelves":{"type":"array","items":{"type":"object"}}},"required":["shelves"]}`
	// What is wrong with dishes is said by Plan, all of it at once, and not by the schema.
	editIn  = `{"type":"object","properties":{"dishes":{"type":"array","items":{"type":"object"}},"dry":{"type":"boolean"}},"required":["dishes"]}`
	editOut = `{"type":"object","properties":{"changes":{"type":"array","items":{"type":"object"}}},"required":["changes"]}`
)

// Shelves and Changes are the answers of the operator's tools.
type (
	Shelves struct {
		Shelves []Shelf `json:"shelves"`
	}
	Changes struct {
		Changes []Change `json:"changes"`
	}
)

// Edits are the arguments of the tool that edits dishes. Dry only tells what would be done.
type Edits struct {
	Dishes []Edit `json:"dishes"`
	Dry    bool   `json:"dry,omitempty"`
}

func (m *Module) operatorTools() []mcp.Tool {
	return []mcp.Tool{
		{
			Name: ToolShelves, Title: "List the stock", Description: "Lists all dishes with what is on hand and what is held.",
			Operate: true, ReadOnly: true, InputSchema: schema(shelvesIn), OutputSchema: schema(shelvesOut), Handle: handle(m.shelves),
		},
		{
			Name: ToolEdit, Title: "Edit dishes", Description: "Changes or adds dishes, all or none: prices, stock, everything.",
			Operate: true, Destructive: true, InputSchema: schema(editIn), OutputSchema: schema(editOut), Handle: handle(m.edit),
		},
	}
}

func (m *Module) shelves(ctx context.Context, _ struct{}) (Shelves, error) {
	list, err := m.store.Shelves(ctx)
	if err != nil {
		return Shelves{}, fmt.Errorf("list shelves: %w", err)
	}
	return Shelves{Shelves: list}, nil
}

func (m *Module) edit(ctx context.Context, in Edits) (Changes, error) {
	changes, err := m.store.Edit(ctx, in.Dishes, in.Dry)
	if err != nil {
		return Changes{}, err
	}
	return Changes{Changes: changes}, nil
}
