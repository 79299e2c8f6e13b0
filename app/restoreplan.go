package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// plan says what a restore does: files to take away into the folder Aside, and files to put in.
type plan struct {
	Aside string   `json:"aside"`
	Old   []string `json:"old"`
	New   []string `json:"new"`
}

// oldFiles lists the files that are there with their side files, which belong to nothing else.
func oldFiles(data string) []string {
	var out []string
	for _, name := range dataFiles(data) {
		out = append(out, name)
		if strings.HasSuffix(name, ".db") {
			out = append(out, name+"-wal", name+"-shm", name+"-journal")
		}
	}
	return out
}

// decide is the moment from which on the restore will be.
func (p plan) decide(data string) error {
	next := filepath.Join(data, stagedNext)
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(next, planName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(raw); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close(), syncFolder(next)); err != nil {
		return err
	}
	staged := filepath.Join(data, stagedFolder)
	if err := os.RemoveAll(staged); err != nil { // what an earlier one, which is finished, left of it
		return err
	}
	if err := os.Rename(next, staged); err != nil {
		return err
	}
	return syncFolder(data)
}

// planFor makes the plan to put a backup into a folder.
func planFor(data string, m manifest) plan {
	p := plan{Aside: "before-restore-" + time.Now().UTC().Format("20060102-150405.000"), Old: oldFiles(data)}
	for _, e := range m.Files {
		p.New = append(p.New, e.Name)
	}
	if !slices.Contains(p.New, keyFile) { // nobody's key is needed less than before
		p.Old = slices.DeleteFunc(p.Old, func(name string) bool { return name == keyFile })
	}
	return p
}

// finish does what is left to do of a plan: it may have been interrupted anywhere.
func (p plan) finish(data string) error {
	for _, m := range p.moves(data) {
		if err := m.do(); err != nil {
			return err
		}
	}
	if err := syncFolder(data); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(data, stagedFolder))
}

// rename is one step of a plan.
type rename struct{ from, to string }

// moves lists the steps that are left. No new file comes to its place before all old ones are gone, also the
// side files, which SQLite would apply to it; once one is there, no old ones are.
func (p plan) moves(data string) (out []rename) {
	staged := filepath.Join(data, stagedFolder)
	arrived := false
	for _, name := range p.New {
		name = filepath.FromSlash(name)
		out = append(out, rename{filepath.Join(staged, name), filepath.Join(data, name)})
		arrived = arrived || !exists(filepath.Join(staged, name))
	}
	if arrived {
		return out
	}
	var old []rename
	for _, name := range p.Old {
		old = append(old, rename{filepath.Join(data, name), filepath.Join(data, p.Aside, name)})
	}
	return append(old, out...)
}

// do renames a file, if it is still there.
func (m rename) do() error {
	if !exists(m.from) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.to), 0o700); err != nil {
		return err
	}
	return errors.Join(os.Rename(m.from, m.to), syncFolder(filepath.Dir(m.to)))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// finishRestore finishes a restore of a data folder that was interrupted after it was decided. Whoever
// opens databases there to write, or to copy, calls it first.
func finishRestore(data string) error {
	raw, err := os.ReadFile(filepath.Join(data, stagedFolder, planName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finish the restore of %s: %w", data, err)
	}
	var p plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("finish the restore of %s: %w", data, err)
	}
	release, err := own(data)
	if err != nil {
		return fmt.Errorf("finish the restore of %s: %w", data, err)
	}
	if err := errors.Join(p.finish(data), release()); err != nil {
		return fmt.Errorf("finish the restore of %s: %w", data, err)
	}
	return nil
}
