package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says which packages of ours each package may import, besides app/platform/…, which everybody
// may; "..." is all of them. Whoever adds a package adds a line: a package without one fails the test.
func allowed() map[string]string {
	return map[string]string{
		"main":                    "app",
		"app":                     "...",
		"app/meshtest":            "...",
		"app/meshtest/llmstub":    "",
		"app/platform":            "",
		"app/crash":               "...",
		"app/platform/fault":      "",
		"app/platform/failpoint":  "",
		"app/platform/flow":       "",
		"app/platform/sse":        "",
		"app/platform/mesh":       "",
		"app/platform/limit":      "",
		"app/platform/redact":     "",
		"app/platform/numeral":    "",
		"app/platform/text":       "",
		"app/platform/identity":   "",
		"app/platform/span":       "",
		"app/platform/wrap":       "",
		"capability":              "",
		"mcp":                     "",
		"a2a":                     "",
		"store":                   "",
		"agent":                   "capability",
		"skills":                  "capability",
		"agent/run":               "agent capability skills",
		"agent/order":             "agent capability",
		"agent/agui/aguicheck":    "",
		"agent/agui":              "agent capability",
		"agent/trace":             "agent capability",
		"agent/schedule":          "agent agent/run capability",
		"agent/orchestrator":      "capability agent skills agent/run agent/order agent/agui agent/trace agent/schedule",
		"agent/food":              "a2a mcp capability",
		"agent/weather":           "a2a capability",
		"mcp/catalog":             "mcp",
		"a2a/gateway":             "a2a capability",
		"ui":                      "",
		"agent/models":            "agent",
		"agent/openai":            "agent capability",
		"agent/demo":              "",
		"capability/localtool":    "capability agent",
		"capability/mcptool":      "capability mcp",
		"capability/starlarktool": "capability",
		"capability/a2atool":      "capability a2a",
		"store/rundb":             "store agent agent/order agent/schedule capability skills",
		"store/catalogdb":         "store mcp/catalog",
		"store/spandb":            "store",
		"store/storetest":         "store",
	}
}

// doors says who may import each dependency. One that has no door needs a decision record first.
func doors() map[string]string {
	return map[string]string{
		"github.com/labstack/echo/v4":            "agent/orchestrator",
		"github.com/mattn/go-sqlite3":            "store",
		"github.com/openai/openai-go/v3":         "agent/openai",
		"github.com/spf13/cobra":                 "app",
		"github.com/spf13/pflag":                 "app",
		"github.com/rs/zerolog":                  "app/platform/flow app",
		"go.yaml.in/yaml/v3":                     "app",
		"github.com/prometheus/client_golang":    "app",
		"github.com/modelcontextprotocol/go-sdk": "mcp",
		"github.com/a2aproject/a2a-go/v2":        "a2a",
		"github.com/google/jsonschema-go":        "capability",
		"github.com/robfig/cron/v3":              "agent/schedule",
		"go.starlark.net":                        "capability/starlarktool",
	}
}

const module = "agentmesh"

