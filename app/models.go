package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"agentmesh/agent/openai"
)

// ModelSetting is a model as agentmesh.yaml has it.
type ModelSetting struct {
	Name          string                     `json:"name"`
	BaseURL       string                     `json:"base_url"` // empty: LLM_BASE_URL
	KeyEnv        string                     `json:"key_env"`  // the name of the variable that holds the key
	ContextSize   int                        `json:"context_size"`
	EchoReasoning bool                       `json:"echo_reasoning"`
	LeaveOut      []string                   `json:"leave_out"`
	ExtraBody     map[string]json.RawMessage `json:"extra_body"`
	MaxTools      int                        `json:"max_tools"`

	Key string `json:"-"` // what the variable holds
}

// modelList is the setting that holds the models to ask, in their order: a list in the configuration file, JSON in
// the environment.
func modelList(into *[]ModelSetting) setting {
	return setting{
		key: "models", env: "AGENTMESH_MODELS", structured: true,
		help:  "models in place of LLM_MODEL and LLM_MODELS, each with an address, a key and switches of its own (docs/model-wire.md)",
		reset: func() { *into = nil },
		parse: func(v string) (err error) {
			*into, err = readModels(v)
			return err
		},
		show: func() string { return writeModels(*into) },
	}
}

// readModels reads models, and reports all mistakes together, each by its place in the list.
func readModels(text string) ([]ModelSetting, error) {
	var entries []json.RawMessage
	if json.Unmarshal([]byte(text), &entries) != nil {
		return nil, errors.New("it is no list of models")
	}
	var models []ModelSetting
	var errs []error
	for i, entry := range entries {
		m := ModelSetting{EchoReasoning: true}
		dec := json.NewDecoder(bytes.NewReader(entry))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&m); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w; a model has name, base_url, key_env, context_size, echo_reasoning, leave_out, "+
				"extra_body, max_tools, and its key in the environment, in a variable that key_env names", modelPlace(i), err))
		}
		models = append(models, m)
	}
	return models, errors.Join(errs...)
}

// modelPlace names an entry of the list.
func modelPlace(i int) string { return fmt.Sprintf("models[%d]", i+1) }

// writeModels shows models in a line, without their keys.
func writeModels(models []ModelSetting) string {
	var out []string
	for _, m := range models {
		line := m.Name + " at " + cmp.Or(m.BaseURL, "LLM_BASE_URL")
		if m.Key != "" { // otherwise the name may be a key
			line += ", key from " + m.KeyEnv
		}
		if m.ContextSize != 0 {
			line += fmt.Sprintf(", context_size %d", m.ContextSize)
		}
		if !m.EchoReasoning {
			line += ", echo_reasoning false"
		}
		if len(m.LeaveOut) > 0 {
			line += ", leave_out " + strings.Join(m.LeaveOut, " ")
		}
		if fields := namesOf(m.ExtraBody); len(fields) > 0 {
			line += ", extra_body " + strings.Join(fields, " ")
		}
		if m.MaxTools != 0 {
			line += fmt.Sprintf(", max_tools %d", m.MaxTools)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func namesOf(fields map[string]json.RawMessage) []string {
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// endpoint is what is asked of a model of the list. An address of its own has a key of its own: that of
// LLM_BASE_URL is not sent anywhere else.
func (m ModelSetting) endpoint(place string, c Config) openai.Config {
	e := openai.Config{
		Model: m.Name, BaseURL: m.BaseURL, Key: m.Key, Context: cmp.Or(m.ContextSize, c.LLMContext), AddressFrom: place, KeyFrom: cmp.Or(m.KeyEnv, "key_env of "+place),
		WithoutReasoning: !m.EchoReasoning, LeaveOut: m.LeaveOut, Extra: m.ExtraBody, MaxTools: m.MaxTools,
	}
	if m.BaseURL == "" {
		e.BaseURL = c.LLMBaseURL
	}
	if m.BaseURL == "" && m.KeyEnv == "" {
		e.Key, e.KeyFrom = c.LLMKey, fromKey
	}
	return e
}

var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// check finds what is wrong with a model beside its endpoint. A name that names no variable is not repeated, as it may be the
// key itself.
func (m ModelSetting) check(c Config) error {
	var errs []error
	switch {
	case m.KeyEnv == "":
	case !variableName.MatchString(m.KeyEnv):
		errs = append(errs, errors.New("key_env takes the NAME of the variable that holds the key, such as MY_API_KEY, and no key"))
	case m.Key == "":
		errs = append(errs, errors.New("the variable that key_env names is not set"))
	}
	if m.BaseURL == "" && c.LLMBaseURL == "" {
		errs = append(errs, errors.New("it has no base_url, and LLM_BASE_URL is not set"))
	}
	if m.ContextSize != 0 && !contextSize(m.ContextSize) {
		errs = append(errs, fmt.Errorf("context_size: %d is not between %d and %d tokens", m.ContextSize, leastContext, mostContext))
	}
	return errors.Join(errs...)
}
