package capability

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxPaths is how many subschemas one value may be checked against, counted as often as the check gets there.
const maxPaths = 10_000

// checkEnds refuses a schema whose check of one value would not end: one whose references lead back to where they
// began without stepping down into the value, or that fan out beyond all measure. The validator follows both, and a
// stack that overflows ends the process. A schema that recurs by way of properties or items ends with the value.
func checkEnds(raw json.RawMessage) error {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	w := &schemaWalk{root: root, paths: map[string]int{}}
	return w.everywhere(nil, root)
}

// schemaWalk counts, for each place of a schema, how many subschemas are checked against the same value.
type schemaWalk struct {
	root  any
	paths map[string]int // by JSON Pointer; -1: on the way
}

// everywhere looks at each object of a schema: any of them may be where a check begins.
func (w *schemaWalk) everywhere(at []string, node any) error {
	switch node := node.(type) {
	case []any:
		for i, one := range node {
			if err := w.everywhere(below(at, strconv.Itoa(i)), one); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, err := w.count(at, node); err != nil {
			return err
		}
		for name, one := range node {
			switch name {
			case "const", "enum", "default", "examples": // values, not schemas
				continue
			}
			if err := w.everywhere(below(at, name), one); err != nil {
				return err
			}
		}
	}
	return nil
}

// count gives the number of subschemas that are checked in the place of one.
func (w *schemaWalk) count(at []string, node map[string]any) (int, error) {
	key := pointer(at)
	switch n, known := w.paths[key]; {
	case n < 0:
		return 0, fmt.Errorf("the reference at %q leads back to itself", key)
	case known:
		return n, nil
	}
	w.paths[key] = -1
	total := 1
	for _, step := range inPlace(node) {
		place, target, err := w.follow(at, step, node)
		if err != nil {
			return 0, err
		}
		object, ok := target.(map[string]any)
		if !ok { // true, false, or what the validator refuses
			continue
		}
		n, err := w.count(place, object)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxPaths {
			return 0, fmt.Errorf("at %q more than %d schemas apply to one value", key, maxPaths)
		}
	}
	w.paths[key] = total
	return total, nil
}

// inPlace lists the steps from a schema to those that are checked against the same value (JSON Schema 2020-12, core,
// sections 8.2.3 and 10.2, and the older dependencies).
func inPlace(node map[string]any) [][]string {
	var steps [][]string
	for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef", "not", "if", "then", "else"} {
		if _, there := node[name]; there {
			steps = append(steps, []string{name})
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := node[name].([]any)
		for i := range list {
			steps = append(steps, []string{name, strconv.Itoa(i)})
		}
	}
	for _, name := range []string{"dependentSchemas", "dependencies"} {
		object, _ := node[name].(map[string]any)
		for member := range object {
			steps = append(steps, []string{name, member})
		}
	}
	return steps
}

// follow takes a step, through a reference to where that leads.
func (w *schemaWalk) follow(at, step []string, node map[string]any) ([]string, any, error) {
	ref, isText := node[step[0]].(string)
	if !strings.HasSuffix(strings.ToLower(step[0]), "ref") || !isText {
		var target any = node
		for _, name := range step {
			target = member(target, name)
		}
		return below(at, step...), target, nil
	}
	place, err := w.resolve(ref)
	if err != nil {
		return nil, nil, err
	}
	target := w.root
	for _, name := range place {
		target = member(target, name)
	}
	return place, target, nil
}

// resolve finds where a reference within the document leads.
func (w *schemaWalk) resolve(ref string) ([]string, error) {
	if id, ok := member(w.root, "$id").(string); ok && id != "" {
		ref = strings.TrimPrefix(ref, strings.TrimSuffix(id, "#"))
	}
	fragment, local := strings.CutPrefix(ref, "#")
	fragment, err := url.PathUnescape(fragment)
	switch {
	case err != nil || (!local && ref != ""):
		return nil, fmt.Errorf("the reference %q leads out of the schema", ref)
	case fragment == "":
		return nil, nil
	case strings.HasPrefix(fragment, "/"):
		var place []string
		for _, token := range strings.Split(fragment[1:], "/") {
			place = append(place, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
		return place, nil
	}
	place, found := anchored(nil, w.root, fragment)
	if !found {
		return nil, fmt.Errorf("the reference %q leads nowhere", ref)
	}
	return place, nil
}

// anchored finds the schema of a name.
func anchored(at []string, node any, name string) ([]string, bool) {
	switch node := node.(type) {
	case []any:
		for i, one := range node {
			if place, found := anchored(below(at, strconv.Itoa(i)), one, name); found {
				return place, true
			}
		}
	case map[string]any:
		if node["$anchor"] == name || node["$dynamicAnchor"] == name {
			return at, true
		}
		for member, one := range node {
			if place, found := anchored(below(at, member), one, name); found {
				return place, true
			}
		}
	}
	return nil, false
}

func member(node any, name string) any {
	switch node := node.(type) {
	case map[string]any:
		return node[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(node) {
			return node[i]
		}
	}
	return nil
}

func below(at []string, names ...string) []string {
	return append(append(make([]string, 0, len(at)+len(names)), at...), names...)
}

// pointer writes a place as a JSON Pointer (RFC 6901).
func pointer(at []string) string {
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return b.String()
}
