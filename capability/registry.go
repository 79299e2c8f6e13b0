package capability

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Registry knows every capability. Skills refer to its entries by name only (D-58).
type Registry struct {
	order   []string
	entries map[string]entry
}

type entry struct {
	Definition
	schema *jsonschema.Resolved
}

// NewRegistry checks and registers definitions, in this order; the order is the one in which a model
// sees its tools.
func NewRegistry(definitions ...Definition) (*Registry, error) {
	r := &Registry{entries: make(map[string]entry, len(definitions))}
	for _, d := range definitions {
		if err := r.add(d); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Registry) add(d Definition) error {
	if err := d.check(); err != nil {
		return err
	}
	if _, ok := r.entries[d.Name]; ok {
		return fmt.Errorf("register capability %s: the name is taken", d.Name)
	}
	schema, err := resolveSchema(d.InputSchema)
	if err != nil {
		return fmt.Errorf("register capability %s: %w", d.Name, err)
	}
	r.entries[d.Name] = entry{Definition: d, schema: schema}
	r.order = append(r.order, d.Name)
	return nil
}

// All lists every definition in the order of registration.
func (r *Registry) All() []Definition {
	out := make([]Definition, 0, len(r.order))
	for _, name := range r.order {
		out = append(out, r.entries[name].Definition)
	}
	return out
}

// Has tells whether a capability is registered.
func (r *Registry) Has(name string) bool {
	_, ok := r.entries[name]
	return ok
}

// Lookup gives a registered definition.
func (r *Registry) Lookup(name string) (Definition, bool) {
	e, ok := r.entries[name]
	return e.Definition, ok
}

// everything is the toolkit of the program itself: hidden capabilities too.
func (r *Registry) everything() Toolkit {
	return Toolkit{definitions: r.All()}
}

// Toolkit picks the named capabilities for one turn: registered, enabled and not hidden ones.
func (r *Registry) Toolkit(names []string) Toolkit {
	var t Toolkit
	for _, name := range r.order {
		e := r.entries[name]
		if slices.Contains(names, name) && !e.Disabled && !e.Hidden {
			t.definitions = append(t.definitions, e.Definition)
		}
	}
	return t
}
