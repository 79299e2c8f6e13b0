package crash

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// process is one process of the program, which is started again and again.
type process struct {
	args []string
	env  []string
	log  *tailLog

	cmd    *exec.Cmd
	alive  io.Closer // its standard input: it ends when this closes
	exited chan struct{}
	url    string
}

// tailLog keeps the end of what a process logs.
type tailLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *tailLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buf.Len() > 1<<20 {
		l.buf.Next(l.buf.Len() / 2)
	}
	return l.buf.Write(p)
}

func (l *tailLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

var pageURL = regexp.MustCompile(`(?:page|at) +(http://\S+)/`)

// errDied says that a process ended before it said where it is.
var errDied = errors.New("the process ended before it was ready")

// start starts it with faults, and waits until it says where it is.
func (p *process) start(failpoints string) error {
	p.cmd = exec.Command(os.Args[0], append([]string{"serve"}, p.args...)...)
	p.cmd.Env = append([]string{beTheProgram + "=1", "AGENTMESH_FAILPOINTS=" + failpoints, "PATH=" + os.Getenv("PATH")}, p.env...)
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.alive, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.exited = make(chan struct{})
	ready := make(chan string, 1)
	go func(cmd *exec.Cmd, exited chan struct{}) {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := pageURL.FindStringSubmatch(lines.Text()); m != nil {
				ready <- m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		close(exited)
	}(p.cmd, p.exited)
	select {
	case p.url = <-ready:
		return nil
	case <-p.exited:
		return errDied
	}
}

// kill ends it as it stands.
func (p *process) kill() { p.signal(syscall.SIGKILL) }

// stop ends it in order.
func (p *process) stop() { p.signal(syscall.SIGTERM) }

func (p *process) signal(s syscall.Signal) {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Signal(s)
	<-p.exited
}

// freeze stops it for a time, as a machine does that has other things to do.
func (p *process) freeze(d time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	pause(p.exited, d)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
}

// dies tells whether it ends by itself within a time.
func (p *process) dies(within time.Duration) bool { return !pause(p.exited, within) }
