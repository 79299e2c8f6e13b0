package fault

import (
	"encoding/json"
	"net/http"
)

// Status gives the HTTP status of a code.
func Status(code Code) int {
	switch code {
	case Invalid:
		return http.StatusBadRequest
	case NotFound:
		return http.StatusNotFound
	case Conflict:
		return http.StatusConflict
	case Denied:
		return http.StatusForbidden
	case Unavailable:
		return http.StatusServiceUnavailable
	case Gone:
		return http.StatusGone
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case RateLimited:
		return http.StatusTooManyRequests
	case Timeout:
		return http.StatusGatewayTimeout
	case Cancelled:
		return 499
	case StorageFull:
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

// FromStatus gives the code for another server's answer with an HTTP status of 400 or more. That server's own
// failure is not ours: it counts as Unavailable.
func FromStatus(status int) Code {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Denied
	case http.StatusNotFound:
		return NotFound
	case http.StatusConflict:
		return Conflict
	case http.StatusGone:
		return Gone
	case http.StatusRequestEntityTooLarge:
		return TooLarge
	case http.StatusTooManyRequests:
		return RateLimited
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return Timeout
	}
	if status >= http.StatusInternalServerError {
		return Unavailable
	}
	return Invalid
}

// Problem is an RFC 9457 problem document with our stable code and, where it helps, further members.
type Problem struct {
	Type   string
	Title  string
	Status int
	Detail string
	Code   string
	Extra  map[string]any
}

// MarshalJSON writes the members of RFC 9457 section 3 and the extension members beside them.
func (p Problem) MarshalJSON() ([]byte, error) {
	doc := make(map[string]any, len(p.Extra)+5)
	for name, value := range p.Extra {
		doc[name] = value
	}
	doc["type"], doc["title"], doc["status"] = p.Type, p.Title, p.Status
	doc["detail"], doc["code"] = p.Detail, p.Code
	return json.Marshal(doc)
}

// ProblemOf makes the problem document of an error; nothing but its safe message gets in.
func ProblemOf(err error) Problem {
	code := CodeOf(err)
	return Problem{
		Type: "about:blank", Title: http.StatusText(Status(code)), Status: Status(code),
		Detail: MessageOf(err), Code: string(code),
	}
}

// Write answers a request with the problem document of an error.
func Write(w http.ResponseWriter, err error) { WriteProblem(w, ProblemOf(err)) }

// WriteProblem answers a request with a problem document.
func WriteProblem(w http.ResponseWriter, p Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// MethodNotAllowed answers a request whose method an address does not take.
func MethodNotAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	p := ProblemOf(New(Invalid, "this address takes %s", allow))
	p.Status, p.Title = http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed)
	WriteProblem(w, p)
}
