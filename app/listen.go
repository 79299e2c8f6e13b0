package app

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"syscall"
	"time"

	"agentmesh/agent/orchestrator"
	"agentmesh/app/platform/flow"
)

// What a client may take and send before its request is read; the body has limits of its own.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeaders = 64 << 10 // bytes
)

// newServer makes every http.Server of the program, with the same limits. Streams have no write limit;
// what they carry has limits of its own. The base context is cancelled before Shutdown, so that streams
// end at once.
func newServer(base context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          log.New(flow.Log(base), "", 0),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
}

// listen opens the main listener; a taken port is said in words.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen: %s is in use already; choose another address (--listen for the main one)", addr)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// server is a running http.Server.
type server struct {
	http *http.Server
	stop context.CancelCauseFunc
	done chan struct{}
}

func serve(ctx context.Context, l net.Listener, handler http.Handler) *server {
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &server{http: newServer(base, handler), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			flow.Log(ctx).Error().Err(err).Msg("server ended")
		}
	}()
	return s
}

// drainTime bounds how long a stop waits for answers under way; a client that does not read cannot hold
// it up for longer.
const drainTime = 1500 * time.Millisecond

// close ends the streams, waits a little for the answers under way, and closes.
func (s *server) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	s.stop(orchestrator.ErrShutdown)
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.done
}
