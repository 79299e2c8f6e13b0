package app_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentmesh/app"
)

// serving starts the program as `serve` does, on a port of its own.
func serving(t *testing.T, change func(*app.Config)) (dir string, a *app.App) {
	t.Helper()
	c := app.Default()
	c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
	if change != nil {
		change(&c)
	}
	a, err := app.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(t.Context()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return c.Data, a
}

// run runs a command line and gives its exit status and what it wrote.
func run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = app.Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func wantWords(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s lacks %q:\n%s", what, word, text)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	dir, a := serving(t, withKeys)
	status, out, errs := run("status", "--data", dir)
	wantWords(t, "status", out, "is ready", strconv.Itoa(os.Getpid()), a.Addr(), "mcp ready", "orchestrator ready", "every caller needs a key")
	if status != 0 || errs != "" {
		t.Errorf("got %d %q, want 0", status, errs)
	}
	_, out, _ = run("status", "--data", dir, "--json")
	var report struct {
		Ready, Keys bool
		Processes   []struct {
			PID     int
			Modules map[string]string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || !report.Ready || !report.Keys || len(report.Processes) != 1 || len(report.Processes[0].Modules) != 5 {
		t.Errorf("got %v in %s", err, out)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := run("status", "--data", dir); status != 1 || out != "" || !strings.Contains(errs, "nothing runs on the data folder "+dir) {
		t.Errorf("stopped: got %d %q %q", status, out, errs)
	}
	if status, out, _ := run("status", "--data", dir, "--json"); status != 1 || !strings.Contains(out, `"processes": []`) {
		t.Errorf("stopped: got %d %q", status, out)
	}
}

func TestStatus_NotReady(t *testing.T) {
	t.Parallel()
	dir, _ := serving(t, func(c *app.Config) {
		c.Modules, c.Peers, c.InternalKey = []string{"food"}, []string{"mcp=http://127.0.0.1:1"}, internalSecret
	})
	status, out, errs := run("status", "--data", dir)
	wantWords(t, "status", out, "NOT READY", "nothing answers at its address")
	if status != 1 || !strings.Contains(errs, "not ready") || strings.Contains(out+errs, internalSecret) {
		t.Errorf("got %d %q %q", status, out, errs)
	}
}

const internalSecret = "internal-0123456789"

// TestStop stops a real process in order, and says so when there is none.
func TestStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, "--data", dir, "--listen", "127.0.0.1:0")
	if status, _, errs := run("status", "--data", dir); status != 0 {
		t.Fatalf("status: %s", errs)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	status, out, errs := run("stop", "--data", dir)
	if status != 0 || !strings.Contains(out, "stopped process "+strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("got %d %q %q", status, out, errs)
	}
	if err := <-ended; err != nil {
		t.Errorf("the process ended with %v", err)
	}
	if status, _, errs := run("stop", "--data", dir); status != 1 || !strings.Contains(errs, "nothing runs") {
		t.Errorf("again: got %d %q", status, errs)
	}
}

// The file of a process that was killed names an id which may be another program's by now.
func TestStop_RecycledID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, "--data", dir, "--listen", "127.0.0.1:0")
	p.stop(syscall.SIGKILL)
	files, err := filepath.Glob(filepath.Join(dir, "running", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v, want the dead process's file", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 600", info.Mode(), err)
	}
	innocent := exec.CommandContext(t.Context(), "sleep", "60")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = innocent.Process.Kill(); _ = innocent.Wait() }()
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(strconv.Itoa(p.cmd.Process.Pid)), []byte(strconv.Itoa(innocent.Process.Pid)), 1)
	if err := os.WriteFile(files[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := run("stop", "--data", dir); status != 1 || !strings.Contains(errs, "nothing runs") {
		t.Errorf("got %d %q %q", status, out, errs)
	}
	if err := innocent.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other program is gone: %v", err)
	}
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("the dead process's file is still there")
	}
}

// A folder that another machine or a container shares: the process id means nothing here.
func TestStop_ElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, "--data", dir, "--listen", "127.0.0.1:0")
	files, err := filepath.Glob(filepath.Join(dir, "running", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, files[0], strings.Replace(string(raw), `"host": "`+here+`"`, `"host": "elsewhere"`, 1))
	if status, _, errs := run("stop", "--data", dir); status != 1 || !strings.Contains(errs, "runs on elsewhere") {
		t.Errorf("got %d %s", status, errs)
	}
	if status := ready(t, p); status != 200 {
		t.Errorf("readyz: got %d, want the process to run on", status)
	}
}

