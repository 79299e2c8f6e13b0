package orchestrator

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"
)

// openapi.json describes every path that is not a protocol of its own. It is written by hand; a test keeps
// it equal to the routes.
//
//go:embed openapi.json
var openAPIDocument []byte

func (m *Module) openAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/json", openAPIDocument)
}

// The parts of an OpenAPI 3.1 document that ours uses.
type (
	apiDocument struct {
		OpenAPI    string                               `json:"openapi"`
		Info       struct{ Title, Description string }  `json:"info"`
		Tags       []struct{ Name, Description string } `json:"tags"`
		Paths      map[string]map[string]apiOperation   `json:"paths"`
		Components struct {
			Parameters map[string]apiParameter `json:"parameters"`
			Responses  map[string]apiResponse  `json:"responses"`
			Schemas    map[string]apiSchema    `json:"schemas"`
		} `json:"components"`
	}
	apiOperation struct {
		OperationID string                 `json:"operationId"`
		Tags        []string               `json:"tags"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description"`
		Parameters  []apiParameter         `json:"parameters"`
		RequestBody *apiBody               `json:"requestBody"`
		Responses   map[string]apiResponse `json:"responses"`
	}
	apiParameter struct {
		Ref         string    `json:"$ref"`
		Name        string    `json:"name"`
		In          string    `json:"in"`
		Description string    `json:"description"`
		Required    bool      `json:"required"`
		Schema      apiSchema `json:"schema"`
	}
	apiBody struct {
		Required bool       `json:"required"`
		Content  apiContent `json:"content"`
	}
	apiResponse struct {
		Ref         string     `json:"$ref"`
		Description string     `json:"description"`
		Content     apiContent `json:"content"`
	}
	apiContent map[string]struct {
		Schema apiSchema `json:"schema"`
	}
	apiSchema struct {
		Ref         string               `json:"$ref"`
		Type        string               `json:"type"`
		Format      string               `json:"format"`
		Description string               `json:"description"`
		Enum        []string             `json:"enum"`
		Items       *apiSchema           `json:"items"`
		Properties  map[string]apiSchema `json:"properties"`
		Required    []string             `json:"required"`
		Minimum     *int                 `json:"minimum"`
		Maximum     *int                 `json:"maximum"`
		MinLength   *int                 `json:"minLength"`
		MaxLength   *int                 `json:"maxLength"`
	}
)

// RefName is the last part of a reference.
func (s apiSchema) RefName() string { return path.Base(s.Ref) }

// Limits says in words what a value is bound to.
func (s apiSchema) Limits() string {
	var out []string
	for _, l := range []struct {
		words string
		value *int
	}{{"from %d", s.Minimum}, {"to %d", s.Maximum}, {"from %d", s.MinLength}, {"to %d characters", s.MaxLength}} {
		if l.value != nil {
			out = append(out, fmt.Sprintf(l.words, *l.value))
		}
	}
	return strings.Join(out, " ")
}

func readDocument(raw []byte) (apiDocument, error) {
	var d apiDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return apiDocument{}, fmt.Errorf("read openapi.json: %w", err)
	}
	return d, nil
}

// parameter and response follow a reference into the components.
func (d apiDocument) parameter(p apiParameter) apiParameter {
	if p.Ref == "" {
		return p
	}
	return d.Components.Parameters[path.Base(p.Ref)]
}

func (d apiDocument) response(r apiResponse) apiResponse {
	if r.Ref == "" {
		return r
	}
	return d.Components.Responses[path.Base(r.Ref)]
}
