package app

import (
	"net"
	"net/url"
	"strings"
)

// shortestKey is how long an internal key should be at least.
const shortestKey = 16

// access looks at what is unsafe for the addresses in use (D-139).
func (d *doctor) access() {
	listeners, err := d.listeners()
	if err != nil {
		d.problem("access", "mend or remove the file; meanwhile nobody gets in", "%v", err)
		return
	}
	var open, trusting, shut []string
	keyless := false
	for _, l := range listeners {
		host, _, err := net.SplitHostPort(l.addr)
		local := err == nil && loopback(host)
		switch {
		case !local && !l.keys && l.insecure:
			trusting = append(trusting, l.addr)
		case !local && !l.keys:
			shut = append(shut, l.addr)
		case !local:
			open = append(open, l.addr)
		case !l.keys:
			keyless = true
		}
	}
	if len(trusting) > 0 {
		d.problem("access", "make keys with 'agentmesh key add', or listen on 127.0.0.1",
			"everybody who reaches %s is trusted: no keys are configured", strings.Join(trusting, ", "))
	}
	if len(shut) > 0 {
		d.problem("access", "make keys with 'agentmesh key add'", "nobody gets in at %s: it is beyond loopback, and no keys are configured", strings.Join(shut, ", "))
	}
	if len(open) > 0 {
		d.warn("access", "put a proxy with TLS in front, and let only it reach the port", "keys and talks travel unencrypted to %s", strings.Join(open, ", "))
	}
	if keyless {
		d.warn("access", "'agentmesh key add NAME' makes every caller need a key", "no keys are configured: every program on this machine is trusted")
	}
	if keyless && len(d.config.AllowOrigins) > 0 {
		d.warn("access", "make keys with 'agentmesh key add'", "every page of %s may do everything here", strings.Join(d.config.AllowOrigins, ", "))
	}
	if len(trusting)+len(shut)+len(open) == 0 && !keyless {
		d.ok("access", "loopback only, and every caller needs a key")
	}
	if key := d.config.InternalKey; key != "" && len(key) < shortestKey {
		d.problem("access", "openssl rand -hex 16 makes a better one", "AGENTMESH_INTERNAL_KEY is shorter than %d characters, and opens everything", shortestKey)
	}
	for _, e := range addresses(d.config.endpoints()) {
		d.plain(e.AddressFrom, e.BaseURL)
	}
	for _, peer := range d.config.Peers {
		name, base, _ := strings.Cut(peer, "=")
		d.plain("--peer "+name, base)
	}
}

// listener is an address in use, and whether callers need a key there.
type listener struct {
	addr     string
	keys     bool
	insecure bool // without keys everybody is let in, beyond loopback too
}

// listeners lists where the program listens, or would.
func (d *doctor) listeners() ([]listener, error) {
	environment := d.config.APIKeys
	if d.runs() {
		environment = "" // each process says what it was started with
	}
	keys, err := openKeyring(d.config.Data, environment)
	if err != nil {
		return nil, err
	}
	configured := keys.configured()
	var out []listener
	for _, i := range d.found {
		for _, addr := range i.Listen {
			out = append(out, listener{addr, configured || i.EnvironmentKeys, i.Insecure})
		}
	}
	if d.runs() {
		return out, nil
	}
	out = append(out, listener{d.config.Listen, configured, d.config.Insecure})
	if p, err := place(d.config); err == nil { // otherwise the settings say so
		for _, name := range p.local {
			if addr, split := p.split[name]; split {
				out = append(out, listener{addr, configured, d.config.Insecure})
			}
		}
	}
	return out, nil
}

// addresses lists the addresses of the listeners.
func (d *doctor) addresses() []string {
	listeners, _ := d.listeners() // access says what is wrong with the keys
	out := make([]string, 0, len(listeners))
	for _, l := range listeners {
		out = append(out, l.addr)
	}
	return out
}

// plain warns of a key that travels in the clear.
func (d *doctor) plain(name, address string) {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		d.warn("access", "use an https address, or a network that nobody else is in", "%s: keys travel unencrypted to %s", name, u.Host)
	}
}
