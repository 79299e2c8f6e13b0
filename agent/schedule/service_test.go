package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/agent/schedule"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// runner stores runs as the engine does, and remembers which ones were set going.
type runner struct {
	db *rundb.DB

	mu    sync.Mutex
	began []string
	fail  error // of the next Create
	made  []run.Input
}

func (r *runner) Create(ctx context.Context, in run.Input) (agent.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fail; err != nil {
		r.fail = nil
		return agent.Run{}, err
	}
	made := agent.Run{
		ID: flow.NewID("run"), ClientRunID: in.ClientRunID, UserID: in.UserID, ThreadID: in.ThreadID, Origin: in.Origin, Mode: in.Mode,
		InputKey: in.ClientRunID + in.Text, CreatedAt: time.Now(),
	}
	err := r.db.CreateRun(ctx, made, in.Text, agent.Message{ID: in.MessageID, UserID: in.UserID, ThreadID: in.ThreadID, Role: agent.User, Text: in.Text, CreatedAt: time.Now()})
	var same *agent.SameInputError
	if errors.As(err, &same) {
		return r.db.Run(ctx, in.UserID, same.RunID)
	}
	if err == nil {
		r.made = append(r.made, in)
	}
	return made, err
}

func (r *runner) Begin(runID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = append(r.began, runID)
}

func (r *runner) failing(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = err
}

// set gives the runs that were set going.
func (r *runner) set() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.began)
}

func (r *runner) inputs() []run.Input {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *rundb.DB {
	t.Helper()
	db, err := rundb.Open(context.Background(), path)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// begin starts a service over a database.
func begin(t *testing.T, db schedule.Store, r *runner) (s *schedule.Service, stop func()) {
	t.Helper()
	s = schedule.New(schedule.Deps{Store: db, Runner: r, Now: time.Now, NewID: flow.NewID, Zone: "UTC"})
	s.Start(context.Background())
	t.Cleanup(s.Stop)
	return s, s.Stop
}

func text(s string) *string { return &s }

func daily(t *testing.T, s *schedule.Service, cron string) schedule.Schedule {
	t.Helper()
	made, err := s.Create(context.Background(), "ann", schedule.Draft{Name: text("morning"), Cron: &cron, Message: text("what is there to eat?")})
	must(t, err)
	return made
}

// fires lists what became of due times, oldest first, as "15:04 STATUS".
func fires(t *testing.T, db *rundb.DB, id string) string {
	t.Helper()
	list, err := db.Fires(context.Background(), id, 100)
	must(t, err)
	var out []string
	for _, f := range list {
		out = append([]string{f.DueAt.Format("02T15:04") + " " + string(f.Status)}, out...)
	}
	return strings.Join(out, ", ")
}

func wantFires(t *testing.T, db *rundb.DB, id, want string) {
	t.Helper()
	if got := fires(t, db, id); got != want {
		t.Errorf("got the fires %q, want %q", got, want)
	}
}

// pass lets time go by, and all that happens then happen. A bubble begins at midnight, 1 January 2000, UTC.
func pass(d time.Duration) {
	time.Sleep(d) //nolint // the bubble's clock
	synctest.Wait()
}

// TestFires: each due time is made once, as an unattended run of its own origin in the schedule's conversation.
func TestFires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &runner{db: db}
		s, stop := begin(t, db, r)
		defer stop()
		sch := daily(t, s, "30 8 * * *")
		pass(49 * time.Hour)
		wantFires(t, db, sch.ID, "01T08:30 STARTED, 02T08:30 STARTED")
		in := r.inputs()
		if len(in) != 2 || in[0].Origin != agent.BySchedule || in[0].Mode != capability.ModeUnattended || in[0].ThreadID != in[1].ThreadID || len(r.set()) != 2 {
			t.Errorf("got %+v, begun %v", in, r.set())
		}
		fresh, off := schedule.Fresh, false
		_, err := s.Change(context.Background(), "ann", sch.ID, schedule.Draft{Conversation: &fresh})
		must(t, err)
		pass(48 * time.Hour)
		if in = r.inputs(); len(in) != 4 || in[2].ThreadID == in[3].ThreadID || in[2].ThreadID == in[0].ThreadID {
			t.Errorf("fresh: got %+v", in)
		}
		_, err = s.Change(context.Background(), "ann", sch.ID, schedule.Draft{Enabled: &off})
		must(t, err)
		pass(48 * time.Hour)
		if got := len(r.inputs()); got != 4 {
			t.Errorf("disabled: got %d runs, want 4", got)
		}
		if due := s.DueTimes(sch, 2); len(due) != 2 || !due[1].After(due[0]) {
			t.Errorf("got the due times %v", due)
		}
	})
}

