package starlarktool

import (
	"encoding/json"
	"io"
	"os"
	"runtime/metrics"
	"time"
)

// Memory that a program may take, with the interpreter. On Linux the kernel refuses more than maxSpace of address space
// beside what the process had at its start; a watch, which is all that there is elsewhere, ends it when it uses more than
// MaxMemory.
const (
	MaxMemory = 256 << 20
	maxSpace  = 768 << 20
	watchTime = 2 * time.Millisecond
)

// exitMemory is the exit status of a child that used too much memory.
const exitMemory = 3

// Main is the child process: it bounds itself, reads a program, runs it, and writes the Output as JSON. It gives the
// exit status.
func Main(in io.Reader, out io.Writer) int {
	code, err := io.ReadAll(io.LimitReader(in, 8*MaxCode))
	if err != nil {
		return 1
	}
	if err := limitSpace(maxSpace); err != nil {
		return 1
	}
	go watchMemory()
	if err := json.NewEncoder(out).Encode(interpret(string(code))); err != nil {
		return 1
	}
	return 0
}

// watchMemory ends the process when it uses too much.
func watchMemory() {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(total)
		if total[0].Value.Uint64()-total[1].Value.Uint64() > MaxMemory {
			os.Exit(exitMemory)
		}
		time.Sleep(watchTime)
	}
}
