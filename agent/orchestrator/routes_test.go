package orchestrator

import (
	"flag"
	"net/http"
	"net/http/httptest"
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

// Every path answers a method that it does not take with 405 and the methods that it does (RFC 9110, 15.5.6).
func TestMethodsNotTaken(t *testing.T) {
	t.Parallel()
	e := echo.New()
	e.HTTPErrorHandler = handleError
	(&Module{}).routes(e)
	for _, r := range e.Routes() {
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, httptest.NewRequest(http.MethodTrace, strings.NewReplacer(":", "", "*", "x").Replace(r.Path), http.NoBody))
		if rec.Code != http.StatusMethodNotAllowed || !strings.Contains(rec.Header().Get("Allow"), r.Method) || rec.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("TRACE %s: %d, Allow %q, want 405 with %s", r.Path, rec.Code, rec.Header().Get("Allow"), r.Method)
		}
	}
}
