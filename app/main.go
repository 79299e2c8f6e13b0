// Package app composes the program: flags, configuration, wiring, listeners, health, shutdown. It is the
// only package that knows all the others, and holds no logic of theirs.
package app

import (
	"fmt"
	"io"
	"os"
	"strings"
	_ "time/tzdata" // the canteen's time zone must be there on a machine without zone files

	"github.com/spf13/cobra"

	"agentmesh/store"
)

// Version is the program's version; releases set it when they link.
var Version = "0.1.0-dev"

// Main runs the command line and gives the exit status: 0, or 1 after one line that says what was wrong.
func Main(args []string) int { return Run(args, os.Stdout, os.Stderr) }

// Run is Main with other places to write to, and a program that differs by options.
func Run(args []string, stdout, stderr io.Writer, options ...Option) int {
	root := &cobra.Command{
		Use:           "agentmesh",
		Short:         "An agent runtime in one binary: chat, durable runs, MCP, A2A, confirmation",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().String(configFlag, configFileName, "optional configuration file")
	root.AddCommand(serveCommand(options), statusCommand(), stopCommand(), configCommand(), doctorCommand(), traceCommand(), catalogCommand(), backupCommand(), restoreCommand(), pruneCommand(), keyCommand(), sandboxCommand(), versionCommand())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		if store.IsDamaged(err) {
			err = fmt.Errorf("%w: 'agentmesh restore FILE --force' puts a backup there and keeps what is there aside", err)
		}
		fmt.Fprintln(stderr, "agentmesh: "+strings.ReplaceAll(err.Error(), "\n", "\nagentmesh: "))
		return 1
	}
	return 0
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) { cmd.Println("agentmesh " + Version) },
	}
}
