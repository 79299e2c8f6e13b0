//go:build linux || darwin

package app

import "syscall"

// diskFree tells how many bytes are free for us where a folder is.
func diskFree(folder string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
