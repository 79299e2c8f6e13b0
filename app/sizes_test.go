package app_test

import (
	"flag"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The long forms of some tests are these flags, which targets of the Makefile set. The short forms run in CI.
var (
	buyersRounds = flag.Int("buyers.rounds", 2, "rounds in which fifty buyers want ten portions")
	soakRuns     = flag.Int("soak.runs", 300, "runs of the soak")
	soakWaiting  = flag.Int("soak.waiting", 20, "questions that stay open during the soak")
	writersTime  = flag.Duration("writers.time", 3*time.Second, "how long fifty clients write at once")
)

// figures reads what a process tells of itself in the text form of /metrics: name with labels, and value.
func (p *process) figures() map[string]float64 {
	p.t.Helper()
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64); err == nil {
			out[line[:at]] = n
		}
	}
	return out
}

// bad is what no log of a sound process has.
var bad = regexp.MustCompile(`database is locked|panic|"level":"error"|SQLITE_BUSY`)

// checkSound says what went wrong in a process: an answer of 5xx by any module, or a line of the log.
func checkSound(t *testing.T, p *process) {
	t.Helper()
	for name, n := range p.figures() {
		if strings.HasPrefix(name, "agentmesh_http_requests_total") && strings.Contains(name, `"5xx"`) && n > 0 {
			t.Errorf("%s is %v, want no such answer", name, n)
		}
	}
	for line := range strings.Lines(p.log.String()) {
		if bad.MatchString(line) {
			t.Errorf("the log has %.400s", line)
		}
	}
}
