package orchestrator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/app/platform/fault"
)

func TestErrorsBecomeProblems(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		err    error
		status int
		code   string
		says   string
	}{
		{"fault", fault.New(fault.Gone, "too late"), 410, "gone", "too late"},
		{"bug", errors.New("password is hunter2"), 500, "internal", "internal error"},
		{"absent row", agent.ErrNotFound, 404, "not_found", "nothing with this id"},
		{"no route", echo.ErrNotFound, 404, "not_found", "no such path"},
		{"open question", &run.OpenConfirmationError{Confirmation: agent.Confirmation{ID: "conf-1"}}, 409, "confirmation_open", "conf-1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := httptest.NewRecorder()
			e := echo.New()
			handleError(c.err, e.NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), rec))
			var p struct{ Code string }
			if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			if rec.Code != c.status || p.Code != c.code || !strings.Contains(rec.Body.String(), c.says) {
				t.Errorf("got %d %s, want %d %s with %q", rec.Code, rec.Body, c.status, c.code, c.says)
			}
			if strings.Contains(rec.Body.String(), "hunter2") {
				t.Error("the cause reached the caller")
			}
		})
	}
}

func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	e := echo.New()
	err := recoverPanics(func(echo.Context) error { panic("bug") })(e.NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), rec))
	if fault.CodeOf(err) != fault.Internal {
		t.Errorf("got %v", err)
	}
}
