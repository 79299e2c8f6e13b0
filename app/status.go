package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// processStatus is what `status` says of one process. It holds no key.
type processStatus struct {
	PID       int               `json:"pid"`
	Version   string            `json:"version"`
	URL       string            `json:"url"`
	Listen    []string          `json:"listen"`
	StartedAt time.Time         `json:"startedAt"`
	UpSeconds int64             `json:"upSeconds"`
	Ready     bool              `json:"ready"`
	Problem   string            `json:"problem,omitempty"`
	Modules   map[string]string `json:"modules"`
	Peers     map[string]string `json:"peers"`
}

type statusReport struct {
	Data      string          `json:"data"`
	Ready     bool            `json:"ready"`
	Keys      bool            `json:"keys"` // callers need one
	Processes []processStatus `json:"processes"`
}

// statusCommand says what runs on a data folder (D-16).
func statusCommand() *cobra.Command {
	var c Config
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Say what runs on the data folder; exit 0 if it is ready, 1 if not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			report, err := statusOf(commandContext(cmd), c)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				printStatus(cmd.OutOrStdout(), report)
			}
			return errors.Join(err, report.complaint())
		},
	}
	c.bindFlags(cmd.Flags(), "data")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func statusOf(ctx context.Context, c Config) (statusReport, error) {
	found, err := running(c.Data)
	if err != nil {
		return statusReport{}, err
	}
	keys, err := openKeyring(c.Data, "")
	if err != nil {
		return statusReport{}, err
	}
	report := statusReport{Data: c.Data, Ready: len(found) > 0, Keys: keys.configured(), Processes: []processStatus{}}
	for _, i := range found {
		p := i.status(ctx)
		report.Ready = report.Ready && p.Ready
		report.Keys = report.Keys || i.EnvironmentKeys
		report.Processes = append(report.Processes, p)
	}
	return report, nil
}

func (i instance) status(ctx context.Context) processStatus {
	p := processStatus{
		PID: i.PID, Version: i.Version, URL: i.URL, Listen: i.Listen, StartedAt: i.StartedAt, UpSeconds: int64(time.Since(i.StartedAt).Seconds()),
		Modules: map[string]string{}, Peers: map[string]string{},
	}
	for _, name := range i.Modules {
		p.Modules[name] = "not known"
	}
	for name := range i.Peers {
		p.Peers[name] = "not known"
	}
	says, ready, err := i.ready(ctx)
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Ready, p.Problem = ready, says.Books
	maps.Copy(p.Modules, says.Modules)
	maps.Copy(p.Peers, says.Peers)
	return p
}

// complaint says in words why the exit status is not 0.
func (r statusReport) complaint() error {
	if len(r.Processes) == 0 {
		return nothingRuns(r.Data)
	}
	if !r.Ready {
		return errors.New("it is not ready")
	}
	return nil
}

func printStatus(w io.Writer, r statusReport) {
	for _, p := range r.Processes {
		state := "ready"
		if !p.Ready {
			state = "NOT READY"
		}
		fmt.Fprintf(w, "AgentMesh %s is %s\n", p.Version, state)
		fmt.Fprintf(w, "  process  %d, up %s\n", p.PID, since(time.Duration(p.UpSeconds)*time.Second))
		fmt.Fprintf(w, "  address  %s/\n", p.URL)
		if len(p.Listen) > 1 {
			fmt.Fprintf(w, "  listens  %s\n", strings.Join(p.Listen, ", "))
		}
		if p.Problem != "" {
			fmt.Fprintf(w, "  problem  %s\n", p.Problem)
		}
		printStates(w, "modules", p.Modules)
		printStates(w, "peers", p.Peers)
	}
	if len(r.Processes) > 0 {
		fmt.Fprintf(w, "  data     %s\n  access   %s\n", r.Data, accessWords(r.Keys))
	}
}

func printStates(w io.Writer, what string, states map[string]string) {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(states)) {
		words = append(words, name+" "+states[name])
	}
	if len(words) > 0 {
		fmt.Fprintf(w, "  %-8s %s\n", what, strings.Join(words, ", "))
	}
}

func accessWords(keys bool) string {
	if keys {
		return "every caller needs a key"
	}
	return "no keys are configured: 'agentmesh doctor' says who is trusted"
}

func commandContext(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
