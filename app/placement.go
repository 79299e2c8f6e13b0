package app

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// placement says which modules run in this process, which of them have a listener of their own, and
// where the others are.
type placement struct {
	local []string          // in the order of the table
	split map[string]string // module → address of its own listener
	peers map[string]string // module → base URL
}

// classicPort is where a module listens with --split all (D-10). The orchestrator's whole handler is on
// the main listener and on this one.
func classicPort(module string) string {
	switch module {
	case "orchestrator":
		return "127.0.0.1:3000"
	case "mcp":
		return "127.0.0.1:7100"
	case "gateway":
		return "127.0.0.1:6001"
	case "food":
		return "127.0.0.1:7004"
	case "weather":
		return "127.0.0.1:7005"
	}
	return ""
}

// place works out the placement that the flags ask for; every mistake names the flag that mends it.
func place(c Config) (placement, error) {
	p := placement{split: map[string]string{}, peers: map[string]string{}}
	err := errors.Join(p.readPeers(c.Peers), p.readModules(c.Modules), p.readSplits(c.Splits))
	if err == nil {
		err = p.checkNeeds()
	}
	if err == nil && (len(p.peers) > 0 || len(c.Modules) > 0) && c.InternalKey == "" {
		err = errors.New("AGENTMESH_INTERNAL_KEY: modules in several processes know each other by it: set the same one for all of them")
	}
	return p, err
}

func (p *placement) readPeers(flags []string) error {
	var errs []error
	for _, flag := range flags {
		name, base, ok := strings.Cut(flag, "=")
		u, err := url.Parse(base)
		switch {
		case !ok || err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
			errs = append(errs, fmt.Errorf("--peer: %q is not NAME=URL, such as food=http://127.0.0.1:7004", flag))
		case !isModule(name):
			errs = append(errs, fmt.Errorf("--peer: %w", unknownModule(name)))
		default:
			p.peers[name] = strings.TrimSuffix(base, "/")
		}
	}
	return errors.Join(errs...)
}

// readModules takes the modules to run here: those that are named, or all that are no peers.
func (p *placement) readModules(flags []string) error {
	var errs []error
	for _, name := range flags {
		switch _, peer := p.peers[name]; {
		case !isModule(name):
			errs = append(errs, fmt.Errorf("--module: %w", unknownModule(name)))
		case peer:
			errs = append(errs, fmt.Errorf("--module: %s is named by --peer, which says that it runs elsewhere", name))
		}
	}
	for _, r := range table() {
		_, peer := p.peers[r.name]
		if slices.Contains(flags, r.name) || (len(flags) == 0 && !peer) {
			p.local = append(p.local, r.name)
		}
	}
	return errors.Join(errs...)
}

func (p *placement) readSplits(flags []string) error {
	var errs []error
	for _, flag := range flags {
		if flag == "all" {
			for _, name := range p.local {
				p.split[name] = classicPort(name)
			}
			continue
		}
		name, addr, ok := strings.Cut(flag, "=")
		if strings.HasPrefix(addr, ":") {
			addr = "127.0.0.1" + addr
		}
		switch {
		case !ok || !strings.Contains(addr, ":"):
			errs = append(errs, fmt.Errorf("--split: %q is neither NAME=ADDRESS, such as food=:7004, nor all", flag))
		case !isModule(name):
			errs = append(errs, fmt.Errorf("--split: %w", unknownModule(name)))
		case !slices.Contains(p.local, name):
			errs = append(errs, fmt.Errorf("--split: %s does not run in this process", name))
		default:
			p.split[name] = addr
		}
	}
	return errors.Join(errs...)
}

// checkNeeds finds the modules that nobody runs.
func (p *placement) checkNeeds() error {
	var errs []error
	for _, r := range table() {
		if !slices.Contains(p.local, r.name) {
			continue
		}
		for _, need := range r.needs {
			if _, peer := p.peers[need]; !peer && !slices.Contains(p.local, need) {
				errs = append(errs, fmt.Errorf("%s needs %s: add --module %s or --peer %s=URL", r.name, need, need, need))
			}
		}
	}
	return errors.Join(errs...)
}

func isModule(name string) bool {
	return slices.ContainsFunc(table(), func(r row) bool { return r.name == name })
}

func unknownModule(name string) error {
	var names []string
	for _, r := range table() {
		names = append(names, r.name)
	}
	return fmt.Errorf("there is no module %q; there are %s", name, strings.Join(names, ", "))
}
