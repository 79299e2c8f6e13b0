package llmstub

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
)

const maxRequest = 64 << 20

// Stub is an endpoint that plays cases. The model's name picks the case; with a single case any name
// does. It must be used as a pointer.
type Stub struct {
	// Strict answers HTTP 400 to what a strict provider would refuse: calls without results, no ids or
	// double ones, arguments that are no object, illegal names, empty lists, empty messages.
	Strict bool

	cases []*Case

	mu      sync.Mutex
	next    map[string]int // turns used up, by case
	records []Record
}

// Record is one request that the stub got, and how its answer ended.
type Record struct {
	Case  string
	Turn  int // the request's number among those that count, from 1; 0: it used up no turn
	Body  json.RawMessage
	Ended string // "" while the answer goes on, "cut" after an abort
}

// New makes a stub of cases.
func New(cases ...*Case) *Stub {
	return &Stub{cases: cases, next: map[string]int{}}
}

// ServeHTTP answers POST …/chat/completions and GET …/models.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	for _, prefix := range []string{"", "/v1"} {
		mux.HandleFunc("POST "+prefix+"/chat/completions", s.chat)
		mux.HandleFunc("GET "+prefix+"/models", s.models)
	}
	mux.ServeHTTP(w, r)
}

// Records gives what was asked so far.
func (s *Stub) Records() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

func (s *Stub) models(w http.ResponseWriter, _ *http.Request) {
	list := []any{}
	for _, c := range s.cases {
		list = append(list, map[string]any{"id": c.ID, "object": "model", "created": 1700000000, "owned_by": "llmstub"})
	}
	answer(w, http.StatusOK, toJSON(map[string]any{"object": "list", "data": list}))
}

func (s *Stub) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	req, err := parseRequest(body)
	if err != nil {
		answer(w, http.StatusBadRequest, errorDocument("not a chat request: "+err.Error(), "bad_json"))
		return
	}
	c := s.find(req.Model)
	if c == nil {
		answer(w, http.StatusNotFound, errorDocument("The model `"+req.Model+"` does not exist", "model_not_found"))
		return
	}
	_, strict := rules()
	faults := broken(req, strict)
	p, place := s.take(c, req, body)
	if s.Strict && len(faults) > 0 {
		for name, bad := range faults {
			answer(w, http.StatusBadRequest, errorDocument(bad[0], name))
			s.ended(place, "refused")
			return
		}
	}
	how := "cut"
	defer func() { s.ended(place, how) }()
	how = p.send(w, r)
}

func (s *Stub) find(model string) *Case {
	if len(s.cases) == 1 {
		return s.cases[0]
	}
	for _, c := range s.cases {
		if c.ID == model {
			return c
		}
	}
	return nil
}

// take records a request and picks its answer.
func (s *Stub) take(c *Case, req request, body []byte) (p plan, place int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	place = len(s.records)
	if c.Count == "with_tools" && len(req.Tools) == 0 {
		s.records = append(s.records, Record{Case: c.ID, Body: body})
		return Turn{Say: "（旁路请求）"}.plan(req.Stream, req.Model), place
	}
	at := s.next[c.ID]
	s.next[c.ID]++
	s.records = append(s.records, Record{Case: c.ID, Turn: at + 1, Body: body})
	return c.turn(at).plan(req.Stream, req.Model), place
}

// turn gives the answer at a place, and after the last one what the case says.
func (c *Case) turn(at int) Turn {
	switch {
	case at < len(c.Turns):
		return c.Turns[at]
	case c.AfterLast == "repeat":
		return c.Turns[len(c.Turns)-1]
	case c.AfterLast == "error":
		return Turn{Status: http.StatusInternalServerError, Body: errorDocument("the script is over", "stub_over")}
	}
	return Turn{Say: "（脚本已结束）"}
}

func (s *Stub) ended(place int, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[place].Ended = how
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
