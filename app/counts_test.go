package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentmesh/agent"
)

func scraped(c *counts) (int, string) {
	rec := httptest.NewRecorder()
	c.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	return rec.Code, rec.Body.String()
}

func TestCounts_UnreadableGaugeLeavesTheRest(t *testing.T) {
	t.Parallel()
	c := newCounts()
	c.gauge("agentmesh_broken", "Broken.", []string{"status"}, func(context.Context) (map[string]int, error) { return nil, errors.New("no database") })
	c.gauge("agentmesh_fine", "Fine.", nil, func(context.Context) (map[string]int, error) { return map[string]int{"": 3}, nil })
	status, body := scraped(c)
	if status != http.StatusOK || strings.Contains(body, "agentmesh_broken") || !strings.Contains(body, "\nagentmesh_fine 3\n") {
		t.Errorf("%d %s", status, body)
	}
}

// What an endpoint calls itself and counts is not ours to trust.
func TestCounts_TakesWhatEndpointsReport(t *testing.T) {
	t.Parallel()
	c := newCounts()
	c.asked(agent.ModelCall{Model: "a \"\\\n\xff", Usage: agent.Usage{Input: -5, Output: 7}})
	_, body := scraped(c)
	for _, want := range []string{
		`agentmesh_model_calls_total{model="a \"\\\n�",outcome="ok"} 1`,
		`agentmesh_model_tokens_total{direction="input",model="a \"\\\n�"} 0`,
		`agentmesh_model_tokens_total{direction="output",model="a \"\\\n�"} 7`,
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("no line %s in %s", want, body)
		}
	}
}
