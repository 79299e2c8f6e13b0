package app

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// Each row of the table needs only rows above it: start follows the table, stop goes backward.
func TestTableIsInOrder(t *testing.T) {
	t.Parallel()
	var above []string
	for _, r := range table() {
		for _, need := range r.needs {
			if !slices.Contains(above, need) {
				t.Errorf("%s needs %s, which does not stand above it", r.name, need)
			}
		}
		above = append(above, r.name)
	}
}

func TestDotEnv(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/.env"
	write(t, path, "# a comment\nLLM_MODEL=\"my model\"\nexport LLM_API_KEY = 'k=1'\n\nEMPTY=\n")
	got, err := readDotEnv(path)
	if err != nil || got["LLM_MODEL"] != "my model" || got["LLM_API_KEY"] != "k=1" || got["EMPTY"] != "" {
		t.Errorf("got %q, %v", got, err)
	}
	write(t, path, "no equals sign\n")
	if _, err := readDotEnv(path); err == nil {
		t.Error("a line without = was taken")
	}
	if got, err := readDotEnv(path + ".none"); err != nil || len(got) != 0 {
		t.Errorf("no file: got %q, %v", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsOrder(t *testing.T) {
	t.Parallel()
	c := Config{}
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.bindFlags(fs)
	if err := fs.Parse([]string{"--listen", ":9"}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AGENTMESH_LISTEN": ":8", "AGENTMESH_DATA": "elsewhere", "DEMO_TOOLS_ENABLED": "true", "AGENTMESH_ALLOW_HOST": "a, b", "LLM_MODEL": ""}
	from, err := c.load(fs, sources{
		environment: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		dotEnv:      map[string]string{"AGENTMESH_LISTEN": ":7", "AGENTMESH_DATA": "nowhere", "AGENTMESH_LOG_LEVEL": "debug", "LLM_API_KEY": "k"},
		file:        map[string]fileValue{"log-level": {"info", 1}, "recovery": {"fail", 2}, "llm-model": {"other", 3}, "split": {"food=:1,mcp=:2", 4}},
		fileName:    "x.yaml",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":9" || c.Data != "elsewhere" || !c.DemoTools || c.ConfirmationTTL != 300*time.Second || len(c.AllowHosts) != 2 ||
		c.LogLevel != "debug" || c.Recovery != "fail" || c.LLMModel != "gpt-4o-mini" || len(c.Splits) != 2 {
		t.Errorf("flag before environment before .env before file before default: got %+v", c)
	}
	for name, want := range map[string]string{
		"listen": "flag --listen", "data": "environment AGENTMESH_DATA", "log-level": ".env AGENTMESH_LOG_LEVEL", "recovery": "x.yaml line 2",
		"time-zone": "default", "llm-model": "default", "llm-api-key": ".env LLM_API_KEY",
	} {
		if from[name] != want {
			t.Errorf("%s: got from %q, want %q", name, from[name], want)
		}
	}
}

// TestModelKeys: a model's key comes from the variable that is named, wherever that is set, and is hidden.
func TestModelKeys(t *testing.T) {
	t.Parallel()
	c := Config{}
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.bindFlags(fs)
	_, err := c.load(fs, sources{
		environment: func(name string) (string, bool) { return "key-of-the-environment", name == "A_KEY" },
		dotEnv:      map[string]string{"A_KEY": "key-that-is-not-taken", "B_KEY": "key-of-dot-env"},
		file:        map[string]fileValue{"models": {`[{"name":"a","key_env":"A_KEY"},{"name":"b","key_env":"B_KEY"},{"name":"c"}]`, 1}},
	})
	if err != nil || len(c.Models) != 3 || c.Models[0].Key != "key-of-the-environment" || c.Models[1].Key != "key-of-dot-env" || c.Models[2].Key != "" {
		t.Errorf("got %+v, %v", c.Models, err)
	}
	if got := c.secrets().Text("key-of-the-environment key-of-dot-env"); strings.Contains(got, "key-of") {
		t.Errorf("got %q, want both hidden", got)
	}
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/agentmesh.yaml"
	if got, err := readConfigFile(path, false); err != nil || len(got) != 0 {
		t.Errorf("no file: got %v, %v", got, err)
	}
	if _, err := readConfigFile(path, true); err == nil {
		t.Error("a file that was asked for and is not there was taken")
	}
	write(t, path, "# ours\nlisten: :9000\nsplit: [food=:7004, mcp=:7100]\nmodule: mcp\ninsecure: true\nrecovery:\nllm-base-url: http://x/v1\n")
	got, err := readConfigFile(path, false)
	if err != nil || got["listen"].text != ":9000" || got["split"] != (fileValue{"food=:7004,mcp=:7100", 3}) || got["module"].text != "mcp" || got["recovery"].text != "" {
		t.Errorf("got %v, %v", got, err)
	}
	write(t, path, "listne: x\nLLM_API_KEY: sk-abc\nagentmesh-internal-key: sk-abc\ndata: [a, b]\nsplit: [{a: b}]\nlog_level: info\n")
	_, err = readConfigFile(path, false)
	for _, want := range []string{
		"line 1: listne: there is no such setting", "line 2: LLM_API_KEY: secrets are not taken", "line 3: agentmesh-internal-key: secrets",
		"line 4: data: it takes one value", "line 5: split: each", "line 6: log_level: write it as log-level",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the mistakes lack %q: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "sk-abc") {
		t.Errorf("a secret is shown: %v", err)
	}
	for _, wrong := range []string{"- a\n", "a: b: c\n", "listen: a\nlisten: b\n"} {
		write(t, path, wrong)
		if _, err := readConfigFile(path, false); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
	write(t, path, "# nothing\n")
	if got, err := readConfigFile(path, false); err != nil || len(got) != 0 {
		t.Errorf("comments only: got %v, %v", got, err)
	}
}
