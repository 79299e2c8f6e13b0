// Package llmstub plays scripted cases as an OpenAI-compatible endpoint and judges what the client sent.
// It is for tests only, and must not know the client.
package llmstub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Case is one scripted conversation with a model endpoint.
type Case struct {
	ID          string   `json:"id"`
	Family      string   `json:"family"`
	Source      []string `json:"source"` // the public reports that it stands for
	Description string   `json:"description"`
	UserMessage string   `json:"user_message"`
	Steps       []string `json:"steps,omitempty"` // what the person does further: "say: …", "approve", "deny" or "cancel"
	Tools       []string `json:"tools,omitempty"` // the logical tools that the script calls
	// Count says which requests use up a turn: "all", or "with_tools", where a request that offers no
	// tools gets a neutral answer and uses up nothing.
	Count string `json:"count,omitempty"`
	// AfterLast is "stop" (a closing sentence), "repeat" (the last turn again) or "error" (HTTP 500).
	AfterLast string   `json:"after_last,omitempty"`
	Turns     []Turn   `json:"turns"`
	Expected  Expected `json:"expected"`
}

// Turn is one scripted answer. A streaming request gets the first that is set of RawHTTP, SSE, Body,
// JSON, and Say with Call; a plain one the first of RawHTTP, JSON, Body, and Say with Call.
type Turn struct {
	Note    string            `json:"note,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"` // an empty value sends no such header
	DelayMS int               `json:"delay_ms,omitempty"`

	SSE     string          `json:"sse,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`
	Body    string          `json:"body,omitempty"`
	RawHTTP string          `json:"raw_http,omitempty"`
	Say     string          `json:"say,omitempty"`
	Call    []ScriptCall    `json:"call,omitempty"`

	// Split cuts the bytes further: "utf8" inside every character, "bytes" after every byte, or a number.
	Split        any `json:"split,omitempty"`
	PieceDelayMS int `json:"piece_delay_ms,omitempty"`
	// End is "clean", "cut" (the HTTP body does not end), "reset" (TCP reset) or "hang".
	End    string `json:"end,omitempty"`
	HangMS int    `json:"hang_ms,omitempty"`
}

// ScriptCall is a well-formed tool call.
type ScriptCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Expected is what must hold. Check judges Requests, Wire and Sent; the rest is for the driver.
type Expected struct {
	Outcome           string         `json:"outcome,omitempty"`
	AnswerContains    []string       `json:"answer_contains,omitempty"`
	AnswerNotContains []string       `json:"answer_not_contains,omitempty"`
	Executed          []ExpectedCall `json:"executed,omitempty"`
	NotExecuted       []string       `json:"not_executed,omitempty"` // "tool", "tool {arguments}", or "tool" and Unconfirmed
	NeedsConfirmation []string       `json:"needs_confirmation,omitempty"`
	UI                []string       `json:"ui,omitempty"`
	Why               string         `json:"why,omitempty"`

	Requests *Range    `json:"requests,omitempty"`
	Wire     []string  `json:"wire,omitempty"`
	Sent     []SentReq `json:"sent,omitempty"`
}

// Unconfirmed in the place of arguments means the runs of a tool that nobody agreed to.
const Unconfirmed = "without confirmation"

// ExpectedCall is a tool run that must have happened.
type ExpectedCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Times     int             `json:"times,omitempty"`
}

// Range bounds the number of counted requests; a Max of 0 is no bound.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// SentReq is a set of claims about the n-th counted request, from 1; a negative n counts from the last.
type SentReq struct {
	N        int         `json:"n"`
	Fields   []PathCheck `json:"fields,omitempty"`
	Contains []string    `json:"contains,omitempty"`
	Lacks    []string    `json:"lacks,omitempty"`
}

// PathCheck looks a value up in the request's body. Path is dotted; numbers index lists and may be
// negative; a first part of system, user, assistant or tool means "the messages with that role".
type PathCheck struct {
	Path     string          `json:"path"`
	Equals   json.RawMessage `json:"equals,omitempty"`
	JSONEq   json.RawMessage `json:"json_equals,omitempty"`
	Contains string          `json:"contains,omitempty"`
	Absent   bool            `json:"absent,omitempty"`
	Count    *int            `json:"count,omitempty"`
}

// Load reads one case file. A file that is not well formed is an error, so reading is also the lint.
func Load(path string) (*Case, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var c Case
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("read case %s: %w", path, err)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("read case %s: %w", path, err)
	}
	return &c, nil
}

// LoadDir reads every case file below a folder, in the order of their paths.
func LoadDir(dir string) ([]*Case, error) {
	var cases []*Case
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		c, err := Load(path)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(cases, func(other *Case) bool { return other.ID == c.ID }) {
			return fmt.Errorf("read case %s: the id %q is taken", path, c.ID)
		}
		cases = append(cases, c)
		return nil
	})
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("no case files below %s", dir)
	}
	return cases, err
}

func (c *Case) validate() error {
	var faults []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	bad(c.ID == "" || strings.ContainsAny(c.ID, " /"), "the id is empty or has a space or slash")
	bad(c.Description == "", "no description")
	bad(len(c.Source) == 0, "no source")
	bad(len(c.Turns) == 0, "no turns")
	bad(!slices.Contains([]string{"", "all", "with_tools"}, c.Count), "count %q", c.Count)
	bad(!slices.Contains([]string{"", "stop", "repeat", "error"}, c.AfterLast), "after_last %q", c.AfterLast)
	for i, t := range c.Turns {
		answers := t.SSE + t.Body + t.RawHTTP + t.Say + string(t.JSON)
		bad(answers == "" && len(t.Call) == 0 && t.Status == 0, "turn %d answers nothing", i+1)
		bad(!slices.Contains([]string{"", "clean", "cut", "reset", "hang"}, t.End), "turn %d: end %q", i+1, t.End)
		_, err := splitter(t.Split)
		bad(err != nil, "turn %d: %v", i+1, err)
	}
	for _, step := range c.Steps {
		bad(!strings.HasPrefix(step, "say: ") && !slices.Contains([]string{"approve", "deny", "cancel"}, step), "unknown step %q", step)
	}
	for _, entry := range c.Expected.NotExecuted {
		_, args, found := strings.Cut(entry, " ")
		bad(found && args != Unconfirmed && !json.Valid([]byte(args)), "not_executed: %q", entry)
	}
	for _, name := range c.Expected.Wire {
		bad(ruleOf(name) == nil, "unknown wire rule %q", name)
	}
	return errors.Join(faults...)
}
