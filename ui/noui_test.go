//go:build noui

package ui

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHandler_WithoutThePage(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	if recorder.Code != http.StatusNotFound {
		t.Errorf("got status %d, want 404", recorder.Code)
	}
}
