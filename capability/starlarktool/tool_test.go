package starlarktool_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"agentmesh/capability"
	"agentmesh/capability/starlarktool"
)

// TestMain lets the test binary be the child process, which has no other environment.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "sandbox" {
		os.Exit(starlarktool.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func sandbox(ctx context.Context) (*exec.Cmd, error) {
	return exec.CommandContext(ctx, os.Args[0], "sandbox"), nil
}

// play runs a program as the capability does.
func play(t *testing.T, ctx context.Context, code string) (out starlarktool.Output, err error) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := starlarktool.ExecutePython(true, sandbox).Handle(ctx, capability.Call{Args: args})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out, nil
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code, printed, result, problem string
		line                                 int
	}{
		{name: "arithmetic", code: "6 * 7", result: "42"},
		{name: "no_result", code: "x = 1"},
		{name: "prints", code: "for i in range(3):\n    print('n', i)\n", printed: "n 0\nn 1\nn 2\n"},
		{name: "functions", code: "def f(n):\n    return n * 2\n\nprint(f(4))\n[f(i) for i in range(3)]", printed: "8\n", result: "[0, 2, 4]"},
		{name: "mathematics", code: "math.sqrt(16)", result: "4.0"},
		{name: "chinese", code: "'水煮' + '牛肉'", result: `"水煮牛肉"`},
		{name: "an_error_s_line", code: "x = 1\ny = 0\nx // y", problem: "division by zero", line: 3},
		{name: "within_a_function", code: "def f():\n    return [][1]\n\nf()", problem: "out of range", line: 2},
		{name: "syntax", code: "x = 1\nclass A:\n    pass", problem: "class", line: 2},
		{name: "no_import", code: "import os", problem: "import", line: 1},
		{name: "no_while", code: "while True:\n    pass", problem: "while", line: 1},
		{name: "no_open", code: "open('/etc/passwd')", problem: "undefined: open", line: 1},
		{name: "no_load", code: "load('x.star', 'y')", problem: "load", line: 1},
		{name: "no_recursion", code: "def f():\n    return f()\n\nf()", problem: "recursively", line: 2},
		{name: "too_many_steps", code: "for i in range(1000000000):\n    pass", problem: "too many steps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := play(t, t.Context(), tt.code)
			if err != nil {
				t.Fatal(err)
			}
			if out.Printed != tt.printed || out.Result != tt.result || out.Dialect != "Starlark" {
				t.Errorf("got %+v", out)
			}
			switch {
			case tt.problem == "" && out.Error != nil:
				t.Errorf("got the error %+v", out.Error)
			case tt.problem != "" && (out.Error == nil || !strings.Contains(out.Error.Message, tt.problem) || (tt.line > 0 && out.Error.Line != tt.line)):
				t.Errorf("got the error %+v, want %q in line %d", out.Error, tt.problem, tt.line)
			}
		})
	}
}

// TestOutputIsCut: a program that prints without end is told apart from one that does not.
func TestOutputIsCut(t *testing.T) {
	t.Parallel()
	out, err := play(t, t.Context(), "for i in range(5000):\n    print('水煮牛肉')")
	if err != nil || !out.Cut || len(out.Printed) > starlarktool.MaxOutput {
		t.Errorf("got %d bytes, cut %v, %v", len(out.Printed), out.Cut, err)
	}
	if out, err = play(t, t.Context(), "'x' * 100000"); err != nil || !out.Cut || len(out.Result) > starlarktool.MaxOutput {
		t.Errorf("got %d bytes, cut %v, %v", len(out.Result), out.Cut, err)
	}
}

// TestMemory: whatever way a program takes to use memory, it ends, and this process is none the wiser.
func TestMemory(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"a_long_text":    "x = 'a' * 1000000000\nlen(x)",
		"a_long_list":    "x = [0] * 1000000000\nlen(x)",
		"a_range":        "x = list(range(1000000000))\nlen(x)",
		"doubling":       "x = 'ab'\nfor i in range(40):\n    x = x + x\nlen(x)",
		"growing":        "x = []\nfor i in range(1000000):\n    x.append([i] * 1000)\nlen(x)",
		"nested_formats": "x = 'a'\nfor i in range(40):\n    x = '%s%s' % (x, x)\nlen(x)",
	} {
		t.Run(name, func(t *testing.T) {
			out, err := play(t, t.Context(), code)
			if err != nil || out.Error == nil || (!strings.Contains(out.Error.Message, "memory") && !strings.Contains(out.Error.Message, "excessive")) {
				t.Errorf("got %+v (%+v), %v, want it ended for its memory", out, out.Error, err)
			}
		})
	}
}

// TestTime: a program that is inside one long step ends with its time as well.
func TestTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if out, err := play(t, ctx, "x = 3\nfor i in range(26):\n    x = x * x\nlen(str(x))"); err == nil {
		t.Errorf("got %+v, want it ended", out)
	}
}

// What a program fails with is bounded as what it prints is.
func TestALongErrorIsCut(t *testing.T) {
	t.Parallel()
	out, err := play(t, t.Context(), "fail('x' * 20000000)")
	if err != nil || out.Error == nil || len(out.Error.Message) > starlarktool.MaxOutput {
		t.Errorf("got %+v, %v, want a message of at most %d bytes", out.Error.Line, err, starlarktool.MaxOutput)
	}
}
