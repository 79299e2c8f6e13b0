package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// How many characters go into one piece of text and of arguments.
const (
	textPiece     = 4
	argumentPiece = 24
)

// stream sends the answer as server-sent events and stops as soon as the client is gone.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, answer reply, withUsage bool) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{done: r.Context().Done(), w: w, flush: http.NewResponseController(w).Flush, delay: h.delay}
	send := func(delta map[string]any, finish any) { out.send(answer.chunk(delta, finish, withUsage)) }

	send(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(answer.text, textPiece) {
		out.pause()
		send(map[string]any{"content": piece}, nil)
	}
	for i, call := range answer.calls {
		sendCall(send, i, call)
	}
	send(map[string]any{}, answer.finishReason())
	if withUsage {
		last := answer.head("chat.completion.chunk")
		last["choices"], last["usage"] = []any{}, answer.usage
		out.send(last)
	}
	out.write("[DONE]")
}

// sendCall sends the head of a tool call and then its arguments piece by piece.
func sendCall(send func(map[string]any, any), index int, call toolOf) {
	args := pieces(string(call.Function.Arguments), argumentPiece)
	call.Index, call.Function.Arguments = &index, ""
	send(map[string]any{"tool_calls": []toolOf{call}}, nil)
	for _, piece := range args {
		var part toolOf
		part.Index, part.Function.Arguments = &index, arguments(piece)
		send(map[string]any{"tool_calls": []toolOf{part}}, nil)
	}
}

// eventWriter writes events until the first error or the end of the request.
type eventWriter struct {
	done  <-chan struct{}
	w     http.ResponseWriter
	flush func() error
	delay time.Duration
	err   error
}

// pause waits between two pieces.
func (e *eventWriter) pause() {
	if e.delay <= 0 || e.err != nil {
		return
	}
	timer := time.NewTimer(e.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.done:
		e.err = context.Canceled
	}
}

func (e *eventWriter) send(body map[string]any) {
	data, err := json.Marshal(body)
	if err != nil {
		e.err = err
		return
	}
	e.write(string(data))
}

func (e *eventWriter) write(data string) {
	select {
	case <-e.done:
		e.err = context.Canceled
	default:
	}
	if e.err != nil {
		return
	}
	if _, e.err = fmt.Fprintf(e.w, "data: %s\n\n", data); e.err == nil {
		e.err = e.flush()
	}
}
