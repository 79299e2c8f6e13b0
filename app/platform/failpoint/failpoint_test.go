package failpoint

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/app/platform/fault"
)

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"order.nowhere=kill":                         "no such point",
		"order.commit.after":                         "no action",
		"order.commit.after=explode":                 `no action "explode"`,
		"order.commit.after=kill:often":              "often",
		"order.commit.after=kill:0":                  "from 1",
		"order.commit.after=delay":                   "duration",
		"order.commit.after=error:teapot":            `no fault "teapot"`,
		"order.commit.after=skip":                    "mutant",
		"mutant.nokey=kill":                          "mutant",
		"order.commit.after=kill;order.nowhere=kill": "no such point",
		";": "no such point",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Env) {
			t.Errorf("parse(%q): %v, want %s and %q", text, err, Env, want)
		}
	}
}

func TestHit(t *testing.T) {
	t.Parallel()
	s, err := parse("order.commit.after=error; order.commit.before=error:timeout;run.end.before=kill:3;outbox.deliver.before=log;mutant.nokey=skip")
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[Point]fault.Code{
		AfterCommit: fault.Unavailable, BeforeCommit: fault.Timeout, BeforeDeliver: "", AfterDeliver: "",
		BeforeEnd: "", // the first hit of three
	} {
		if got := fault.CodeOf(s.hit(context.Background(), p)); got != want {
			t.Errorf("%s gave %q, want %q", p, got, want)
		}
	}
	if s[NoKey] == nil || s[Forgetful] != nil {
		t.Error("the one mutant that is skipped is NoKey")
	}
}

func TestHit_Delays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := parse("run.end.after=delay:3s")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := s.hit(context.Background(), AfterEnd); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("it took %s and gave %v, want 3s", time.Since(began), err)
		}
		ctx, stop := context.WithCancel(context.Background())
		stop()
		if _ = s.hit(ctx, AfterEnd); time.Since(began) != 3*time.Second {
			t.Error("it waits for a caller that has gone")
		}
	})
}

// TestHit_FreeWhenOff: a place costs nothing in a program that nobody armed.
func TestHit_FreeWhenOff(t *testing.T) {
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() {
		if Hit(ctx, StoreAfter) != nil || On(NoKey) {
			t.Error("something is armed")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkHit_Off(b *testing.B) {
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := Hit(ctx, StoreAfter); err != nil {
			b.Fatal(err)
		}
	}
}
