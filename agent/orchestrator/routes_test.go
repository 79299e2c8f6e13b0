package orchestrator

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGoldenRoutes lists every route, so that a change of the API is seen in review.
func TestGoldenRoutes(t *testing.T) {
	t.Parallel()
	e := echo.New()
	(&Module{}).routes(e)
	var lines []string
	for _, r := range e.Routes() {
		lines = append(lines, r.Method+" "+r.Path)
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	const path = "testdata/routes.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the routes changed (make golden rewrites %s):\n%s", path, got)
	}
}
