package app

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"agentmesh/agent/openai"
)

// littleDisk is how much should be free where the data is, in bytes.
const littleDisk = 200 << 20

// surroundings looks at what the program needs from outside: a model, its ports, room, the time zone.
func (d *doctor) surroundings(ctx context.Context) {
	if p, err := place(d.config); err == nil && slices.Contains(p.local, "orchestrator") {
		d.model(ctx)
	}
	d.sizes()
	if d.runs() {
		d.ok("ports", "in use by the program: %s", strings.Join(d.addresses(), ", "))
	} else {
		d.ports(ctx)
	}
	if zone, err := time.LoadLocation(d.config.TimeZone); err == nil { // otherwise the settings say so
		d.ok("time", "it is %s in %s", time.Now().In(zone).Format("Monday 2006-01-02 15:04"), zone)
	}
}

func (d *doctor) model(ctx context.Context) {
	c := d.config
	if c.demo() {
		d.ok("model", "the built-in demo model answers; LLM_API_KEY, LLM_BASE_URL and LLM_MODEL set a real one")
		return
	}
	transport := &http.Transport{Proxy: nil} // as the program calls it
	defer transport.CloseIdleConnections()
	if err := openai.Probe(ctx, openai.Config{BaseURL: c.LLMBaseURL, Key: c.LLMKey, HTTP: &http.Client{Transport: transport}}); err != nil {
		d.problem("model", "set LLM_BASE_URL to an endpoint that runs; the program does not start without it", "LLM_BASE_URL: %v", err)
		return
	}
	if c.LLMKey == "" {
		d.ok("model", "something answers at %s; no LLM_API_KEY is set", c.LLMBaseURL)
		return
	}
	d.ok("model", "something answers at %s", c.LLMBaseURL)
}

// ports tries the addresses that a start would take.
func (d *doctor) ports(ctx context.Context) {
	var taken []string
	for _, addr := range d.addresses() {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err != nil {
			taken = append(taken, addr)
			continue
		}
		_ = l.Close()
	}
	if len(taken) > 0 {
		d.problem("ports", "stop what listens there, or choose others with --listen and --split", "%s cannot be taken", strings.Join(taken, ", "))
		return
	}
	d.ok("ports", "free: %s", strings.Join(d.addresses(), ", "))
}
