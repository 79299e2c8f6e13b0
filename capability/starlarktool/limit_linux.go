package starlarktool

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// limitSpace lets this process have so much more address space than it has, and no core dump.
func limitSpace(more uint64) error {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return fmt.Errorf("read the size of this process: %w", err)
	}
	var pages uint64
	if _, err := fmt.Fscan(strings.NewReader(string(raw)), &pages); err != nil {
		return fmt.Errorf("read the size of this process: %w", err)
	}
	most := pages*uint64(os.Getpagesize()) + more
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound the memory of this process: %w", err)
	}
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
