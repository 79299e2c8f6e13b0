//go:build !linux && !darwin

package app

// diskFree does not know on these systems.
func diskFree(string) (free uint64, known bool) { return 0, false }
