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
		d.models(ctx)
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

// models looks at the address of each model.
func (d *doctor) models(ctx context.Context) {
	if d.config.demo() {
		d.ok("model", "the built-in demo model answers; LLM_API_KEY, LLM_BASE_URL and LLM_MODEL set a real one")
		return
	}
	transport := &http.Transport{Proxy: nil} // as the program calls it
	defer transport.CloseIdleConnections()
	silent := 0
	endpoints := addresses(d.config.endpoints())
	for _, e := range endpoints {
		e.HTTP = &http.Client{Transport: transport}
		err := openai.Probe(ctx, e)
		switch {
		case err != nil:
			silent++
			d.warn("model", "set an address at which an endpoint runs", "%s: %v", e.AddressFrom, err)
		case e.Key == "":
			d.ok("model", "something answers at %s; it is sent no key (%s)", e.BaseURL, e.KeyFrom)
		default:
			d.ok("model", "something answers at %s", e.BaseURL)
		}
	}
	if silent == len(endpoints) {
		d.problem("model", "the program does not start without one", "no model's address answers")
	}
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
