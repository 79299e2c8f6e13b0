package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Disk is a file system of a few megabytes.
type Disk struct {
	t   *testing.T
	Dir string
}

// SmallDisk mounts a file system of so many bytes, in memory. That takes root; the test is skipped otherwise.
func SmallDisk(t *testing.T, size int) *Disk {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+strconv.Itoa(size)); err != nil {
		t.Skipf("skipped: a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return &Disk{t, dir}
}

// Fill takes all the room that is left.
func (d *Disk) Fill() {
	d.t.Helper()
	file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	for raw := make([]byte, 4096); err == nil; {
		_, err = file.Write(raw)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("fill: got %v, want a full disk", err)
	}
	_ = file.Close()
}

// Empty gives the room back.
func (d *Disk) Empty() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *Disk) filler() string { return filepath.Join(d.Dir, "filler") }
