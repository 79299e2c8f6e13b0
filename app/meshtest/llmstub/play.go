package llmstub

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const eventStream = "text/event-stream; charset=utf-8"

// plan is what goes out for one request.
type plan struct {
	status  int
	headers map[string]string
	pieces  []piece
	end     string
	hang    time.Duration
	delay   time.Duration
	raw     bool
}

func (t Turn) plan(stream bool, model string) plan {
	p := plan{
		status: t.Status, headers: map[string]string{}, end: t.End, raw: t.RawHTTP != "",
		hang: time.Duration(t.HangMS) * time.Millisecond, delay: time.Duration(t.DelayMS) * time.Millisecond,
	}
	if p.status == 0 {
		p.status = http.StatusOK
	}
	text, kind := t.body(stream)
	if text == "" && t.SSE != "" {
		text, kind, p.status = errorDocument("this turn is a stream only, and the request asked for none", "stub_mode"), "application/json", http.StatusBadRequest
	}
	p.headers["Content-Type"] = kind
	if kind == eventStream {
		p.headers["Cache-Control"] = "no-cache"
	}
	for name, value := range t.Headers {
		p.headers[name] = value
	}
	cut, _ := splitter(t.Split) // checked when the case was read
	text = expand(strings.ReplaceAll(text, "{{model}}", model))
	p.pieces = cutFurther(cutMarks(text), cut, time.Duration(t.PieceDelayMS)*time.Millisecond)
	return p
}

// Bytes gives the whole of what a streaming request gets, without its pauses.
func (t Turn) Bytes() []byte {
	var whole []byte
	for _, one := range t.plan(true, "m").pieces {
		whole = append(whole, one.data...)
	}
	return whole
}

// body gives the text of an answer and its type.
func (t Turn) body(stream bool) (text, kind string) {
	switch {
	case t.RawHTTP != "":
		return t.RawHTTP, ""
	case stream && t.SSE != "":
		return t.SSE, eventStream
	case !stream && len(t.JSON) > 0:
		return string(t.JSON), "application/json"
	case t.Body != "":
		return t.Body, "application/json"
	case len(t.JSON) > 0:
		return string(t.JSON), "application/json"
	case (t.Say != "" || len(t.Call) > 0) && stream:
		return t.chunks(), eventStream
	case t.Say != "" || len(t.Call) > 0:
		return t.document(), "application/json"
	}
	return "", "application/json"
}

// send writes the plan and says how it ended.
func (p plan) send(w http.ResponseWriter, r *http.Request) string {
	if !pause(r, p.delay) {
		return "client left"
	}
	rc := http.NewResponseController(w)
	if p.raw {
		return p.sendRaw(rc, r)
	}
	for name, value := range p.headers {
		if value == "" {
			w.Header()[name] = nil // no such header at all, not even a guessed one
			continue
		}
		w.Header().Set(name, value)
	}
	w.WriteHeader(p.status)
	if rc.Flush() != nil {
		return "client left"
	}
	for _, one := range p.pieces {
		if !pause(r, one.pause) {
			return "client left"
		}
		if len(one.data) == 0 {
			continue
		}
		if _, err := w.Write(one.data); err != nil || rc.Flush() != nil {
			return "client left"
		}
	}
	return p.close(rc, r)
}

func (p plan) close(rc *http.ResponseController, r *http.Request) string {
	switch p.end {
	case "cut":
		panic(http.ErrAbortHandler)
	case "reset":
		conn, _, err := rc.Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		closeHard(conn, "reset")
		return "reset"
	case "hang":
		if p.hang == 0 {
			p.hang = 10 * time.Minute
		}
		if !pause(r, p.hang) {
			return "client left while it hung"
		}
		return "hung to the limit"
	}
	return "sent"
}

// sendRaw writes bytes that net/http would not.
func (p plan) sendRaw(rc *http.ResponseController, r *http.Request) string {
	conn, _, err := rc.Hijack()
	if err != nil {
		return fmt.Sprintf("hijack: %v", err)
	}
	defer closeHard(conn, p.end)
	for _, one := range p.pieces {
		if !pause(r, one.pause) {
			return "client left"
		}
		if _, err := conn.Write(one.data); err != nil {
			return "client left"
		}
	}
	return "sent raw"
}

func closeHard(conn net.Conn, end string) {
	if tcp, ok := conn.(*net.TCPConn); ok && end == "reset" {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// pause waits; it tells whether the client is still there.
func pause(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
