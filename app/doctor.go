package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

// level says how bad a check's outcome is.
type level string

// The levels. A problem needs somebody; a warning is worth knowing.
const (
	levelOK      level = "ok"
	levelWarning level = "warning"
	levelProblem level = "problem"
)

// check is one thing that the doctor looked at. Do says what to do about it.
type check struct {
	Name  string `json:"name"`
	Level level  `json:"level"`
	Say   string `json:"say"`
	Do    string `json:"do,omitempty"`
}

// doctor looks at a data folder, at what runs on it, and at the settings.
type doctor struct {
	config Config
	found  []instance
	checks []check
}

func (d *doctor) ok(name, format string, args ...any) { d.add(levelOK, name, "", format, args...) }

func (d *doctor) warn(name, do, format string, args ...any) {
	d.add(levelWarning, name, do, format, args...)
}

func (d *doctor) problem(name, do, format string, args ...any) {
	d.add(levelProblem, name, do, format, args...)
}

func (d *doctor) add(l level, name, do, format string, args ...any) {
	d.checks = append(d.checks, check{Name: name, Level: l, Say: d.config.secrets().Text(withoutPasswords(fmt.Sprintf(format, args...))), Do: do})
}

// runs tells whether a process works on the data folder.
func (d *doctor) runs() bool { return len(d.found) > 0 }

// doctorCommand says what is unsafe or broken, and what to do about it (D-139).
func doctorCommand() *cobra.Command {
	var c Config
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check settings, access, files, databases and books; exit 1 if there is a problem", Args: cobra.NoArgs,
		Long: "Check settings, access, files, databases and books, and say what to do. Nothing is changed; the program may run\n" +
			"meanwhile. The flags are those of serve: give the same ones. Exit 1 if there is a problem.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{}
			_, err := c.resolve(cmd)
			d.settings(c, err)
			if err == nil {
				d.examine(commandContext(cmd))
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"data": c.Data, "checks": d.checks})
			} else {
				err = d.print(cmd.OutOrStdout())
			}
			return errors.Join(err, d.verdict())
		},
	}
	c.bindFlags(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return cmd
}

// settings checks what was set, and keeps it.
func (d *doctor) settings(c Config, err error) {
	if err == nil {
		err = c.check() // it also completes them
	}
	d.config = c
	if err != nil {
		d.problem("settings", "'agentmesh config' shows where each comes from", "%v", err)
		return
	}
	d.ok("settings", "they can be used")
}

func (d *doctor) examine(ctx context.Context) {
	var err error
	if d.found, err = running(d.config.Data); err != nil {
		d.problem("program", "", "%v", err)
	}
	d.program(ctx)
	d.access()
	d.files()
	d.databases(ctx)
	d.surroundings(ctx)
}

// program says what runs, and whether it is ready.
func (d *doctor) program(ctx context.Context) {
	if !d.runs() {
		d.ok("program", "nothing runs on %s", d.config.Data)
	}
	for _, i := range d.found {
		switch p := i.status(ctx); {
		case p.Ready:
			d.ok("program", "process %d at %s is ready", p.PID, p.URL)
		default:
			d.problem("program", "see 'agentmesh status' and the program's log", "process %d at %s is not ready", p.PID, p.URL)
		}
	}
}

// verdict is the error that makes the exit status 1.
func (d *doctor) verdict() error {
	n := 0
	for _, c := range d.checks {
		if c.Level == levelProblem {
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return errors.New("there is a problem")
	}
	return fmt.Errorf("there are %d problems", n)
}

// print writes the checks, the worst last, where they are seen.
func (d *doctor) print(w io.Writer) error {
	var err error
	for _, l := range []level{levelOK, levelWarning, levelProblem} {
		for _, c := range d.checks {
			if c.Level != l {
				continue
			}
			_, errW := fmt.Fprintf(w, "%-8s %-10s %s\n", c.Level, c.Name, indented(c.Say))
			if c.Do != "" {
				_, _ = fmt.Fprintf(w, "%-19s → %s\n", "", indented(c.Do))
			}
			err = errors.Join(err, errW)
		}
	}
	if !slices.ContainsFunc(d.checks, func(c check) bool { return c.Level == levelProblem }) {
		_, _ = fmt.Fprintln(w, "no problems")
	}
	return err
}
