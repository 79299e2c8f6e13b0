package app_test

import (
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
