package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	cause := errors.New("password is hunter2")
	tests := []struct {
		name    string
		err     error
		code    fault.Code
		message string
		status  int
	}{
		{"none", nil, "", "internal error", 500},
		{"invalid", fault.New(fault.Invalid, "bad %d", 7), fault.Invalid, "bad 7", 400},
		{"denied", fault.New(fault.Denied, "no"), fault.Denied, "no", 403},
		{"not_found", fault.New(fault.NotFound, "no"), fault.NotFound, "no", 404},
		{"conflict", fault.New(fault.Conflict, "no"), fault.Conflict, "no", 409},
		{"gone", fault.New(fault.Gone, "no"), fault.Gone, "no", 410},
		{"too_large", fault.New(fault.TooLarge, "no"), fault.TooLarge, "no", 413},
		{"rate_limited", fault.New(fault.RateLimited, "no"), fault.RateLimited, "no", 429},
		{"cancelled", fault.New(fault.Cancelled, "no"), fault.Cancelled, "no", 499},
		{"internal", fault.New(fault.Internal, "no"), fault.Internal, "no", 500},
		{"unavailable", fault.New(fault.Unavailable, "no"), fault.Unavailable, "no", 503},
		{"timeout", fault.New(fault.Timeout, "no"), fault.Timeout, "no", 504},
		{"wrapped", fmt.Errorf("load: %w", fault.Wrap(cause, fault.Gone, "late")), fault.Gone, "late", 410},
		{"the_outer_fault_counts", fault.Wrap(fault.New(fault.NotFound, "in"), fault.Conflict, "out"), fault.Conflict, "out", 409},
		{"deadline", fmt.Errorf("call: %w", context.DeadlineExceeded), fault.Timeout, "timed out", 504},
		{"context_cancelled", context.Canceled, fault.Cancelled, "cancelled", 499},
		{"foreign_error_is_not_shown", cause, fault.Internal, "internal error", 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := fault.CodeOf(tt.err)
			if code != tt.code || fault.MessageOf(tt.err) != tt.message || fault.Status(code) != tt.status {
				t.Errorf("got %q, %q, %d, want %q, %q, %d", code, fault.MessageOf(tt.err), fault.Status(code), tt.code, tt.message, tt.status)
			}
		})
	}
}

func TestError_KeepsItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	err := fault.Wrap(cause, fault.Internal, "not saved")
	if !errors.Is(err, cause) || err.Error() != "not saved: disk full" || fault.MessageOf(err) != "not saved" {
		t.Errorf("got %q and %q", err.Error(), fault.MessageOf(err))
	}
}

func TestWrite_Problem(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	fault.Write(w, fmt.Errorf("save: %w", fault.Wrap(errors.New("hunter2"), fault.Conflict, "已经有了")))
	if w.Code != 409 || w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
	if strings.Contains(w.Body.String(), "hunter2") {
		t.Errorf("the cause is shown: %s", w.Body)
	}
	var doc map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "about:blank", "title": "Conflict", "status": 409.0, "detail": "已经有了", "code": "conflict"}
	for name, value := range want {
		if doc[name] != value {
			t.Errorf("%s: got %v, want %v", name, doc[name], value)
		}
	}
}

func TestProblem_FurtherMembersDoNotHideTheStandardOnes(t *testing.T) {
	t.Parallel()
	p := fault.ProblemOf(fault.New(fault.Gone, "late"))
	p.Extra = map[string]any{"status": 200, "confirmation": map[string]string{"confirmationId": "c"}}
	raw, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(raw), `"status":410`) || !strings.Contains(string(raw), `"confirmationId":"c"`) {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]bool{
		fault.Invalid: true, fault.Cancelled: true, fault.Internal: true, fault.Timeout: true, "": false, "../": false, "Invalid": false,
	} {
		if got := fault.Known(code); got != want {
			t.Errorf("%q: got %v, want %v", code, got, want)
		}
	}
}

func TestFromStatus(t *testing.T) {
	t.Parallel()
	for _, code := range []fault.Code{
		fault.Invalid, fault.NotFound, fault.Conflict, fault.Denied, fault.Unavailable, fault.Gone, fault.TooLarge, fault.RateLimited, fault.Timeout,
	} {
		if got := fault.FromStatus(fault.Status(code)); got != code {
			t.Errorf("%s: got %s back", code, got)
		}
	}
	for status, want := range map[int]fault.Code{401: fault.Denied, 408: fault.Timeout, 418: fault.Invalid, 500: fault.Unavailable, 502: fault.Unavailable} {
		if got := fault.FromStatus(status); got != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	fault.MethodNotAllowed(w, "GET, HEAD")
	if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" || !strings.Contains(w.Body.String(), `"title":"Method Not Allowed"`) {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}
