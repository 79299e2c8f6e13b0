package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configFileName is the optional configuration file. It may set what the flags and the environment may,
// by the flag's name, or the variable's in small letters with dashes; but no secrets.
const configFileName = "agentmesh.yaml"

// fileValue is a setting in the configuration file, a list's parts joined by commas, and the line where
// it stands.
type fileValue struct {
	text string
	line int
}

// readConfigFile reads the settings of a file, and reports all mistakes together. One that was not asked
// for need not be there.
func readConfigFile(path string, must bool) (map[string]fileValue, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil // empty, or comments only
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: it is not a list of lines NAME: VALUE", path)
	}
	out := map[string]fileValue{}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		text, err := fileSetting(key.Value, value)
		if _, twice := out[key.Value]; twice {
			err = errors.New("it is there twice")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s line %d: %s: %w", path, key.Line, key.Value, err))
			continue
		}
		out[key.Value] = fileValue{text: text, line: key.Line}
	}
	return out, errors.Join(errs...)
}

// fileSetting gives the text of a setting's value.
func fileSetting(name string, value *yaml.Node) (string, error) {
	all := settings(&Config{})
	i := slices.IndexFunc(all, func(s setting) bool { return s.name() == strings.ToLower(strings.ReplaceAll(name, "_", "-")) })
	switch {
	case i < 0:
		return "", errors.New("there is no such setting; 'agentmesh config' lists them")
	case all[i].secret:
		return "", fmt.Errorf("secrets are not taken from this file: set %s in the environment or in %s", all[i].env, dotEnvFile)
	case all[i].name() != name:
		return "", fmt.Errorf("write it as %s", all[i].name())
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch {
	case all[i].structured:
		return structuredValue(value)
	case value.Tag == "!!null":
		return "", nil
	case value.Kind == yaml.ScalarNode:
		return value.Value, nil
	case value.Kind == yaml.SequenceNode && all[i].list:
		var parts []string
		for _, part := range value.Content {
			if part.Kind != yaml.ScalarNode {
				return "", errors.New("each of its parts must be a text")
			}
			parts = append(parts, part.Value)
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("it takes one value")
}

// structuredValue gives a value of any form as JSON.
func structuredValue(value *yaml.Node) (string, error) {
	var v any
	if err := value.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	if err != nil {
		return "", errors.New("the names in it must be texts")
	}
	return string(out), nil
}