func TestStop_InTheOrderOfNeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	catalog := launch(t, "--module", "mcp", "--data", dir, "--listen", "127.0.0.1:0")
	food := launch(t, "--module", "food", "--data", dir, "--listen", "127.0.0.1:0", "--peer", "mcp="+catalog.url)
	ended := make(chan error, 2)
	for _, p := range []*process{catalog, food} {
		go func() { ended <- p.cmd.Wait() }()
	}
	status, out, errs := run("stop", "--data", dir)
	first, second := strconv.Itoa(food.cmd.Process.Pid), strconv.Itoa(catalog.cmd.Process.Pid)
	if status != 0 || out != "stopped process "+first+"\nstopped process "+second+"\n" {
		t.Errorf("got %d %q %q", status, out, errs)
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestConfigCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	writeFile(t, file, "log-level: info\nsplit: [food=:7999]\npeer: gateway=http://me:hunter2@127.0.0.1:1\n")
	status, out, errs := run("config", "--config", file, "--listen", ":9")
	if status != 1 || !strings.Contains(errs, "AGENTMESH_INTERNAL_KEY") { // a peer needs one
		t.Errorf("got %d %s", status, errs)
	}
	wantWords(t, "config", out, "flag --listen", file+" line 1", "food=:7999", "gateway=http://…@127.0.0.1:1", "default", "llm-api-key", "not set",
		"body of a REST or AG-UI request    1 MiB", "model rounds of a run              12")
	if strings.Contains(out+errs, "hunter2") {
		t.Errorf("a password is shown:\n%s%s", out, errs)
	}
	if status, _, errs := run("config", "--config", file+".none"); status != 1 || !strings.Contains(errs, "mesh.yaml.none") {
		t.Errorf("no such file: got %d %s", status, errs)
	}
	writeFile(t, file, "LLM_API_KEY: "+secret+"\nlisten: x\nlisen: y\n")
	for _, command := range []string{"config", "serve", "doctor"} {
		status, out, errs := run(command, "--config", file, "--data", t.TempDir())
		wantWords(t, command, out+errs, "line 1: LLM_API_KEY: secrets are not taken from this file", "line 3: lisen: there is no such setting")
		if status != 1 || strings.Contains(out+errs, secret) {
			t.Errorf("%s: got %d %s%s", command, status, out, errs)
		}
	}
}

// A key is on no output of config, status and doctor, wherever it comes from.
func TestCommandsShowNoKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issued := strings.TrimSpace(command(t, "key", "add", "carol", "--data", dir))
	env := []string{"LLM_API_KEY=" + secret, "LLM_BASE_URL=http://127.0.0.1:1/v1", "AGENTMESH_API_KEYS=" + keysText, "AGENTMESH_INTERNAL_KEY=" + internalSecret}
	_, _ = serving(t, func(c *app.Config) { c.Data, c.InternalKey, c.APIKeys = dir, internalSecret, keysText })
	for _, args := range [][]string{{"config"}, {"doctor"}, {"status"}} {
		for _, format := range [][]string{nil, {"--json"}} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], append(append(args, "--data", dir), format...)...)
			cmd.Env = append(env, beTheProgram+"=1", "PATH="+os.Getenv("PATH"))
			out, _ := cmd.CombinedOutput() // doctor finds that no model answers
			if len(out) < 100 {
				t.Errorf("%v: got %s", args, out)
			}
			for _, key := range []string{secret, annsKey, botsKey, internalSecret, issued} {
				if bytes.Contains(out, []byte(key)) {
					t.Errorf("%v shows a key:\n%s", args, out)
				}
			}
			if args[0] == "config" && !bytes.Contains(out, []byte("environment LLM_API_KEY")) {
				t.Errorf("config does not say that the key is set:\n%s", out)
			}
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestServeRefusesUnknownFaults: a fault that cannot be put must not be taken for one that was survived.
func TestServeRefusesUnknownFaults(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mesh.yaml")
	for value, want := range map[string]string{"order.commit.after=explode": "explode", "order.nowhere=kill": "no such point"} {
		writeFile(t, file, "agentmesh-failpoints: "+value+"\n")
		if status, _, errs := run("serve", "--config", file, "--data", t.TempDir(), "--listen", "127.0.0.1:0"); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: got %d %s, want %q", value, status, errs, want)
		}
	}
}
