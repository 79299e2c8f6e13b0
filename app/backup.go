package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"agentmesh/store"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
)

// backupTries is how often the databases are read again when an order was cancelled, or placed whole,
// between the two moments at which they were read.
const backupTries = 5

// backupCommand copies a data folder into one file, beside the running program or without it.
func backupCommand() *cobra.Command {
	var c Config
	var force bool
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Copy the data folder into one file, while the program runs or not", Args: cobra.ExactArgs(1),
		Long: "Copy the data folder into one file, while the program runs or not; a name that ends in .gz or .tgz is compressed, and -\n" +
			"is the standard output. In it are everybody's conversations, orders, preferences and audit, the catalog, the spans, and\n" +
			"the hashes of the keys, not the keys themselves. It is for its owner alone (mode 600); keep it as safe as the folder.\n" +
			"Not in it: " + configFileName + ", " + dotEnvFile + " and what they hold, such as the model's key.",
		Example: "  agentmesh backup agentmesh-$(date +%F).tgz\n  agentmesh backup - | gpg -c > agentmesh.tar.gpg",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(commandContext(cmd), os.Interrupt, syscall.SIGTERM)
			defer stop()
			m, err := c.backup(ctx, args[0], force, cmd.OutOrStdout())
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			m.print(cmd.ErrOrStderr(), "backed up")
			return nil
		},
	}
	c.bindFlags(cmd.Flags(), "data")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

// print says what is in a backup.
func (m manifest) print(w io.Writer, verb string) {
	var bytes int64
	var names []string
	for _, e := range m.Files {
		bytes += e.Size
		names = append(names, e.Name)
	}
	fmt.Fprintf(w, "%s %s as of %s: %s\n", verb, amount(bytes), m.At.Local().Format("2006-01-02 15:04:05"), strings.Join(names, ", "))
	for _, f := range m.Books {
		fmt.Fprintf(w, "warning: orders and stock disagree in it: %s\n", f)
	}
}

// amount writes a number of bytes for people.
func amount(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 10<<10:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// backup writes the file whole or not at all: it gets its name last.
func (c *Config) backup(ctx context.Context, to string, force bool, stdout io.Writer) (m manifest, err error) {
	if err := finishRestore(c.Data); err != nil {
		return m, err
	}
	beside, zipped := filepath.Dir(to), strings.HasSuffix(to, ".gz") || strings.HasSuffix(to, ".tgz")
	if to == "-" {
		beside, zipped = os.TempDir(), false
	} else if _, err := os.Stat(to); err == nil && !force {
		return m, fmt.Errorf("%s is there already: choose another name, or --force replaces it", to)
	}
	work, err := os.MkdirTemp(beside, ".agentmesh-backup-") // for us alone
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if m, err = c.copyData(ctx, work); err != nil {
		return m, err
	}
	if to == "-" {
		return m, m.write(stdout, work, zipped)
	}
	next := filepath.Join(work, "backup")
	file, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return m, err
	}
	err = m.write(file, work, zipped)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return m, err
	}
	if err := os.Rename(next, to); err != nil {
		return m, err
	}
	return m, syncFolder(beside)
}

// copyData copies the data folder's files into another, all databases as of one moment. When what they say
// about orders does not fit together, the moment was a bad one, or they never will.
func (c *Config) copyData(ctx context.Context, work string) (manifest, error) {
	for try := 1; ; try++ {
		folder := filepath.Join(work, fmt.Sprint(try))
		m, err := c.copyOnce(ctx, folder)
		if err != nil {
			return m, err
		}
		if len(m.Books) == 0 || try == backupTries {
			return m, m.gather(folder, work)
		}
		if err := os.RemoveAll(folder); err != nil {
			return m, err
		}
	}
}

// gather moves the files of a try to where they are written from.
func (m manifest) gather(from, to string) error {
	for _, e := range m.Files {
		if err := os.MkdirAll(filepath.Dir(e.path(to)), 0o700); err != nil {
			return err
		}
		if err := os.Rename(e.path(from), e.path(to)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) copyOnce(ctx context.Context, folder string) (m manifest, err error) {
	m = manifest{Format: manifestFormat, Version: Version}
	snapshots := map[string]*store.Snapshot{}
	defer func() {
		for _, s := range snapshots {
			err = errors.Join(err, s.Close())
		}
	}()
	names := dataFiles(c.Data)
	for _, name := range names { // the moments, close to each other: the orders, and then the stock
		if strings.HasSuffix(name, ".db") {
			if snapshots[name], err = store.OpenSnapshot(ctx, filepath.Join(c.Data, name)); err != nil {
				delete(snapshots, name)
				return m, err
			}
		}
	}
	if len(snapshots) == 0 {
		return m, fmt.Errorf("there are no databases in the data folder %s", c.Data)
	}
	m.At = time.Now().UTC()
	for _, name := range names {
		e := entry{Name: filepath.ToSlash(name)}
		path := e.path(folder)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return m, err
		}
		if s := snapshots[name]; s != nil {
			if err := s.Copy(ctx, path); err != nil {
				return m, err
			}
			if e.Schema, err = store.Inspect(ctx, path); err != nil {
				return m, err
			}
		} else if err := duplicate(filepath.Join(c.Data, name), path); err != nil {
			return m, err
		}
		if err := e.measure(folder); err != nil {
			return m, err
		}
		m.Files = append(m.Files, e)
	}
	m.Books, err = lasting(ctx, folder)
	return m, err
}

// dataFiles lists what a backup takes of a data folder, the orchestrator's database first: an order that
// is committed between the two moments is then one that the next start settles.
func dataFiles(data string) []string {
	var out []string
	for _, name := range []string{runFile, catalogFile, keyFile} {
		if _, err := os.Stat(filepath.Join(data, name)); err == nil {
			out = append(out, name)
		}
	}
	spans, _ := filepath.Glob(filepath.Join(escapeGlob(data), spansFolder, "*.db")) // the pattern is good
	for _, path := range spans {
		if name := filepath.Join(spansFolder, filepath.Base(path)); entryName.MatchString(filepath.ToSlash(name)) {
			out = append(out, name)
		}
	}
	return out
}

func duplicate(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}

// lasting lists what is wrong with the books of a folder that nothing runs on, and that no start mends. A
// database of an earlier version is not looked at.
func lasting(ctx context.Context, folder string) ([]string, error) {
	stocks, errS := catalogdb.OpenReader(ctx, filepath.Join(folder, catalogFile))
	if errS == nil {
		defer func() { _ = stocks.Close() }()
	}
	orders, errO := rundb.OpenReader(ctx, filepath.Join(folder, runFile))
	if errO == nil {
		defer func() { _ = orders.Close() }()
	}
	for _, err := range []error{errS, errO} {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrOldVersion) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	var out []string
	for _, err := range []error{stocks.Invariant(ctx), orders.Invariant(ctx)} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	found, err := books{stocks, orders}.compare(ctx)
	for _, f := range found {
		if !f.passing {
			out = append(out, f.text)
		}
	}
	slices.Sort(out)
	return out, err
}

// syncFolder makes the names in a folder survive a power cut, where the system can.
func syncFolder(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	_ = file.Sync() // some file systems have no such thing
	return file.Close()
}
