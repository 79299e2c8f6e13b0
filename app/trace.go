package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentmesh/agent/trace"
	"agentmesh/app/platform/fault"
)

// askTime bounds how long a running program may take to answer a command.
const askTime = 30 * time.Second

// program is a running program that a command asks over its REST API.
type program struct{ url, key, user string }

// bindProgram gives a command the flags that say which program it asks, and as whom.
func bindProgram(cmd *cobra.Command, p *program) {
	cmd.Flags().StringVar(&p.url, "url", "", "address of the running program; that of the data folder when left out")
	cmd.Flags().StringVar(&p.user, "user", "", "who asks, where no keys are configured")
	cmd.Long = strings.TrimSpace(cmd.Short + ".\n\n" + cmd.Long + "\n\nWhere keys are configured, AGENTMESH_KEY holds yours.")
}

// find looks for the program that runs on a data folder, when no address is given.
func (p *program) find(data string) error {
	if p.url != "" {
		return nil
	}
	found, err := running(data)
	if err != nil {
		return err
	}
	for _, i := range found {
		if slices.Contains(i.Modules, "orchestrator") {
			p.url = i.URL
			return nil
		}
	}
	return fmt.Errorf("%w; --data names another folder, --url a program elsewhere", nothingRuns(data))
}

// get reads a JSON answer. A problem is told in the program's own words.
func (p *program) get(ctx context.Context, path string, into any) error {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.url, "/")+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if p.key != "" {
		r.Header.Set("Authorization", "Bearer "+p.key)
	}
	if p.user != "" {
		r.Header.Set("X-User-ID", p.user)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask %s: %w; is it running there? --url names another address", p.url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body := http.MaxBytesReader(nil, resp.Body, maxSpansAnswer)
	if resp.StatusCode != http.StatusOK {
		var problem fault.Problem
		if err := json.NewDecoder(body).Decode(&problem); err != nil || problem.Detail == "" {
			return fmt.Errorf("ask %s: it answered %s", p.url, resp.Status)
		}
		return fmt.Errorf("ask %s: %s", p.url, problem.Detail)
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", p.url, err)
	}
	return nil
}

func traceCommand() *cobra.Command {
	var p program
	var c Config
	var asJSON bool
	cmd := &cobra.Command{
		Use: "trace ID", Short: "Show one chain through all modules, and who took the time", Args: cobra.ExactArgs(1),
		Long: "ID is a trace id, the id of a run, or a client's label for it while that is unique.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			p.key = c.Key
			if err := p.find(c.Data); err != nil {
				return err
			}
			t, err := p.trace(commandContext(cmd), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), t)
			}
			return printTrace(cmd.OutOrStdout(), t)
		},
	}
	bindProgram(cmd, &p)
	c.bindFlags(cmd.Flags(), "data")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// traceID is how W3C writes one; another id is a run's, or a client's label for it.
var traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (p *program) trace(ctx context.Context, id string) (trace.Trace, error) {
	if !traceID.MatchString(id) {
		var r struct{ TraceID string }
		if err := p.get(ctx, "/api/v1/runs/"+url.PathEscape(id), &r); err != nil {
			return trace.Trace{}, err
		}
		id = r.TraceID
	}
	var t trace.Trace
	return t, p.get(ctx, "/api/v1/traces/"+url.PathEscape(id), &t)
}

// printTrace writes a trace as a tree with a bar for each span.
func printTrace(w io.Writer, t trace.Trace) error {
	var b strings.Builder
	fmt.Fprintf(&b, "trace %s, %s, %s\n", t.TraceID, t.StartedAt.Local().Format(time.DateTime), millis(t.DurationMS))
	for _, part := range []struct {
		who string
		ms  float64
	}{{"model", t.Took.ModelMS}, {"MCP", t.Took.MCPMS}, {"agents", t.Took.AgentMS}, {"person", t.Took.PersonMS}, {"orchestrator", t.Took.OwnMS}} {
		fmt.Fprintf(&b, "  %-12s %9s %4.0f %%\n", part.who, millis(part.ms), 100*part.ms/max(t.DurationMS, 0.001))
	}
	for _, module := range t.Missing {
		fmt.Fprintf(&b, "  %s did not answer: its spans are missing\n", module)
	}
	b.WriteByte('\n')
	for _, n := range t.Spans {
		from := float64(n.StartedAt.Sub(t.StartedAt).Microseconds()) / 1000
		fmt.Fprintf(&b, "%s %9s %9s  %-12s %s%s%s\n", bar(from, n.DurationMS, t.DurationMS), millis(from), millis(n.DurationMS),
			n.Module, strings.Repeat("  ", n.Depth), n.Name, ending(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ending is what is remarkable about how a span ended.
func ending(n trace.Node) string {
	switch n.Status {
	case trace.Open:
		return "  … open"
	case trace.Error:
		return "  ✗ " + n.Error
	}
	return ""
}

// bar draws where in the whole a part lies.
func bar(from, length, whole float64) string {
	const width = 24
	cells := []rune(strings.Repeat("·", width))
	if whole > 0 {
		first := min(width-1, int(from/whole*width))
		last := min(width-1, int((from+length)/whole*width))
		for i := max(0, first); i <= max(first, last); i++ {
			cells[i] = '█'
		}
	}
	return string(cells)
}

func millis(ms float64) string {
	switch {
	case ms >= 10_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
