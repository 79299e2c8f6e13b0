package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/capability"
)

// outcome is what a case comes to. A case file says it in a sentence, and often leaves a choice; what the program
// chose stands in testdata/outcomes.json, a line a case.
type outcome struct {
	observed
	Seconds []int `json:"seconds,omitempty"` // that all runs take: at least, and less than; if left out, less than one
	Repeats bool  `json:"repeats,omitempty"` // the endpoint sends its last turn however often it is asked
}

// observed is what can be seen of a case from outside. A text that is wanted and ends with "…" goes on with what does
// not matter.
type observed struct {
	Ends     []string `json:"ends"`              // each run's finish reason, or "error", its class and its words
	Requests int      `json:"requests"`          // that used up a turn of the script
	Says     []string `json:"says,omitempty"`    // what is stored of the model's texts; cutMark behind one that never ended
	Thinks   []string `json:"thinks,omitempty"`  // what is stored of its thoughts
	Calls    []string `json:"calls,omitempty"`   // with arguments, status, and what the model was told of one that did not succeed
	Asks     []string `json:"asks,omitempty"`    // the questions to the person: tool and arguments
	Retries  []string `json:"retries,omitempty"` // the classes that model_retry told of
	Tokens   int64    `json:"tokens,omitempty"`  // as the runs count them
}

// cutMark stands behind a text that is stored as one that was never finished.
const cutMark = "✂"

// loadOutcomes reads what the cases come to. Each has its line, and each line its case.
func loadOutcomes(t *testing.T, cases []*llmstub.Case) map[string]outcome {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "outcomes.json"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]outcome{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&outcomes); err != nil {
		t.Fatalf("outcomes.json: %v", err)
	}
	for _, c := range cases {
		if _, found := outcomes[c.ID]; !found {
			t.Errorf("outcomes.json does not say what %s comes to", c.ID)
		}
	}
	if len(outcomes) > len(cases) {
		t.Errorf("outcomes.json has %d lines for %d cases", len(outcomes), len(cases))
	}
	return outcomes
}

// note takes in what a client saw of a run.
func (s *observed) note(run meshtest.Transcript) {
	s.Calls = append(s.Calls, callsIn(run)...)
	for _, e := range run.Events {
		if e.Name == agui.ModelRetry {
			var d agent.RetryData
			_ = json.Unmarshal(e.Value, &d)
			s.Retries = append(s.Retries, string(d.Class))
		}
	}
	last := run.Last()
	for _, u := range last.Usage {
		s.Tokens += u.TotalTokens
	}
	end := fmt.Sprint(about(last)["finishReason"])
	if last.Type == agui.RunError {
		end = fmt.Sprintf("error %s: %s", last.Code, last.Message)
	}
	s.Ends = append(s.Ends, end)
}

// callsIn writes the calls of a run, in the order in which the model made them.
func callsIn(run meshtest.Transcript) []string {
	var out []string
	place := map[string]int{}
	for _, e := range run.Events {
		switch e.Type {
		case agui.ToolCallStart:
			place[e.ToolCallID] = len(out)
			out = append(out, e.ToolCallName+" ")
		case agui.ToolCallArgs:
			out[place[e.ToolCallID]] += e.Delta
		case agui.ToolCallResult:
			status := fmt.Sprint(about(e)["status"])
			if status != string(capability.Succeeded) {
				status += ": " + wordsIn(e.Content)
			}
			out[place[e.ToolCallID]] += " " + status
		}
	}
	return out
}

// wordsIn finds what the model was told of a call that did not succeed.
func wordsIn(result string) string {
	var told struct {
		Message string
		Error   struct{ Message string }
	}
	_ = json.Unmarshal([]byte(result), &told)
	return told.Message + told.Error.Message
}

func about(e agui.Event) map[string]any {
	known, _ := e.Metadata["agentmesh"].(map[string]any)
	return known
}

// judge says where a case came to something else.
func (o outcome) judge(t *testing.T, got observed, took time.Duration) {
	t.Helper()
	for _, list := range []struct {
		name      string
		want, got []string
	}{
		{"ends", o.Ends, got.Ends},
		{"says", o.Says, got.Says},
		{"thinks", o.Thinks, got.Thinks},
		{"calls", o.Calls, got.Calls},
		{"asks", o.Asks, got.Asks},
		{"retries", o.Retries, got.Retries},
	} {
		if !slices.EqualFunc(list.want, list.got, fits) {
			t.Errorf("%s: got %q, want %q", list.name, list.got, list.want)
		}
	}
	if got.Requests != o.Requests || got.Tokens != o.Tokens {
		t.Errorf("got %d requests and %d tokens, want %d and %d", got.Requests, got.Tokens, o.Requests, o.Tokens)
	}
	bounds := []int{0, 1}
	if o.Seconds != nil {
		bounds = o.Seconds
	}
	if took < time.Duration(bounds[0])*time.Second || took >= time.Duration(bounds[1])*time.Second {
		t.Errorf("took %s, want %d to %d s", took, bounds[0], bounds[1])
	}
}

func fits(want, got string) bool {
	begins, open := strings.CutSuffix(want, "…")
	return want == got || open && strings.HasPrefix(got, begins)
}