// testOnly are the folders that only tests may import.
func testOnly() []string { return []string{"app/meshtest", "store/storetest", "agent/agui/aguicheck"} }

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// breaches lists what is against the rules.
func breaches(packages []pkg, allowed, doors map[string]string) []string {
	var out []string
	for _, p := range packages {
		name := nameOf(p.ImportPath)
		rule, known := allowed[name]
		if !known {
			out = append(out, name+" has no rule: add a line to allowed")
			continue
		}
		for _, path := range p.Imports {
			if ours(path) && !mayImport(name, rule, nameOf(path)) {
				out = append(out, name+" must not import "+nameOf(path))
			}
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if why := throughDoor(name, path, doors); why != "" {
				out = append(out, why)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func forTests(name string) bool {
	return slices.ContainsFunc(testOnly(), func(folder string) bool { return name == folder || below(name, folder) })
}

// mayImport judges an import that is not a test's. Tests may join any packages of ours.
func mayImport(name, rule, path string) bool {
	if forTests(path) {
		return forTests(name)
	}
	switch {
	case path == name || below(path, "app/platform"):
		return true
	case path == "app":
		return rule == "app" || below(name, "app") && rule == "..."
	}
	return rule == "..." || slices.Contains(strings.Fields(rule), path)
}

func throughDoor(name, path string, doors map[string]string) string {
	first, _, _ := strings.Cut(path, "/")
	if ours(path) || !strings.Contains(first, ".") {
		return ""
	}
	for dependency, owners := range doors {
		if path == dependency || below(path, dependency) {
			if slices.Contains(strings.Fields(owners), name) {
				return ""
			}
			return fmt.Sprintf("%s must not import %s: its door is %s", name, path, owners)
		}
	}
	return fmt.Sprintf("%s imports %s, which has no door: write a decision record and add a line to doors", name, path)
}

func ours(path string) bool        { return path == module || below(path, module) }
func below(path, over string) bool { return strings.HasPrefix(path, over+"/") }

func nameOf(path string) string {
	if path == module {
		return "main"
	}
	return strings.TrimPrefix(path, module+"/")
}

// list reads the whole tree, whether it compiles or not.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-tags", "sqlite_fts5",
		"-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportRule(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 20 {
		t.Errorf("got %d packages, want the whole tree", len(packages))
	}
	for _, b := range breaches(packages, allowed(), doors()) {
		t.Error(b)
	}
}

// TestImportRule_Itself shows that the checker finds each kind of breach.
func TestImportRule_Itself(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		pkg  pkg
		want string
	}{
		{"allowed", pkg{ImportPath: "agentmesh/agent/food", Imports: []string{"context", "encoding/json", "agentmesh/a2a", "agentmesh/app/platform/flow"}}, ""},
		{"main_imports_app", pkg{ImportPath: "agentmesh", Imports: []string{"os", "agentmesh/app"}}, ""},
		{"app_imports_an_adapter", pkg{ImportPath: "agentmesh/app", Imports: []string{"agentmesh/store/rundb"}}, ""},
		{"a_door", pkg{ImportPath: "agentmesh/agent/openai", Imports: []string{"github.com/openai/openai-go/v3/option"}}, ""},
		{"tests_join_packages", pkg{ImportPath: "agentmesh/agent/run", XTestImports: []string{"agentmesh/store/rundb", "agentmesh/app/meshtest/llmstub"}}, ""},
		{"no_rule", pkg{ImportPath: "agentmesh/agent/new"}, "agent/new has no rule"},
		{"upwards", pkg{ImportPath: "agentmesh/capability", Imports: []string{"agentmesh/agent"}}, "capability must not import agent"},
		{"module_to_module", pkg{ImportPath: "agentmesh/agent/food", Imports: []string{"agentmesh/mcp/catalog"}}, "agent/food must not import mcp/catalog"},
		{"engine_to_adapter", pkg{ImportPath: "agentmesh/agent/run", Imports: []string{"agentmesh/store/rundb"}}, "agent/run must not import store/rundb"},
		{"app_from_below", pkg{ImportPath: "agentmesh/agent/demo", Imports: []string{"agentmesh/app"}}, "agent/demo must not import app"},
		{"foreign_door", pkg{ImportPath: "agentmesh/agent/run", Imports: []string{"github.com/rs/zerolog"}}, "its door is app/platform/flow"},
		{"foreign_door_in_a_test", pkg{ImportPath: "agentmesh/agent/run", TestImports: []string{"github.com/mattn/go-sqlite3"}}, "its door is store"},
		{"no_door", pkg{ImportPath: "agentmesh/agent/run", Imports: []string{"github.com/stretchr/testify/assert"}}, "has no door"},
		{"no_door_by_a_similar_name", pkg{ImportPath: "agentmesh/agent/openai", Imports: []string{"github.com/openai/openai-go/v34"}}, "has no door"},
		{"test_helper_in_the_program", pkg{ImportPath: "agentmesh/app", Imports: []string{"agentmesh/app/meshtest/llmstub"}}, "app must not import app/meshtest/llmstub"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(breaches([]pkg{tt.pkg}, allowed(), doors()), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
