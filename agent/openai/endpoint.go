package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// DefaultTools is how many tools are offered at once where nothing else is said: endpoints refuse more.
const DefaultTools = 128

// Config names an endpoint, a model there, and what the endpoint needs to be spared. The library's environment
// variables are never read: a person's real key must not reach another party.
type Config struct {
	BaseURL string // up to and including /v1
	Key     string // empty: no Authorization header
	Model   string
	Context int // its context size in tokens; 0: 32,768
	HTTP    *http.Client

	// The settings that the address and the key came from, for words that say what to check.
	AddressFrom, KeyFrom string

	WithoutReasoning bool                       // reasoning_content does not go back
	LeaveOut         []string                   // fields of LeavableFields
	Extra            map[string]json.RawMessage // further fields of the request
	MaxTools         int                        // 0: DefaultTools

	FirstByte time.Duration // how long nothing may come at first; 0: two minutes
	Silence   time.Duration // how long nothing may come later; 0: a minute
	Waiting   time.Duration // how long nothing of an answer may come, whatever else does; 0: five minutes
}

// LeavableFields lists the fields of a request that an endpoint may refuse and can answer without.
func LeavableFields() []string {
	return []string{"stream", "stream_options", "parallel_tool_calls", "max_completion_tokens"}
}

// ownFields lists what only the program says in a request.
func ownFields() []string { return []string{"model", "messages", "tools", "stream"} }

// Check finds every mistake before anything is sent.
func (c Config) Check() error {
	errs := []error{checkBaseURL(c.BaseURL)}
	if c.Model == "" {
		errs = append(errs, errors.New("the model has no name"))
	}
	for _, field := range c.LeaveOut {
		if !slices.Contains(LeavableFields(), field) {
			errs = append(errs, fmt.Errorf("%q cannot be left out of a request; %s can", field, strings.Join(LeavableFields(), ", ")))
		}
	}
	for _, field := range ownFields() {
		if _, set := c.Extra[field]; set {
			errs = append(errs, fmt.Errorf("the program itself says %s in a request", field))
		}
	}
	if c.MaxTools < 0 {
		errs = append(errs, fmt.Errorf("%d is no number of tools", c.MaxTools))
	}
	return errors.Join(errs...)
}

// checkBaseURL finds what the library would take without a word and then send to a senseless address.
func checkBaseURL(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return fmt.Errorf("%q is not an http or https address", base)
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the address has a query or a fragment, which would be lost; a key belongs into the environment")
	case u.User != nil:
		return errors.New("the address holds a user name or password; a key belongs into the environment")
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/chat/completions"):
		return fmt.Errorf("%q ends with /chat/completions, which is added by the program", base)
	}
	return nil
}

// host is where the endpoint is, for the log.
func (c Config) host() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return u.Host
}

func (c Config) maxTools() int { return cmp.Or(c.MaxTools, DefaultTools) }
