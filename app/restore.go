package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"agentmesh/store"
	"agentmesh/store/catalogdb"
	"agentmesh/store/rundb"
	"agentmesh/store/spandb"
)

// A restore unpacks into stagedNext, and proves what is there. With the name stagedFolder it is decided:
// whoever comes next to the data folder finishes it, so that a kill at any moment leaves all of the old
// files or all of the new ones.
const (
	stagedNext   = "restore.next"
	stagedFolder = "restore"
	planName     = "plan.json"
)

// restoreCommand puts a backup into a data folder.
func restoreCommand() *cobra.Command {
	var c Config
	var force bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup into the data folder", Args: cobra.ExactArgs(1),
		Long: "Put a backup into the data folder, all of it or nothing; - is the standard input. The program must not run. With --force\n" +
			"databases that are there are put aside, into a folder beside them, and never deleted. Keys come back too: one that was\n" +
			"revoked since the backup works again ('agentmesh key list'). The next start settles what was under way at the time of\n" +
			"the backup, and drops what is older than it is kept ('serve --keep-events 0 --keep-audit 0 --keep-spans 0' keeps all);\n" +
			"'agentmesh doctor' says what only a person can settle.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := c.resolve(cmd); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(commandContext(cmd), os.Interrupt, syscall.SIGTERM)
			defer stop()
			m, aside, err := c.restore(ctx, args[0], force, cmd.InOrStdin())
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			m.print(cmd.OutOrStdout(), "restored")
			if aside != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "what was there is in %s\n", aside)
			}
			return nil
		},
	}
	c.bindFlags(cmd.Flags(), "data")
	cmd.Flags().BoolVar(&force, "force", false, "put databases that are there aside")
	return cmd
}

// restore gives what was restored, and where the old files are.
func (c *Config) restore(ctx context.Context, from string, force bool, stdin io.Reader) (m manifest, aside string, err error) {
	if err := finishRestore(c.Data); err != nil { // of an earlier one
		return m, "", err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return m, "", err
	}
	release, err := own(c.Data)
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	old := oldFiles(c.Data)
	if databases := dataFiles(c.Data); len(old) > 0 && !force {
		return m, "", fmt.Errorf("%s holds %s already: name another folder with --data, or --force puts them aside", c.Data, strings.Join(databases, ", "))
	}
	next := filepath.Join(c.Data, stagedNext)
	if err := os.RemoveAll(next); err != nil { // left by one that was interrupted
		return m, "", err
	}
	if m, err = stage(ctx, from, next, stdin); err != nil {
		return m, "", errors.Join(err, os.RemoveAll(next))
	}
	p := planFor(c.Data, m)
	if err := p.decide(c.Data); err != nil {
		return m, "", err
	}
	if len(old) > 0 {
		aside = filepath.Join(c.Data, p.Aside)
	}
	return m, aside, p.finish(c.Data)
}

// stage unpacks a backup and proves that it can be used, before anything else is touched.
func stage(ctx context.Context, from, next string, stdin io.Reader) (m manifest, err error) {
	if from != "-" {
		file, err := os.Open(from)
		if err != nil {
			return m, err
		}
		defer func() { _ = file.Close() }()
		stdin = file
	}
	if err := os.Mkdir(next, 0o700); err != nil {
		return m, err
	}
	if m, err = unpack(stdin, next); err != nil {
		return m, fmt.Errorf("%s: %w", from, err)
	}
	for _, e := range m.Files {
		if err := e.usable(ctx, next); err != nil {
			return m, fmt.Errorf("%s: %s: %w", from, e.Name, err)
		}
	}
	return m, nil
}

// usable tells whether this program can open an unpacked file.
func (e entry) usable(ctx context.Context, folder string) error {
	path := e.path(folder)
	if e.Name == keyFile {
		_, err := readKeys(path)
		return err
	}
	at, err := store.Inspect(ctx, path)
	if err != nil {
		return err
	}
	if at != e.Schema {
		return fmt.Errorf("it has version %d and the backup says %d", at, e.Schema)
	}
	switch e.Name {
	case runFile:
		db, errOpen := rundb.OpenReader(ctx, path)
		err = opened(db, errOpen)
	case catalogFile:
		db, errOpen := catalogdb.OpenReader(ctx, path)
		err = opened(db, errOpen)
	default:
		err = spandb.Check(ctx, path)
	}
	if errors.Is(err, store.ErrOldVersion) { // the next start migrates it
		return nil
	}
	return err
}

func opened(db io.Closer, err error) error {
	if err != nil {
		return err
	}
	return db.Close()
}

// own keeps every process away from the databases of a folder until it is released.
func own(data string) (release func() error, err error) {
	found, err := running(data)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("process %d runs on %s: 'agentmesh stop' first", found[0].PID, data)
	}
	if err := os.MkdirAll(filepath.Join(data, spansFolder), 0o700); err != nil {
		return nil, err
	}
	paths := []string{filepath.Join(data, runFile), filepath.Join(data, catalogFile)}
	for _, r := range table() {
		paths = append(paths, filepath.Join(data, spansFolder, r.name+".db"))
	}
	var locks []*os.File
	release = func() (err error) {
		for _, l := range locks {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	for _, path := range paths {
		lock, err := store.Own(path + ".lock")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), release())
		}
		locks = append(locks, lock)
	}
	return release, nil
}
