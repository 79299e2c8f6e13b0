package mcp

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// exchange is what the transport saw of one request. The SDK keeps the status of a failed answer to
// itself, and without it a refusal cannot be told from a loss.
type exchange struct {
	status   atomic.Int64 // zero: no answer at all
	cut      atomic.Bool  // the answer's body broke off
	tooLarge atomic.Bool
}

type exchangeKey struct{}

func (x *exchange) reset() {
	x.status.Store(0)
	x.cut.Store(false)
	x.tooLarge.Store(false)
}

// refused tells of an answer after which the SDK's session is still usable.
func (x *exchange) refused() bool {
	status := x.status.Load()
	return status == http.StatusTooManyRequests || status >= 500
}

// lost tells of a session or a connection that went away, as opposed to a server that talks nonsense.
func (x *exchange) lost(err error) bool {
	if errors.Is(err, sdk.ErrSessionMissing) {
		return true
	}
	return !x.tooLarge.Load() && (x.status.Load() == 0 || x.cut.Load())
}

// capTransport bounds the bytes of every answer and notes how it went.
type capTransport struct{ next http.RoundTripper }

func (t capTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		x = &exchange{}
	}
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	x.status.Store(int64(res.StatusCode))
	res.Body = &cappedBody{ReadCloser: res.Body, left: MaxAnswer, exchange: x}
	return res, nil
}

type cappedBody struct {
	io.ReadCloser
	left     int64
	exchange *exchange
}

var errTooLarge = errors.New("answer is too large")

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.exchange.tooLarge.Store(true)
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.exchange.cut.Store(true)
	}
	return n, err
}
