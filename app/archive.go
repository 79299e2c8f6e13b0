package app

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// A backup is a tar file, gzipped if its name says so: the manifest first, then each file that it lists, in
// its order. manifestFormat counts changes that an older program cannot read.
const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	maxManifest    = 1 << 20
)

// manifest says what a backup holds.
type manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that made it
	At      time.Time `json:"at"`
	Files   []entry   `json:"files"`
	Books   []string  `json:"books,omitempty"` // disagreements of orders and stock that were copied as they are
}

// entry is one file of a backup. Schema is the number of migrations that a database has had.
type entry struct {
	Name   string `json:"name"` // within the data folder, with slashes
	Schema int    `json:"schema,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// entryName is what a backup may hold, and nothing else is ever written by a restore.
var entryName = regexp.MustCompile(`^(orchestrator\.db|catalog\.db|keys\.json|spans/[a-z]+\.db)$`)

// path is where a file is in a folder.
func (e entry) path(folder string) string { return filepath.Join(folder, filepath.FromSlash(e.Name)) }

// measure reads size and sum of a file.
func (e *entry) measure(folder string) error {
	file, err := os.Open(e.path(folder))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	e.Size, err = io.Copy(sum, file)
	e.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

// write writes a backup of the files in a folder.
func (m manifest) write(w io.Writer, folder string, zipped bool) (err error) {
	if zipped {
		z := gzip.NewWriter(w)
		defer func() { err = errors.Join(err, z.Close()) }()
		w = z
	}
	t := tar.NewWriter(w)
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	head := func(name string, size int64) error {
		return t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: m.At, Format: tar.FormatPAX})
	}
	if err := head(manifestName, int64(len(raw))); err != nil {
		return err
	}
	if _, err := t.Write(raw); err != nil {
		return err
	}
	for _, e := range m.Files {
		if err := head(e.Name, e.Size); err != nil {
			return err
		}
		if err := copyFile(t, e.path(folder)); err != nil {
			return err
		}
	}
	return t.Close()
}

func copyFile(w io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(w, file)
	return err
}

// errNoBackup says that a file is not a whole backup.
var errNoBackup = errors.New("it is no backup of AgentMesh, or a damaged one")

// unpack writes what is in a backup into an empty folder, and proves by size and sum that all of it came.
func unpack(r io.Reader, folder string) (m manifest, err error) {
	b := bufio.NewReader(r)
	r = b
	if magic, _ := b.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return m, fmt.Errorf("%w: %w", errNoBackup, err)
		}
		r = z
	}
	t := tar.NewReader(r)
	if m, err = readManifest(t); err != nil {
		return m, err
	}
	for _, e := range m.Files {
		if err := e.unpack(t, folder); err != nil {
			return m, err
		}
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("%w: more follows what it lists", errNoBackup)
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // gzip has a sum of its own
		return m, fmt.Errorf("%w: %w", errNoBackup, err)
	}
	return m, nil
}

func readManifest(t *tar.Reader) (m manifest, err error) {
	head, err := t.Next()
	if err != nil || head.Name != manifestName || head.Size > maxManifest {
		return m, fmt.Errorf("%w: it does not begin with a manifest", errNoBackup)
	}
	if err := json.NewDecoder(t).Decode(&m); err != nil {
		return m, fmt.Errorf("%w: its manifest cannot be read: %w", errNoBackup, err)
	}
	if m.Format > manifestFormat {
		return m, fmt.Errorf("the backup is of a newer program (%s): use that one", m.Version)
	}
	seen := map[string]bool{}
	for _, e := range m.Files {
		if !entryName.MatchString(e.Name) || seen[e.Name] || e.Size < 0 {
			return m, fmt.Errorf("%w: it lists %q", errNoBackup, e.Name)
		}
		seen[e.Name] = true
	}
	if len(m.Files) == 0 {
		return m, fmt.Errorf("%w: it lists no files", errNoBackup)
	}
	return m, nil
}

// unpack writes the next file of a backup, which must be this one.
func (e entry) unpack(t *tar.Reader, folder string) error {
	head, err := t.Next()
	if err != nil || head.Name != e.Name || head.Size != e.Size {
		return fmt.Errorf("%w: %s is not there as it was written", errNoBackup, e.Name)
	}
	path := e.path(folder)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), t)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: %s ends early", errNoBackup, e.Name)
		}
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return fmt.Errorf("%w: %s is not as it was written", errNoBackup, e.Name)
	}
	return nil
}
