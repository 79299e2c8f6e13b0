package mesh

import (
	"context"
	"net"
	"sync"
)

// pipeListener is a net.Listener whose connections are pipes in memory.
type pipeListener struct {
	name  string
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener(name string) *pipeListener {
	return &pipeListener{name: name, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept gives the server's end of the next connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and refuses later dials; open connections go on.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr names the module.
func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.name) }

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: ctx.Err()}
	}
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
