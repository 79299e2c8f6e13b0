package app_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
)

const (
	soakers     = 48 // clients at work at once: the demo model takes its time to write
	soakSamples = 20 // looks at the process, at most
	soakTalk    = 25 // runs of one conversation
)

// soak is many runs of every kind in one process, with many questions open all the while.
type soak struct {
	t       *testing.T
	dir     string
	p       *process
	m       *meshtest.Mesh
	waiting []*meshtest.Talk
	open    []agent.Confirmation
	done    atomic.Int64
	ordered atomic.Int64
}

// look is one look at the process when nothing of it is at work.
type look struct {
	runs       int64
	heap       float64 // what lives after a collection, in bytes
	goroutines float64
	resident   float64
	database   int64 // of all databases, without their logs
	wal        int64
}

// TestSoak: nothing grows with the number of runs but the databases, and questions that wait cost neither memory that
// grows nor goroutines.
func TestSoak(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &soak{t: t, dir: dir, p: launch(t, "--listen", "127.0.0.1:0", "--data", dir, "--confirmation-ttl", "24h")}
	s.m = meshtest.At(t, s.p.url)
	mustRun(t, "catalog", "restock", "food-001", "100000", "--data", dir)
	before := stock(t, s.m, "food-001")
	idle := s.look()
	s.wait(*soakWaiting)
	s.show("waiting", s.look())
	first := s.look()
	if grown := first.goroutines - idle.goroutines; grown > 10 {
		t.Errorf("%d open questions hold %v goroutines", *soakWaiting, grown)
	}
	looks := []look{}
	samples := min(soakSamples, max(2, *soakRuns/75))
	for i := range samples {
		s.work(*soakRuns*(i+1)/samples - *soakRuns*i/samples)
		looks = append(looks, s.look())
		s.show("", looks[i])
	}
	last := looks[len(looks)-1]
	t.Logf("one run costs %.2f KiB of database", float64(last.database-first.database)/float64(last.runs-first.runs)/1024)
	few := 20.0 // of a short form's; a goroutine left by every fifth run is more
	if *soakRuns >= 5000 {
		few = 5
		flat(t, "heap", looks, func(l look) float64 { return l.heap }, 0) // fewer runs do not fill what is bounded
	}
	flat(t, "goroutines", looks, func(l look) float64 { return l.goroutines }, few)
	s.answer()
	awaitStock(t, s.m, before-int(s.ordered.Load()))
	checkSound(t, s.p)
	s.p.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}

// flat says that a figure of the second half stays within a tenth of its middle, or within a few.
func flat(t *testing.T, what string, looks []look, of func(look) float64, few float64) {
	t.Helper()
	var figures []float64
	for _, l := range looks[len(looks)/2:] {
		figures = append(figures, of(l))
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := sorted[len(sorted)/2]
	for _, n := range figures {
		if math.Abs(n-middle) > max(middle/10, few) {
			t.Errorf("%s are not flat: %v", what, figures)
			return
		}
	}
}

// wait leaves so many questions open, three a user, with nobody watching.
func (s *soak) wait(n int) {
	for i := range n {
		user := fmt.Sprintf("waiting-%03d", i/3)
		talk := s.m.Stream(user, "/agui", meshtest.Input(fmt.Sprint("t", i%3), "帮我订一份水煮牛肉。"))
		s.open = append(s.open, talk.Question())
		talk.Until(func(e agui.Event) bool { return e.Type == agui.RunFinished })
		talk.Close()
		s.waiting = append(s.waiting, talk)
	}
}

// answer decides what has waited, every other with yes, and sees all of it end.
func (s *soak) answer() {
	for i, talk := range s.waiting {
		verb, user := "confirm", fmt.Sprintf("waiting-%03d", i/3)
		if i%2 == 1 {
			verb = "reject"
		} else {
			s.ordered.Add(1)
		}
		if status, body := talk.Decide(verb, s.open[i]); status != http.StatusOK {
			s.t.Errorf("%s of a question that waited: %d %s", verb, status, body)
		}
		s.m.Follow(user, talk.RunID, "").Rest()
	}
}

// work does so many runs.
func (s *soak) work(runs int) {
	var clients sync.WaitGroup
	end := s.done.Load() + int64(runs)
	next := s.done.Load()
	var claimed atomic.Int64
	claimed.Store(next)
	for client := range soakers {
		clients.Go(func() {
			for {
				n := claimed.Add(1)
				if n > end {
					return
				}
				s.run(client, n)
				s.done.Add(1)
			}
		})
	}
	clients.Wait()
}

// run is the nth run, by one of the clients.
func (s *soak) run(client int, n int64) {
	user, thread := fmt.Sprintf("soaker-%d", client), fmt.Sprintf("t-%d-%d", client, n/(soakTalk*soakers))
	say := []string{
		"你好", "你是谁？", "今天食堂有什么菜？", "上海天气怎么样？", "水煮牛肉多少钱，还有库存吗？", "现在几点？", "谢谢", "结合我的偏好推荐一道菜。", "What's on the canteen menu today?", "帮我订一份水煮牛肉。",
	}[n%10]
	path := "/api/v1/runs"
	if n%3 == 0 && n%10 != 9 {
		path = "/agui"
	}
	talk := s.m.Stream(user, path, meshtest.Input(thread, say))
	if n%10 == 9 {
		verb := "confirm"
		if n%20 == 9 {
			verb = "reject"
		} else {
			s.ordered.Add(1)
		}
		if status, body := talk.Decide(verb, talk.Question()); status != http.StatusOK {
			s.t.Errorf("%s: %d %s", verb, status, body)
		}
	}
	talk.Rest()
	if talk.Last().Type != agui.RunFinished || talk.Text() == "" {
		s.t.Errorf("%s ended with %s and %q", say, talk.Types(), talk.Text())
	}
}

// look collects the garbage of the process and reads its figures.
func (s *soak) look() look {
	s.t.Helper()
	s.m.Client().CloseIdleConnections() // how many there are is the clients' affair
	var figures map[string]float64
	lives := math.Inf(1)
	for i := range 6 {
		at := float64(time.Now().UnixNano()) / 1e9
		if err := s.p.cmd.Process.Signal(syscall.SIGUSR1); err != nil { // collectWhenAsked
			s.t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); figures["go_memstats_last_gc_time_seconds"] < at; figures = s.p.figures() {
			if time.Now().After(end) {
				s.t.Fatal("the process does not collect its garbage")
			}
		}
		if i > 0 { // what is pooled outlives one collection; what is under way, such as this look, only adds
			lives = min(lives, figures["go_memstats_heap_alloc_bytes"])
		}
	}
	l := look{
		runs: s.done.Load() + int64(len(s.waiting)), heap: lives, goroutines: figures["go_goroutines"],
		resident: figures["process_resident_memory_bytes"],
	}
	_ = filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		info, statErr := os.Stat(path)
		switch {
		case err != nil || statErr != nil:
		case strings.HasSuffix(path, ".db"):
			l.database += info.Size()
		case strings.HasSuffix(path, ".db-wal"):
			l.wal += info.Size()
		}
		return nil
	})
	return l
}

func (s *soak) show(what string, l look) {
	s.t.Helper()
	const mib = 1 << 20
	s.t.Logf("%s%6d runs: heap %.2f MiB, %v goroutines, RSS %.1f MiB, databases %.2f MiB, WAL %.2f MiB",
		what, l.runs, l.heap/mib, l.goroutines, l.resident/mib, float64(l.database)/mib, float64(l.wal)/mib)
}
