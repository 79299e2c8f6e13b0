package starlarktool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/capability"
)

// timeLimit bounds a program, with the start of its process.
const timeLimit = 5 * time.Second

// ExecutePython runs a program in a child process, which command makes: one that calls Main. It always asks. Each run is
// alone: nothing that it does lasts.
func ExecutePython(enabled bool, command func(ctx context.Context) (*exec.Cmd, error)) capability.Definition {
	return capability.Definition{
		Name: "execute_python", Kind: capability.Local, Provider: "local", RequiresConfirmation: true, AlwaysAsks: true, Idempotent: true,
		Disabled: !enabled, Timeout: timeLimit,
		Description: "A demonstration. Runs a short program in Starlark, a dialect of Python, and gives what it prints and the value of its last line. " +
			"There are no imports (math is there), no classes, no while, no try, no ** operator, no files and no network; for loops, functions, lists, dicts and strings are there. " +
			"The program asks the person to confirm; do not ask yourself.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","minLength":1,"maxLength":` + strconv.Itoa(MaxCode) + `}},"required":["code"],"additionalProperties":false}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			var args struct{ Code string }
			if err := json.Unmarshal(call.Args, &args); err != nil {
				return nil, fault.Wrap(err, fault.Invalid, "the arguments cannot be read")
			}
			cmd, err := command(ctx)
			if err != nil {
				return nil, fault.Wrap(err, fault.Unavailable, "no process can be started for the program")
			}
			return inChild(cmd, args.Code)
		},
	}
}

// inChild runs a program in a process without environment, which ends with its context.
func inChild(cmd *exec.Cmd, code string) (json.RawMessage, error) {
	var stdout, stderr bytes.Buffer
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(code), &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return bytes.TrimSpace(stdout.Bytes()), nil
	case !errors.As(err, &exit):
		return nil, fault.Wrap(err, fault.Unavailable, "no process can be started for the program")
	case exit.ExitCode() == exitMemory || outOfMemory(stderr.String()):
		return json.Marshal(Output{Dialect: dialect, Error: &Error{Message: "it used more memory than " + strconv.Itoa(MaxMemory>>20) + " MiB, and was ended"}})
	}
	return nil, fault.Wrap(err, fault.Internal, "the program's process ended without an answer")
}

// outOfMemory tells whether a Go program died since the kernel gave it no more memory. With the race detector it says
// so in other words.
func outOfMemory(stderr string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "address space", "ThreadSanitizer"} {
		if strings.Contains(stderr, words) {
			return true
		}
	}
	return false
}
