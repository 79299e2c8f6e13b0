//go:build !linux

package storetest

import "testing"

// Disk is a file system of a few megabytes.
type Disk struct{ Dir string }

// SmallDisk skips the test: it is mounted on Linux alone.
func SmallDisk(t *testing.T, _ int) *Disk {
	t.Helper()
	t.Skip("skipped: a small disk is mounted on Linux alone")
	return nil
}

// Fill takes all the room that is left.
func (*Disk) Fill() {}

// Empty gives the room back.
func (*Disk) Empty() {}
