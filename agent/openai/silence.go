package openai

import (
	"context"
	"errors"
	"io"
	"time"
)

// The limits of a model's silence (design, section 9): there is none for the whole answer, which may be long. A
// heartbeat, such as the comment ": keep-alive", shows that the endpoint is there and that the request waits in a
// queue; so it is no silence, but what waits must leave a run the time to ask another model.
const (
	firstByte  = 2 * time.Minute // to the first byte of the answer; a long prompt is read first
	betweenTwo = time.Minute     // from one byte to the next
	waiting    = 5 * time.Minute // to the first piece of the answer, and from one to the next
)

var (
	errSilent = errors.New("the endpoint went silent")
	errQueued = errors.New("the endpoint sent heartbeats and no answer")
	errBroken = errors.New("the connection broke")
)

// silence ends a request when nothing comes for too long.
type silence struct {
	bytes, pieces    *time.Timer
	between, waiting time.Duration
	ended            context.Context
}

// listen gives a context that ends when the first byte or the first piece does not come in time.
func (m *Model) listen(ctx context.Context) (context.Context, *silence, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &silence{
		bytes:   time.AfterFunc(m.config.FirstByte, func() { cancel(errSilent) }),
		pieces:  time.AfterFunc(m.config.Waiting, func() { cancel(errQueued) }),
		between: m.config.Silence, waiting: m.config.Waiting, ended: ctx,
	}
	return ctx, s, func() { s.bytes.Stop(); s.pieces.Stop(); cancel(nil) }
}

// of makes a body whose every byte begins the time of silence anew.
func (s *silence) of(body io.Reader) io.Reader { return heard{s, body} }

// piece begins the time in which something of the answer must come anew.
func (s *silence) piece() { s.pieces.Reset(s.waiting) }

// cause tells silence from what it looked like.
func (s *silence) cause(err error) error {
	if ended := context.Cause(s.ended); err != nil && (errors.Is(ended, errSilent) || errors.Is(ended, errQueued)) {
		return ended
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
		h.bytes.Reset(h.between)
	}
	if err != nil && err != io.EOF {
		err = errors.Join(errBroken, err)
	}
	return n, err
}
