package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/flow"
)

func serveCommand(options []Option) *cobra.Command {
	var c Config
	cmd := &cobra.Command{
		Use: "serve", Short: "Start all modules on one listener", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			return runServe(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr(), options)
		},
	}
	c.bindFlags(cmd.Flags())
	cmd.Long = "Start all modules on one listener. A setting is taken from its flag, the environment, " + dotEnvFile + " or " + configFileName + ",\n" +
		"the first that has it; 'agentmesh config' shows all of them.\n\nEnvironment variables without a flag:\n" + environmentHelp()
	return cmd
}

// runServe runs the program until SIGINT or SIGTERM. A second signal ends it at once.
func runServe(ctx context.Context, c Config, stdout, stderr io.Writer, options []Option) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx = flow.WithLogger(ctx, flow.NewLogger(c.secrets().Writer(stderr), c.LogLevel))
	if err := failpoint.Arm(c.Failpoints); err != nil {
		return err
	}
	a, err := New(c, options...)
	if err != nil {
		return err
	}
	if err := a.Start(ctx); err != nil {
		return err
	}
	fmt.Fprint(stdout, a.greeting())
	<-ctx.Done()
	stop()
	fmt.Fprintln(stdout, "stopping")
	return a.Stop(ctx)
}

// greeting is what a person reads at the start.
func (a *App) greeting() string {
	var models []string
	for _, e := range a.config.endpoints() {
		models = append(models, e.Model+" at "+e.BaseURL)
	}
	if a.config.demo() {
		models = []string{"the built-in demo model (set LLM_API_KEY, LLM_BASE_URL and LLM_MODEL for a real one)"}
	}
	access := "no keys are configured: every program on this machine is trusted"
	if a.keys.configured() {
		access = "every caller needs a key"
	} else if host, _, err := net.SplitHostPort(a.Addr()); err != nil || !loopback(host) {
		access = "WARNING: no keys are configured: everybody who reaches " + a.Addr() + " is trusted"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "AgentMesh %s\n  page   http://%s/\n", Version, dialable(a.Addr()))
	if !slices.Contains(a.place.local, "orchestrator") {
		b.Reset()
		fmt.Fprintf(&b, "AgentMesh %s\n  %s at http://%s/\n", Version, strings.Join(a.place.local, ", "), dialable(a.Addr()))
	}
	for _, name := range a.place.local {
		if _, split := a.place.split[name]; split {
			fmt.Fprintf(&b, "  split  %s at %s\n", name, a.wiring.network.BaseURL(name))
		}
	}
	if slices.Contains(a.place.local, "orchestrator") {
		fmt.Fprintf(&b, "  model  %s\n", strings.Join(models, ", "))
	}
	if a.config.Failpoints != "" {
		fmt.Fprintf(&b, "  faults %s\n", a.config.Failpoints)
	}
	fmt.Fprintf(&b, "  data   %s\n  access %s\n", a.config.Data, access)
	return b.String()
}
