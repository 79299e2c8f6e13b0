package app_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// TestDemoTools are there only when they are switched on, and so is their skill (D-61).
func TestDemoTools(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		m := meshtest.Start(t, meshtest.Options{Change: func(c *app.Config) { c.DemoTools = on }})
		if skills := get(t, m, "/api/v1/skill-marketplace"); strings.Contains(skills, "builtin.demo_tools") != on {
			t.Errorf("switched on %v: got the skills %s", on, skills)
		}
		if declared := get(t, m, "/agui/capabilities"); strings.Contains(declared, "execute_python") != on || strings.Contains(declared, "web_search") != on {
			t.Errorf("switched on %v: got %s", on, declared)
		}
	}
}

// TestSandbox: the program's own binary is the child process in which execute_python runs.
func TestSandbox(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "sandbox")
	cmd.Env, cmd.Stdin = []string{}, strings.NewReader("print('水煮牛肉')\n6 * 7")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, "the output", string(out), `"printed":"水煮牛肉\n"`, `"result":"42"`)
	if _, help, _ := run("--help"); strings.Contains(help, "sandbox") {
		t.Error("the command is for the program itself, yet help shows it")
	}
}