// TestMisfire: what is found late within the grace runs, older due times were missed, and one run is made of however many.
func TestMisfire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, cron string
		away       time.Duration
		want       string
	}{
		{"a_little_late", "30 8 * * *", 8*time.Hour + 34*time.Minute, "01T08:30 STARTED"},
		{"just_in_time", "30 8 * * *", 8*time.Hour + 34*time.Minute + 59*time.Second, "01T08:30 STARTED"},
		{"too_late", "30 8 * * *", 8*time.Hour + 35*time.Minute, "01T08:30 MISSED"},
		{"days_late", "30 8 * * *", 72*time.Hour + 9*time.Hour, "01T08:30 MISSED"},
		{"many_missed_and_one_in_time", "* * * * *", 3*time.Hour + 30*time.Second, "01T00:01 MISSED, 01T03:00 STARTED"},
		{"several_within_the_grace", "* * * * *", 3*time.Minute + 30*time.Second, "01T00:01 MISSED, 01T00:03 STARTED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := open(t, filepath.Join(t.TempDir(), "o.db"))
				r := &runner{db: db}
				s, stop := begin(t, db, r)
				sch := daily(t, s, tt.cron)
				stop()
				pass(tt.away)
				_, stop = begin(t, db, r)
				synctest.Wait()
				stop()
				wantFires(t, db, sch.ID, tt.want)
				if got := len(r.inputs()); got > 1 {
					t.Errorf("got %d runs of what was missed", got)
				}
			})
		})
	}
}

// TestTwoProcesses on one database make each due time once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "o.db")
		db := open(t, path)
		a, b := &runner{db: db}, &runner{db: db}
		s, stopA := begin(t, db, a)
		_, stopB := begin(t, db, b)
		sch := daily(t, s, "*/10 * * * *")
		pass(time.Hour + time.Minute)
		stopA()
		stopB()
		if got := len(a.inputs()) + len(b.inputs()); got != 6 {
			t.Errorf("got %d runs, want 6: %s", got, fires(t, db, sch.ID))
		}
	})
}

// brokenStore fails to say what became of a fire, as a process does that ends between the two.
type brokenStore struct {
	*rundb.DB
	broken atomic.Bool
}

func (b *brokenStore) CloseFire(ctx context.Context, f schedule.Fire) error {
	if b.broken.Load() {
		return errors.New("the process ended")
	}
	return b.DB.CloseFire(ctx, f)
}

// TestCrash: before the run is made, and between the run and the word that it was: exactly one run.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, broke := range map[string]func(*brokenStore, *runner){
		"before_the_run": func(_ *brokenStore, r *runner) { r.failing(errors.New("the process ended")) },
		"after_the_run":  func(b *brokenStore, _ *runner) { b.broken.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := open(t, filepath.Join(t.TempDir(), "o.db"))
				b, r := &brokenStore{DB: db}, &runner{db: db}
				s, stop := begin(t, b, r)
				sch := daily(t, s, "30 8 * * *")
				broke(b, r)
				pass(8*time.Hour + 30*time.Minute)
				stop()
				wantFires(t, db, sch.ID, "01T08:30 DUE")
				pass(time.Hour) // later than any grace: the fire was claimed in time
				b.broken.Store(false)
				changed := "what is there to drink?"
				_, err := s.Change(context.Background(), "ann", sch.ID, schedule.Draft{Message: &changed})
				must(t, err)
				_, stop = begin(t, b, r)
				synctest.Wait()
				stop()
				wantFires(t, db, sch.ID, "01T08:30 STARTED")
				if in := r.inputs(); len(in) != 1 || in[0].Text != "what is there to eat?" {
					t.Errorf("got %+v, want the one run, of what was to be said then", in)
				}
			})
		})
	}
}

