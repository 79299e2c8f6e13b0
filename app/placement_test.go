package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestScenarioInEveryPlacement: the same questions, the same tools, the same data, wherever the modules
// run. An order is confirmed, rejected and left to expire in each.
func TestScenarioInEveryPlacement(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("CST", 8*3600))
	var first string
	answers := map[string]string{}
	for _, p := range meshtest.Placements() {
		m := p.Start(t, meshtest.Options{Now: func() time.Time { return noon }})
		before := stock(t, m, "food-001")
		var all strings.Builder
		for _, s := range samples() {
			got, card := converse(m, "ann", s.id, s.zh)
			checkSample(t, s, s.zh, got)
			writeSample(&all, s.zh, got, card)
		}
		answers[p.Name] = all.String()
		if first == "" {
			first = p.Name
		}
		if answers[p.Name] != answers[first] {
			t.Errorf("%s answers otherwise than %s:\n%s\nand\n%s", p.Name, first, answers[p.Name], answers[first])
		}
		talk := m.Say("ann", "no", "帮我订一份水煮牛肉。")
		talk.Decide("reject", talk.Question())
		talk.Rest()
		awaitStock(t, m, before-2)
		var ready struct{ Modules, Peers map[string]string }
		m.Get("ann", "/readyz", &ready)
		for name, state := range ready.Modules {
			if state != "ready" {
				t.Errorf("%s: %s is %s", p.Name, name, state)
			}
		}
		m.Stop()
		checkBooks(t, m.Dir)
	}
}

func TestExpiryInEveryPlacement(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{Change: func(c *app.Config) { c.ConfirmationTTL = time.Second }})
			before := stock(t, m, "food-001")
			talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
			q := talk.Question()
			talk.Rest()
			if status, _ := talk.Decide("confirm", q); status != http.StatusGone || talk.Last().Type != agui.RunFinished {
				t.Errorf("confirm after expiry: %d, and the run ended with %s", status, talk.Last().Type)
			}
			awaitStock(t, m, before)
		})
	}
}

func TestWrongPlacementsNameTheFlag(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*app.Config)
		says   string
	}{
		{"a need is missing", func(c *app.Config) { c.Modules = []string{"orchestrator", "mcp"} }, "orchestrator needs gateway: add --module gateway or --peer gateway=URL"},
		{"no such module", func(c *app.Config) { c.Modules = []string{"fod"} }, "there is no module \"fod\""},
		{"no such peer", func(c *app.Config) { c.Peers = []string{"fod=http://x"} }, "there is no module \"fod\""},
		{"peer without address", func(c *app.Config) { c.Peers = []string{"food"} }, "--peer"},
		{"here and there", func(c *app.Config) { c.Modules, c.Peers = []string{"food"}, []string{"food=http://x"} }, "runs elsewhere"},
		{"split of a peer", func(c *app.Config) { c.Peers, c.Splits = []string{"food=http://x"}, []string{"food=:1"} }, "does not run in this process"},
		{"split without address", func(c *app.Config) { c.Splits = []string{"food"} }, "--split"},
		{"no key", func(c *app.Config) { c.Modules = []string{"mcp"} }, "AGENTMESH_INTERNAL_KEY"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := app.Default()
			config.Data = t.TempDir()
			c.change(&config)
			if _, err := app.New(config); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}
