package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
	"agentmesh/store"
)

// runningFolder is where each process of a data folder says what it is.
const runningFolder = "running"

// instance is what a process writes down for the commands of its data folder, in a file for its owner
// alone that it keeps locked while it lives. The lock, not the process id, proves that it runs: an id may
// be given to another program, a lock goes with the process.
type instance struct {
	PID             int               `json:"pid"`
	Host            string            `json:"host"` // the machine or container in which the id means something
	Version         string            `json:"version"`
	URL             string            `json:"url"`    // where this machine reaches the main listener
	Listen          []string          `json:"listen"` // all addresses
	StartedAt       time.Time         `json:"startedAt"`
	Modules         []string          `json:"modules"`
	Peers           map[string]string `json:"peers"`
	EnvironmentKeys bool              `json:"environmentKeys"` // callers' keys beside those of the folder
	Insecure        bool              `json:"insecure"`        // --insecure
	OperatorKey     string            `json:"operatorKey"`

	path string
}

// announcement is the file of this process.
type announcement struct {
	path string
	lock *os.File
}

// announce writes the file. It gets its name when it is locked and whole, so nobody sees it otherwise.
func announce(data string, i instance) (*announcement, error) {
	folder := filepath.Join(data, runningFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("announce: %w", err)
	}
	raw, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("announce: %w", err)
	}
	a := &announcement{path: filepath.Join(folder, flow.NewID("process")+".json")}
	next := a.path + ".next"
	if a.lock, err = store.Lock(next); err != nil {
		return nil, fmt.Errorf("announce: %w", err)
	}
	if _, err = a.lock.Write(append(raw, '\n')); err == nil {
		err = os.Rename(next, a.path)
	}
	if err != nil {
		return nil, fmt.Errorf("announce: %w", errors.Join(err, os.Remove(next), a.lock.Close()))
	}
	return a, nil
}

// Close takes the file away.
func (a *announcement) Close() error { return errors.Join(os.Remove(a.path), a.lock.Close()) }

// running lists the processes of a data folder, in the order of their start. What dead ones left is
// removed.
func running(data string) ([]instance, error) {
	if !store.HasLocks {
		return nil, errors.New("what runs on a data folder cannot be told on this system: it has no file locks")
	}
	paths, err := filepath.Glob(filepath.Join(escapeGlob(data), runningFolder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var out []instance
	for _, path := range paths {
		i, err := readInstance(path)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b instance) int { return a.StartedAt.Compare(b.StartedAt) })
	return out, nil
}

var errGone = errors.New("the process is gone")

func readInstance(path string) (instance, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return instance{}, errGone
	}
	if err != nil {
		return instance{}, err
	}
	if gone, err := isGone(path); gone || err != nil {
		return instance{}, cmp.Or(err, errGone)
	}
	i := instance{path: path}
	if err := json.Unmarshal(raw, &i); err != nil || i.PID < 2 {
		return instance{}, fmt.Errorf("%s is in use, but does not say by whom", path)
	}
	return i, nil
}

// isGone tells whether the process that wrote a file has ended, and then removes the file.
func isGone(path string) (bool, error) {
	lock, err := store.Lock(path)
	if errors.Is(err, store.ErrInUse) {
		return false, nil
	}
	if errors.Is(err, fs.ErrNotExist) { // the folder is gone too
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) { // it took its file away itself, just now
		err = nil
	}
	return true, errors.Join(err, lock.Close())
}

// holder gives the id of a process that has a database of the folder open. One that is not announced is
// starting, or has ended its service and is closing.
func holder(data string) (pid string) {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(data), spansFolder, "*.lock")) // the pattern is good
	paths = append(paths, filepath.Join(data, runFile+".lock"), filepath.Join(data, catalogFile+".lock"))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		lock, err := store.Lock(path)
		if errors.Is(err, store.ErrInUse) {
			return strings.TrimSpace(string(raw))
		}
		if err == nil {
			_ = lock.Close()
		}
	}
	return ""
}

// nothingRuns says so in words, or what else there is.
func nothingRuns(data string) error {
	if pid := holder(data); pid != "" {
		return fmt.Errorf("process %s has the databases of %s open, but does not serve yet, or no more", pid, data)
	}
	return fmt.Errorf("nothing runs on the data folder %s", data)
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// instance describes this process as it runs.
func (a *App) instance() instance {
	i := instance{
		PID: os.Getpid(), Host: hostname(), Version: Version, URL: "http://" + dialable(a.Addr()), Listen: []string{a.Addr()}, StartedAt: time.Now().UTC(),
		Modules: a.place.local, Peers: a.place.peers, EnvironmentKeys: len(a.keys.fixed) > 0, Insecure: a.config.Insecure, OperatorKey: a.wiring.network.OperatorKey(),
	}
	for _, name := range a.place.local {
		if _, split := a.place.split[name]; split {
			i.Listen = append(i.Listen, strings.TrimPrefix(a.wiring.network.BaseURL(name), "http://"))
		}
	}
	return i
}

func hostname() string {
	name, _ := os.Hostname() // without one, all are the same
	return name
}

// dialable gives the address by which this machine reaches a listener that may be on all addresses.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	if err != nil || ip == nil || !ip.IsUnspecified() {
		return addr
	}
	if ip.To4() != nil {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return net.JoinHostPort("::1", port)
}

// operatorTransport adds the operator's key. It is for the addresses that a process of the data folder names.
type operatorTransport struct {
	key  string
	base *http.Transport
}

func (t operatorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set(mesh.HeaderOperator, t.key)
	return t.base.RoundTrip(out)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the pool.
func (t operatorTransport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// client reaches modules with the operator's key.
func (i instance) client() *http.Client {
	return &http.Client{
		Transport: operatorTransport{i.OperatorKey, http.DefaultTransport.(*http.Transport).Clone()}, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// readiness is the answer of /readyz.
type readiness struct {
	Modules map[string]string `json:"modules"`
	Peers   map[string]string `json:"peers"`
	Books   string            `json:"books"`
}

// ready asks the process whether all its parts can serve, and what each says.
func (i instance) ready(ctx context.Context) (readiness, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*readyTime)
	defer cancel()
	var out readiness
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.URL+"/readyz", http.NoBody)
	if err != nil {
		return out, false, fmt.Errorf("ask %s: %w", i.URL, err)
	}
	client := i.client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return out, false, fmt.Errorf("it does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&out); err != nil || len(out.Modules) == 0 {
		return out, false, fmt.Errorf("what answers at %s is another program (HTTP %d)", i.URL, resp.StatusCode)
	}
	return out, resp.StatusCode == http.StatusOK, nil
}
