package app

import (
	"os"
	"slices"
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
	env := map[string]string{"AGENTMESH_LISTEN": ":8", "AGENTMESH_DATA": "elsewhere", "DEMO_TOOLS_ENABLED": "true", "AGENTMESH_ALLOW_HOST": "a, b"}
	err := c.readEnvironment(fs, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":9" || c.Data != "elsewhere" || !c.DemoTools || c.ConfirmationTTL != 300*time.Second || len(c.AllowHosts) != 2 {
		t.Errorf("flag before environment before default: got %+v", c)
	}
}
