package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/platform/sse"
)

// beTheProgram makes the test's own binary act as agentmesh, so that a test can run it as a process.
const beTheProgram = "AGENTMESH_TEST_MAIN"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "sandbox" { // it has no environment
		os.Exit(app.Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	if os.Getenv(beTheProgram) != "" {
		go collectWhenAsked()
		var options []app.Option
		if box := os.Getenv(theLetterbox); box != "" {
			options = append(options, letters(box))
		}
		os.Exit(app.Run(os.Args[1:], os.Stdout, os.Stderr, options...))
	}
	os.Exit(m.Run())
}

// collectWhenAsked collects the process's garbage at each SIGUSR1, so that a test can see what lives.
func collectWhenAsked() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for range asked {
		debug.FreeOSMemory()
	}
}

// process is a module in a process of its own.
type process struct {
	t    *testing.T
	args []string
	env  []string // beside what every process has
	cmd  *exec.Cmd
	url  string
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

var pageURL = regexp.MustCompile(`(?:page|at) +(http://\S+)/`)

// launch starts a process and waits until it says where it is.
func launch(t *testing.T, args ...string) *process { return launchWith(t, nil, args...) }

// launchWith is launch with further environment variables.
func launchWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, args: args, env: env, log: &lockedBuffer{}}
	p.start()
	t.Cleanup(func() { p.stop(syscall.SIGTERM) })
	return p
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0], append([]string{"serve", "--log-level", "info"}, p.args...)...)
	p.cmd.Env = []string{beTheProgram + "=1", "AGENTMESH_INTERNAL_KEY=key-of-the-test", "PATH=" + os.Getenv("PATH")}
	p.cmd.Env = append(p.cmd.Env, p.env...)
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := pageURL.FindStringSubmatch(lines.Text()); m != nil {
			p.url = m[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	p.t.Fatalf("%v did not start: %s", p.args, p.log)
}

func (p *process) stop(signal os.Signal) {
	if p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Signal(signal)
	_ = p.cmd.Wait()
}

func (p *process) post(path, body string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

// ask sends a message, says yes to a question, and gives the text and the trace.
func (p *process) ask(thread, message string) (text, trace string) {
	p.t.Helper()
	resp, err := p.post("/api/v1/runs", meshtest.Input(thread, message))
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("ask: %v %v", resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	for raw, err := range sse.Read(resp.Body) {
		if err != nil {
			p.t.Fatal(err)
		}
		var e agui.Event
		if err := json.Unmarshal([]byte(raw.Data), &e); err != nil {
			p.t.Fatal(err)
		}
		switch {
		case e.Type == agui.TextMessageContent:
			text += e.Delta
		case e.Name == agui.ConfirmationRequired:
			answer, err := p.post("/runs/"+resp.Header.Get("X-Run-Id")+"/confirm", `{}`)
			if err != nil || answer.StatusCode != http.StatusOK {
				p.t.Fatalf("confirm: %v %v", answer, err)
			}
			_ = answer.Body.Close()
		}
	}
	return text, resp.Header.Get("X-Trace-Id")
}

// trace runs the command that shows a trace; it finds the program by the data folder.
func (p *process) trace(dir, id string) string {
	p.t.Helper()
	var out, errs bytes.Buffer
	if status := app.Run([]string{"trace", id, "--data", dir}, &out, &errs); status != 0 {
		p.t.Fatalf("trace: %d %s", status, errs.String())
	}
	return out.String()
}

// TestFiveProcesses runs every module in a process of its own, follows one order through all of them by
// its trace, kills Food, and starts it again: the others find it.
func TestFiveProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func(module string, peers ...string) *process {
		args := []string{"--module", module, "--listen", "127.0.0.1:0", "--data", dir}
		for _, peer := range peers {
			args = append(args, "--peer", peer)
		}
		return launch(t, args...)
	}
	catalog, weather := start("mcp"), start("weather")
	food := start("food", "mcp="+catalog.url)
	gateway := start("gateway", "food="+food.url, "weather="+weather.url)
	front := start("orchestrator", "mcp="+catalog.url, "gateway="+gateway.url)

	text, trace := front.ask("t1", "帮我订一份水煮牛肉。")
	if !strings.Contains(text, "order-") || !strings.Contains(text, "32.00") {
		t.Errorf("the order was answered with %q", text)
	}
	for name, p := range map[string]*process{"catalog": catalog, "food": food, "gateway": gateway, "orchestrator": front} {
		// The line of a call that is still being answered comes when it ends.
		for end := time.Now().Add(10 * time.Second); !strings.Contains(p.log.String(), trace); {
			if time.Now().After(end) {
				t.Fatalf("the trace %s is not in the log of %s", trace, name)
			}
		}
	}
	if got := front.trace(dir, trace); !strings.Contains(got, "mcp                  tools/call list_menu_by_day") || strings.Contains(got, "missing") {
		t.Errorf("got the trace\n%s", got)
	}
	// A catalog that hangs costs its own spans, and nobody else's.
	_ = catalog.cmd.Process.Signal(syscall.SIGSTOP)
	got := front.trace(dir, trace)
	_ = catalog.cmd.Process.Signal(syscall.SIGCONT)
	if strings.Count(got, "did not answer") != 1 || !strings.Contains(got, "mcp did not answer") || !strings.Contains(got, "invoke_agent Food Agent") {
		t.Errorf("with a catalog that hangs got the trace\n%s", got)
	}
	if text, _ := front.ask("t2", "上海天气怎么样？"); !strings.Contains(text, "℃") {
		t.Errorf("the weather was answered with %q", text)
	}

	food.stop(syscall.SIGKILL)
	if text, _ := front.ask("t3", "帮我订一份水煮牛肉。"); strings.Contains(text, "order-") || text == "" {
		t.Errorf("with Food dead the order was answered with %q", text)
	}
	if got := front.trace(dir, trace); !strings.Contains(got, "food did not answer") || !strings.Contains(got, "tools/call list_menu_by_day") {
		t.Errorf("with Food dead got the trace\n%s\nwant what the others know of it", got)
	}
	if status := ready(t, gateway); status != http.StatusServiceUnavailable {
		t.Errorf("readyz of the gateway with Food dead: %d, want 503", status)
	}
	food.args = append([]string{"--module", "food", "--listen", strings.TrimPrefix(food.url, "http://"), "--data", dir}, "--peer", "mcp="+catalog.url)
	food.start()
	if text, _ := front.ask("t4", "帮我订一份水煮牛肉。"); !strings.Contains(text, "order-") {
		t.Errorf("with Food back the order was answered with %q", text)
	}
	if got := front.trace(dir, trace); !strings.Contains(got, "invoke_agent Food Agent") {
		t.Errorf("with Food back got the trace\n%s\nwant Food's spans from before it died", got)
	}
	for end := time.Now().Add(5 * time.Second); ready(t, gateway) != http.StatusOK; {
		if time.Now().After(end) {
			t.Fatal("readyz does not recover")
		}
	}
	for _, p := range []*process{front, gateway, food, weather, catalog} {
		p.stop(syscall.SIGTERM)
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("%v ended with %d: %s", p.args, code, tail(p.log.String()))
		}
	}
	checkBooks(t, dir)
}

func ready(t *testing.T, p *process) int {
	t.Helper()
	resp, err := http.Get(p.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func tail(s string) string { return fmt.Sprintf("%.400s", s[max(0, len(s)-400):]) }
