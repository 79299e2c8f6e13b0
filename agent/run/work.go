package run

import (
	"context"
	"fmt"
)

// Work is what one worker does on a run: steps, until the run ends or waits, or the worker is told to give it up.
// What is put around it sees neither the journal nor the store.
type Work func(ctx context.Context, runID string) error

// recovered keeps a bug in one run from ending the others.
func recovered(next Work) Work {
	return func(ctx context.Context, runID string) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("worker panicked: %v", p)
			}
		}()
		return next(ctx, runID)
	}
}
