package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/jsonschema-go/jsonschema"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

func resolveSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read input schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve input schema: %w", err)
	}
	if err := checkEnds(raw); err != nil {
		return nil, fmt.Errorf("resolve input schema: %w", err)
	}
	return resolved, nil
}

// CheckSchema tells whether a schema that comes from outside can be used.
func CheckSchema(raw json.RawMessage) error {
	_, err := resolveSchema(raw)
	return err
}

// checkArgs checks arguments against a schema that comes from outside.
func checkArgs(schema, args json.RawMessage) error {
	resolved, err := resolveSchema(schema)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the tool's own schema cannot be read")
	}
	return validate(resolved, args)
}

// validate checks arguments against a schema: one JSON object, nothing behind it.
func validate(schema *jsonschema.Resolved, args json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	var value map[string]any
	if err := dec.Decode(&value); err != nil || value == nil {
		return fault.Wrap(err, fault.Invalid, "the arguments are not one JSON object: %s", text.Clip(string(args), 200))
	}
	if _, err := dec.Token(); err != io.EOF {
		return fault.New(fault.Invalid, "the arguments hold more than one JSON value; send one object")
	}
	if err := schema.Validate(value); err != nil {
		return fault.Wrap(err, fault.Invalid, "the arguments do not fit the schema: %s", ends(err.Error(), 400))
	}
	return nil
}

// ends cuts the middle out of a long text: a refusal says at its end what would fit.
func ends(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-n/2:])
}
