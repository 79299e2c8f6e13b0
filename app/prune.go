package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"agentmesh/store"
	"agentmesh/store/rundb"
	"agentmesh/store/spandb"
)

// pruneCommand drops what is no longer kept, through what runs on the data folder or without it.
func pruneCommand() *cobra.Command {
	var c Config
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use: "prune", Short: "Drop what is older than the settings keep; serve does it at its start and daily", Args: cobra.NoArgs,
		Long: "Drop what is older than the settings keep: events of ended runs with the requests that were sent to the model and the\n" +
			"deliveries that were made, audit records with the cards of decided questions, and spans. Never dropped are orders, the\n" +
			"messages of conversations, preferences, and anything of runs that have not ended. serve does it at its start and\n" +
			"daily (--keep-events 0 --keep-audit 0 --keep-spans 0 keep all, to look at an old backup). While it runs its settings\n" +
			"count, not those given here. While nothing runs, the room also goes back to the disk.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			if err := c.check(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(commandContext(cmd), os.Interrupt, syscall.SIGTERM)
			defer stop()
			report, err := c.prune(ctx, dry)
			if errors.Is(err, store.ErrInUse) { // a program that was starting, and answers by now
				report, err = c.prune(ctx, dry)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), report)
			}
			report.print(cmd.OutOrStdout(), dry)
			return nil
		},
	}
	c.bindFlags(cmd.Flags(), "data", "keep-events", "keep-audit", "keep-spans")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would go")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (r pruneReport) print(w io.Writer, dry bool) {
	verb := "went"
	if dry {
		verb = "would go"
	}
	fmt.Fprintf(w, "%s: %d events of ended runs, %d recorded requests, %d deliveries, %d audit records, %d cards, %d spans\n",
		verb, r.Events, r.Requests, r.Deliveries, r.Audit, r.Cards, r.Spans)
	if !dry {
		fmt.Fprintf(w, "%d bytes before, %d after\n", r.Before, r.After)
	}
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
}

func (c *Config) prune(ctx context.Context, dry bool) (pruneReport, error) {
	found, err := running(c.Data)
	if err != nil {
		return pruneReport{}, err
	}
	if len(found) == 0 {
		return c.pruneFolder(ctx, dry)
	}
	var sum pruneReport
	for _, i := range found { // each has databases of its own
		report, err := i.prune(ctx, dry)
		if err != nil {
			return sum, fmt.Errorf("prune through process %d: %w", i.PID, err)
		}
		sum.add(report)
	}
	return sum, nil
}

// prune asks a process to prune its databases.
func (i instance) prune(ctx context.Context, dry bool) (out pruneReport, err error) {
	url := i.URL + prunePath
	if dry {
		url += "?dry=1"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return out, err
	}
	client := i.client()
	client.Timeout = 0 // it takes as long as there is much to drop
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	body := http.MaxBytesReader(nil, resp.Body, 1<<20)
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(body)
		return out, fmt.Errorf("it answered %d: %s", resp.StatusCode, strings.TrimSpace(string(text)))
	}
	return out, json.NewDecoder(body).Decode(&out)
}

// pruneFolder prunes databases that nothing runs on, and gives the room back.
func (c *Config) pruneFolder(ctx context.Context, dry bool) (r pruneReport, err error) {
	if err := finishRestore(c.Data); err != nil {
		return r, err
	}
	k := &keeper{config: *c, now: time.Now, spans: map[string]*spandb.DB{}}
	var open []io.Closer
	defer func() {
		for _, db := range open {
			err = errors.Join(err, db.Close())
		}
		if !dry {
			r.After = k.bytes()
		}
	}()
	for _, name := range dataFiles(c.Data) {
		path := filepath.Join(c.Data, name)
		switch {
		case name == runFile:
			if k.runs, err = rundb.Open(ctx, path); err == nil {
				open = append(open, k.runs)
			}
		case filepath.Dir(name) == spansFolder:
			var db *spandb.DB
			if db, err = spandb.Open(ctx, path); err == nil {
				k.spans[strings.TrimSuffix(filepath.Base(name), ".db")] = db
				open = append(open, db)
			}
		}
		if err != nil {
			return r, err
		}
	}
	if len(open) == 0 {
		return r, fmt.Errorf("there is nothing to prune in the data folder %s", c.Data)
	}
	if r, err = k.prune(ctx, dry); err != nil || dry {
		return r, err
	}
	if err = k.compact(ctx); store.IsFull(err) {
		r.Note = "there is no room to write the files anew: they stay as large as they are, and what is written next goes into the room in them"
		err = nil
	}
	return r, err
}

// compact gives the room of what went back to the disk.
func (k *keeper) compact(ctx context.Context) error {
	var errs []error
	if k.runs != nil {
		errs = append(errs, k.runs.Compact(ctx))
	}
	for _, db := range k.spans {
		errs = append(errs, db.Compact(ctx))
	}
	return errors.Join(errs...)
}
