package openai

import (
	"context"
	"errors"
	"io"
	"time"
)

// The limits of a model's silence (design, section 9): there is none for the whole answer, which may be long.
const (
	firstPiece = 2 * time.Minute // to the first byte of the answer; a long prompt is read first
	betweenTwo = time.Minute     // from one piece to the next
)

var errSilent = errors.New("the endpoint went silent")

// silence ends a request when nothing comes for too long.
type silence struct {
	timer *time.Timer
	limit time.Duration
	ended context.Context
}

// listen gives a context that ends when the first piece does not come in time.
func listen(ctx context.Context, first, between time.Duration) (context.Context, *silence, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(first, func() { cancel(errSilent) })
	return ctx, &silence{timer: timer, limit: between, ended: ctx}, func() { timer.Stop(); cancel(nil) }
}

// of makes a body whose every piece begins the time anew.
func (s *silence) of(body io.Reader) io.Reader { return heard{s, body} }

// cause tells silence from what it looked like.
func (s *silence) cause(err error) error {
	if err != nil && errors.Is(context.Cause(s.ended), errSilent) {
		return errSilent
	}
	return err
}

type heard struct {
	*silence
	body io.Reader
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	if n > 0 {
		h.timer.Reset(h.limit)
	}
	return n, err
}
