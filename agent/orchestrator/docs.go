package orchestrator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

//go:embed docs.html
var docsPage string

//go:embed docs.css
var docsStyle string

// docs shows openapi.json to people: a page without scripts, whose one style is allowed by its hash.
func (m *Module) docs(c echo.Context) error {
	page, err := renderDocs(openAPIDocument)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(docsStyle))
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+
		"'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	return c.HTMLBlob(http.StatusOK, page)
}

// What the template is given: the document in the order in which it is read.
type (
	docsView struct {
		apiDocument
		Style   template.CSS
		Groups  []docsGroup
		Schemas []docsSchema
	}
	docsGroup struct {
		Name, Description string
		Operations        []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Summary, Description string
		Parameters                             []apiParameter
		Body                                   *apiBody
		Answers                                []docsAnswer
	}
	docsAnswer struct {
		Status string
		apiResponse
	}
	docsSchema struct {
		Name    string
		Schema  apiSchema
		Members []docsMember
	}
	docsMember struct {
		Name     string
		Schema   apiSchema
		Optional bool
	}
)

func renderDocs(raw []byte) ([]byte, error) {
	d, err := readDocument(raw)
	if err != nil {
		return nil, err
	}
	page, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, err
	}
	v := docsView{apiDocument: d, Style: template.CSS(docsStyle)}
	for _, tag := range d.Tags {
		v.Groups = append(v.Groups, docsGroup{tag.Name, tag.Description, d.operations(tag.Name)})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		v.Schemas = append(v.Schemas, schemaView(name, d.Components.Schemas[name]))
	}
	var out bytes.Buffer
	err = page.Execute(&out, v)
	return out.Bytes(), err
}

// operations lists the operations of a group, by path.
func (d apiDocument) operations(tag string) []docsOperation {
	var out []docsOperation
	for path, methods := range d.Paths {
		for method, op := range methods {
			if slices.Contains(op.Tags, tag) {
				out = append(out, d.operationView(path, method, op))
			}
		}
	}
	order := []string{"GET", "POST", "PATCH", "DELETE"}
	slices.SortFunc(out, func(a, b docsOperation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(slices.Index(order, a.Method), slices.Index(order, b.Method)))
	})
	return out
}

func (d apiDocument) operationView(path, method string, op apiOperation) docsOperation {
	v := docsOperation{
		ID: op.OperationID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary,
		Description: op.Description, Body: op.RequestBody,
	}
	for _, p := range op.Parameters {
		v.Parameters = append(v.Parameters, d.parameter(p))
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		v.Answers = append(v.Answers, docsAnswer{status, d.response(op.Responses[status])})
	}
	return v
}

func schemaView(name string, s apiSchema) docsSchema {
	v := docsSchema{Name: name, Schema: s}
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		v.Members = append(v.Members, docsMember{member, s.Properties[member], !slices.Contains(s.Required, member)})
	}
	return v
}
