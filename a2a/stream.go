package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/sse"
)

// serveStream answers the two streaming methods. A stream that is refused before its first event is a plain JSON error, as
// clients of 1.0 expect.
func (h *Handler) serveStream(ctx context.Context, w http.ResponseWriter, r *http.Request, call Call) {
	leave, err := h.streams.Enter(ownerOf(ctx))
	if err != nil {
		WriteError(w, http.StatusOK, call.ID, err)
		return
	}
	defer leave()
	events, err := h.open(ctx, call)
	if err != nil {
		WriteError(w, http.StatusOK, call.ID, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	items := pump(ctx, events)
	defer func() {
		cancel()
		for range items { // wait for the pump
			continue
		}
	}()
	first, ok := <-items
	if !ok {
		first.err = errors.New("stream without events")
	}
	if first.err != nil {
		WriteError(w, http.StatusOK, call.ID, first.err)
		return
	}
	out, err := sse.NewWriter(w)
	if err != nil {
		flow.Log(ctx).Debug().Err(err).Msg("a2a stream not opened")
		return
	}
	if err := h.write(ctx, out, call.ID, first, items); err != nil {
		flow.Log(ctx).Debug().Err(err).Msg("a2a stream ended early")
	}
}

// open starts the method; each read of the events moves it on.
func (h *Handler) open(ctx context.Context, call Call) (iter.Seq2[wire.Event, error], error) {
	if call.Method == methodSubscribe {
		req, err := decode[wire.SubscribeToTaskRequest](call.Params)
		if err != nil {
			return nil, err
		}
		return func(yield func(wire.Event, error) bool) { h.rpc.SubscribeToTask(ctx, req)(yield) }, nil
	}
	req, err := decodeSend(call.Params)
	if err != nil {
		return nil, err
	}
	ctx = withMetadata(ctx, req.Message)
	return func(yield func(wire.Event, error) bool) { h.rpc.SendStreamingMessage(ctx, req)(yield) }, nil
}

func (h *Handler) write(ctx context.Context, out *sse.Writer, id json.RawMessage, next item, items <-chan item) error {
	alive := time.NewTicker(h.keepAlive)
	defer alive.Stop()
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	for ok := true; ok; {
		e := envelope{JSONRPC: "2.0", ID: id}
		if next.err != nil {
			e.Error = asRPCError(next.err)
		} else {
			raw, err := json.Marshal(wire.StreamResponse{Event: next.event})
			if err != nil {
				return fmt.Errorf("write event: %w", err)
			}
			e.Result = raw
		}
		body, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write event: %w", err)
		}
		if err := out.Send(sse.Event{Data: string(body)}); err != nil {
			return err
		}
		if next, ok, err = wait(ctx, out, alive.C, items); err != nil {
			return err
		}
	}
	return nil
}

// wait gives the next event, and keeps the connection alive until it comes.
func wait(ctx context.Context, out *sse.Writer, alive <-chan time.Time, items <-chan item) (item, bool, error) {
	for {
		select {
		case next, ok := <-items:
			return next, ok, nil
		case <-alive:
			if err := out.Comment("keep-alive"); err != nil {
				return item{}, false, err
			}
		case <-ctx.Done():
			return item{}, false, context.Cause(ctx)
		}
	}
}

// item is one event of a stream, or why there are no more.
type item struct {
	event wire.Event
	err   error
}

// pump reads events ahead of their writer by none, so that a silent stream can be kept alive. The channel is closed when
// the reading goroutine has ended.
func pump(ctx context.Context, events iter.Seq2[wire.Event, error]) <-chan item {
	items := make(chan item)
	go func() {
		defer close(items)
		defer func() {
			if p := recover(); p != nil {
				flow.Log(ctx).Error().Err(fmt.Errorf("%v", p)).Msg("a2a stream panicked")
			}
		}()
		for event, err := range events {
			select {
			case items <- item{event, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return items
}