// TestOpenQuestion: a fire whose conversation waits for a person is skipped, and says why.
func TestOpenQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &runner{db: db, fail: &run.OpenConfirmationError{Confirmation: agent.Confirmation{ID: "conf-1"}}}
		s, stop := begin(t, db, r)
		defer stop()
		sch := daily(t, s, "30 8 * * *")
		pass(9 * time.Hour)
		list, err := s.Fires(context.Background(), sch.ID, 1)
		must(t, err)
		if len(list) != 1 || list[0].Status != schedule.Skipped || !strings.Contains(list[0].Reason, "conf-1") || len(r.set()) != 0 {
			t.Errorf("got %+v", list)
		}
	})
}

func TestCreate_Refuses(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "o.db"))
	s := schedule.New(schedule.Deps{Store: db, Runner: &runner{db: db}, Now: time.Now, NewID: flow.NewID, Zone: "UTC"})
	other := schedule.Conversation("other")
	for name, d := range map[string]schedule.Draft{
		"nothing":       {},
		"no_name":       {Name: text(" "), Cron: text("* * * * *"), Message: text("m")},
		"long_name":     {Name: text(strings.Repeat("长", 81)), Cron: text("* * * * *"), Message: text("m")},
		"no_message":    {Name: text("n"), Cron: text("* * * * *")},
		"long_message":  {Name: text("n"), Cron: text("* * * * *"), Message: text(strings.Repeat("长", 4001))},
		"cron":          {Name: text("n"), Cron: text("* * *"), Message: text("m")},
		"zone":          {Name: text("n"), Cron: text("* * * * *"), TimeZone: text("Mars"), Message: text("m")},
		"conversation?": {Name: text("n"), Cron: text("* * * * *"), Message: text("m"), Conversation: &other},
	} {
		if _, err := s.Create(t.Context(), "ann", d); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	for i := range schedule.MaxOfUser + 1 {
		_, err := s.Create(t.Context(), "ann", schedule.Draft{Name: text(fmt.Sprint("n", i)), Cron: text("* * * * *"), Message: text("m")})
		if (err != nil) != (i == schedule.MaxOfUser) {
			t.Errorf("schedule %d: got %v", i+1, err)
		}
	}
	_, err := s.Create(t.Context(), "bob", schedule.Draft{Name: text("n"), Cron: text("* * * * *"), Message: text("m")})
	must(t, err)
}

// TestRunNow runs a schedule at once, also one that is disabled.
func TestRunNow(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "o.db"))
	r := &runner{db: db}
	s := schedule.New(schedule.Deps{Store: db, Runner: r, Now: time.Now, NewID: flow.NewID, Zone: "UTC"})
	off := false
	sch, err := s.Create(t.Context(), "ann", schedule.Draft{Name: text("n"), Cron: text("* * * * *"), Message: text("m"), Enabled: &off})
	must(t, err)
	f, err := s.RunNow(t.Context(), "ann", sch.ID)
	if err != nil || f.Status != schedule.Started || f.RunID == "" || len(r.set()) != 1 {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, err := range []error{
		s.Delete(t.Context(), "bob", sch.ID),
		func() error { _, err := s.RunNow(t.Context(), "bob", sch.ID); return err }(),
		func() error { _, err := s.Change(t.Context(), "bob", sch.ID, schedule.Draft{}); return err }(),
	} {
		if !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("another's: got %v, want not found", err)
		}
	}
	must(t, s.Delete(t.Context(), "ann", sch.ID))
}
