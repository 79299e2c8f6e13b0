package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// stopCommand ends what runs on a data folder, in order (D-16).
func stopCommand() *cobra.Command {
	var c Config
	var limit time.Duration
	cmd := &cobra.Command{
		Use: "stop", Short: "Stop what runs on the data folder, in order, and wait until it has ended", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			found, err := running(c.Data)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return nothingRuns(c.Data)
			}
			slices.Reverse(found) // who needs the others started after them
			var errs []error
			for _, i := range found { // one that does not end keeps no other alive
				errs = append(errs, i.stop(commandContext(cmd), limit, cmd.OutOrStdout()))
			}
			return errors.Join(errs...)
		},
	}
	c.bindFlags(cmd.Flags(), "data")
	cmd.Flags().DurationVar(&limit, "timeout", 2*stopTime, "how long to wait for each process")
	return cmd
}

// stop sends SIGTERM to the process and waits until its file is free. The file was locked a moment ago,
// and is looked at again right before: the id is that of the program which holds it, if
// both are on one machine; a folder may be shared with another one, or with a container.
func (i instance) stop(ctx context.Context, limit time.Duration, out io.Writer) error {
	gone, err := isGone(i.path)
	if err != nil || gone {
		return err
	}
	if here := hostname(); i.Host != here {
		return fmt.Errorf("process %d runs on %s and this is %s: stop it there", i.PID, i.Host, here)
	}
	p, err := os.FindProcess(i.PID)
	if err == nil {
		err = p.Signal(syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", i.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		gone, err := isGone(i.path)
		if err != nil {
			return fmt.Errorf("process %d was told to stop; whether it has is not known: %w", i.PID, err)
		}
		if gone {
			fmt.Fprintf(out, "stopped process %d\n", i.PID)
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("process %d was told to stop and still runs after %s; see its log, or end it with kill -9 %d: nothing that was answered is lost", i.PID, limit, i.PID)
		}
	}
}
