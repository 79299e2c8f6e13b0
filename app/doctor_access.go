package app

import (
	"net"
	"net/url"
	"strings"
)

// shortestKey is how long an internal key should be at least.
const shortestKey = 16

// access looks at what is unsafe for the addresses in use: those that a running program listens on, or
// those that the settings ask for (D-139).
func (d *doctor) access() {
	keys, err := openKeyring(d.config.Data, d.config.APIKeys)
	if err != nil {
		d.problem("access", "mend or remove the file; meanwhile nobody gets in", "%v", err)
		return
	}
	configured := keys.configured()
	for _, i := range d.found {
		configured = configured || i.EnvironmentKeys
	}
	var open []string
	for _, addr := range d.addresses() {
		if host, _, err := net.SplitHostPort(addr); err != nil || !loopback(host) {
			open = append(open, addr)
		}
	}
	where := strings.Join(open, ", ")
	switch {
	case len(open) > 0 && !configured:
		d.problem("access", "make keys with 'agentmesh key add', or listen on 127.0.0.1", "everybody who reaches %s is trusted: no keys are configured", where)
	case len(open) > 0:
		d.warn("access", "put a proxy with TLS in front, and let only it reach the port", "keys and talks travel unencrypted to %s", where)
	case !configured:
		d.warn("access", "'agentmesh key add NAME' makes every caller need a key", "no keys are configured: every program on this machine is trusted")
	default:
		d.ok("access", "loopback only, and every caller needs a key")
	}
	if key := d.config.InternalKey; key != "" && len(key) < shortestKey {
		d.problem("access", "openssl rand -hex 16 makes a better one", "AGENTMESH_INTERNAL_KEY is shorter than %d characters, and opens everything", shortestKey)
	}
	d.plain("LLM_BASE_URL", d.config.LLMBaseURL)
	for _, peer := range d.config.Peers {
		name, base, _ := strings.Cut(peer, "=")
		d.plain("--peer "+name, base)
	}
}

// addresses lists where the program listens, or would.
func (d *doctor) addresses() []string {
	var out []string
	for _, i := range d.found {
		out = append(out, i.Listen...)
	}
	if d.runs() {
		return out
	}
	out = append(out, d.config.Listen)
	if p, err := place(d.config); err == nil {
		for _, name := range p.local {
			if addr, split := p.split[name]; split {
				out = append(out, addr)
			}
		}
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
