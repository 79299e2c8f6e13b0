package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentmesh/agent/openai"
)

// openAI is where a key alone is meant for.
const openAI = "https://api.openai.com/v1"

// The settings that name an endpoint where the configuration file has no models.
const (
	fromAddress = "LLM_BASE_URL and LLM_MODEL"
	fromKey     = "LLM_API_KEY"
)

// How many tokens a model may take.
const (
	leastContext = 4096
	mostContext  = 10_000_000
)

func contextSize(tokens int) bool { return leastContext <= tokens && tokens <= mostContext }

// demo tells whether the built-in model answers.
func (c *Config) demo() bool { return c.LLMBaseURL == "" && len(c.Models) == 0 }

// endpoints lists the models that are asked, in this order; none: the demo model.
func (c *Config) endpoints() []openai.Config {
	var out []openai.Config
	for i, m := range c.Models {
		out = append(out, m.endpoint(modelPlace(i), *c))
	}
	if len(out) > 0 || c.demo() {
		return out
	}
	for _, name := range c.modelNames() {
		out = append(out, openai.Config{
			Model: name, BaseURL: c.LLMBaseURL, Key: c.LLMKey, Context: c.LLMContext, AddressFrom: fromAddress, KeyFrom: fromKey,
		})
	}
	return out
}

// modelNames lists the models of LLM_BASE_URL.
func (c *Config) modelNames() []string {
	var names []string
	for name := range strings.SplitSeq(c.LLMModels, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{c.LLMModel}
	}
	return names
}

// addresses takes one of those endpoints that share an address and a key.
func addresses(endpoints []openai.Config) []openai.Config {
	var out []openai.Config
	for _, e := range endpoints {
		if !slices.ContainsFunc(out, func(o openai.Config) bool { return o.BaseURL == e.BaseURL && o.Key == e.Key }) {
			out = append(out, e)
		}
	}
	return out
}

// checkModels finds every mistake in the settings of models, after a key alone has got its address.
func (c *Config) checkModels() error {
	if c.LLMBaseURL == "" && c.LLMKey != "" {
		c.LLMBaseURL = openAI
	}
	var errs []error
	if !contextSize(c.LLMContext) {
		errs = append(errs, fmt.Errorf("LLM_CONTEXT_SIZE: %d is not between %d and %d tokens", c.LLMContext, leastContext, mostContext))
	}
	for i, m := range c.Models {
		if err := m.check(*c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", modelPlace(i), err))
		}
	}
	for _, e := range c.endpoints() {
		if e.BaseURL == "" { // that has been said
			continue
		}
		if err := e.Check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.AddressFrom, err))
		}
	}
	return errors.Join(errs...)
}
