package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"agentmesh/capability/starlarktool"
)

// sandboxName is the command that runs a program of execute_python, in a process of its own.
const sandboxName = "sandbox"

// sandboxCommand is for the program itself: it reads a program from its input and writes what it did.
func sandboxCommand() *cobra.Command {
	return &cobra.Command{
		Use: sandboxName, Short: "Run a Starlark program within limits", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status := starlarktool.Main(cmd.InOrStdin(), cmd.OutOrStdout()); status != 0 {
				return fmt.Errorf("the program could not be run")
			}
			return nil
		},
	}
}

// sandbox makes the process of a program.
func sandbox(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	return exec.CommandContext(ctx, self, sandboxName), nil
}
