package orchestrator

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// elsewhere are the paths in openapi.json that the program around the module serves; app's tests ask them.
func elsewhere() []string { return []string{"GET /healthz", "GET /metrics", "GET /readyz"} }

func described(t *testing.T) apiDocument {
	t.Helper()
	d, err := readDocument(openAPIDocument)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpenAPIHasTheRoutes(t *testing.T) {
	t.Parallel()
	e := echo.New()
	(&Module{}).routes(e)
	parameter := regexp.MustCompile(`:(\w+)`)
	routes := elsewhere()
	for _, r := range e.Routes() {
		path := strings.ReplaceAll(parameter.ReplaceAllString(r.Path, "{$1}"), "*", "{file}")
		routes = append(routes, r.Method+" "+path)
	}
	var documented []string
	for path, methods := range described(t).Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	for _, r := range routes {
		if !slices.Contains(documented, r) {
			t.Errorf("openapi.json lacks %s", r)
		}
	}
	for _, d := range documented {
		if !slices.Contains(routes, d) {
			t.Errorf("openapi.json has %s, which is no route", d)
		}
	}
}

func TestOpenAPIReferencesResolve(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal(openAPIDocument, &document); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				if !resolves(document, ref) {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(document)
	d := described(t)
	for name := range d.Components.Schemas {
		if !used["#/components/schemas/"+name] {
			t.Errorf("the schema %s is not used", name)
		}
	}
	for name := range d.Components.Responses {
		if !used["#/components/responses/"+name] {
			t.Errorf("the answer %s is not used", name)
		}
	}
}

// resolves follows a JSON pointer.
func resolves(document any, ref string) bool {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return false
	}
	for step := range strings.SplitSeq(path, "/") {
		members, _ := document.(map[string]any)
		if document, ok = members[step]; !ok {
			return false
		}
	}
	return true
}

func TestOpenAPIOperationsAreWhole(t *testing.T) {
	t.Parallel()
	d := described(t)
	if !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Errorf("it is OpenAPI %s, want 3.1", d.OpenAPI)
	}
	ids := map[string]string{}
	placeholder := regexp.MustCompile(`\{(\w+)\}`)
	for path, methods := range d.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			if other, taken := ids[op.OperationID]; taken || op.OperationID == "" {
				t.Errorf("%s has the operationId %q, as %s has", name, op.OperationID, other)
			}
			ids[op.OperationID] = name
			if len(op.Tags) != 1 || !slices.ContainsFunc(d.Tags, func(tag struct{ Name, Description string }) bool { return tag.Name == op.Tags[0] }) {
				t.Errorf("%s has the tags %v, want one that is described", name, op.Tags)
			}
			if _, ok := d.response(op.Responses["default"]).Content["application/problem+json"]; !ok {
				t.Errorf("%s has no problem document", name)
			}
			var inPath []string
			for _, p := range op.Parameters {
				if p = d.parameter(p); p.In == "path" {
					inPath = append(inPath, p.Name)
				}
			}
			for _, found := range placeholder.FindAllStringSubmatch(path, -1) {
				if !slices.Contains(inPath, found[1]) {
					t.Errorf("%s does not describe {%s}", name, found[1])
				}
			}
		}
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	New(Deps{Page: http.NotFoundHandler()}).Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/docs", http.NoBody))
	body := rec.Body.String()
	if rec.Code != http.StatusOK || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("got %d %s", rec.Code, rec.Header())
	}
	_, style, _ := strings.Cut(body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := rec.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy %q does not allow the page's style", policy)
	}
	for _, never := range []string{"<script", "style=", "http://", "https://", "ZgotmplZ", "onclick"} {
		if strings.Contains(body, never) {
			t.Errorf("the page has %q", never)
		}
	}
	targets := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(body, -1)
	for _, target := range targets {
		if !strings.Contains(body, `id="`+target[1]+`"`) {
			t.Errorf("the link to #%s leads nowhere", target[1])
		}
	}
	for path := range described(t).Paths {
		if !strings.Contains(body, "<code>"+path+"</code>") {
			t.Errorf("the page lacks %s", path)
		}
	}
	if len(targets) < 60 {
		t.Errorf("the page has %d links within, want more", len(targets))
	}
}
