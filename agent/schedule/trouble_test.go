package schedule_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/run"
	"agentmesh/agent/schedule"
	"agentmesh/app/platform/flow"
)

// choosy is an engine that cannot make bob's runs.
type choosy struct{ runner }

func (c *choosy) Create(ctx context.Context, in run.Input) (agent.Run, error) {
	if in.UserID == "bob" {
		return agent.Run{}, errors.New("a row of bob's is damaged")
	}
	return c.runner.Create(ctx, in)
}

// renamed is a store in which one person's schedule has a time zone that this machine does not know (a restored backup,
// a zone that was taken out of tzdata).
type renamed struct{ schedule.Store }

func (r renamed) DueSchedules(ctx context.Context, by time.Time) ([]schedule.Schedule, error) {
	due, err := r.Store.DueSchedules(ctx, by)
	for i := range due {
		if due[i].UserID == "bob" {
			due[i].TimeZone = "US/Pacific-New"
		}
	}
	return due, err
}

// A schedule that cannot be read any more is due no more, its fires say why, and the others go on.
func TestABrokenScheduleStopsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &runner{db: db}
		s, stop := begin(t, renamed{db}, r)
		defer stop()
		early, late := "0 8 * * *", "30 8 * * *"
		broken, err := s.Create(context.Background(), "bob", schedule.Draft{Name: text("n"), Cron: &early, Message: text("m")})
		must(t, err)
		sch := daily(t, s, late)
		pass(24 * time.Hour)
		wantFires(t, db, sch.ID, "01T08:30 STARTED")
		wantFires(t, db, broken.ID, "01T08:00 MISSED")
	})
}

// A run that cannot be made is tried again for a while, then skipped, and keeps no other one waiting.
func TestARunThatCannotBeMadeStopsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &choosy{runner: runner{db: db}}
		s := schedule.New(schedule.Deps{Store: db, Runner: r, Now: time.Now, NewID: flow.NewID, Zone: "UTC"})
		s.Start(context.Background())
		defer s.Stop()
		early, late := "0 8 * * *", "30 8 * * *"
		broken, err := s.Create(context.Background(), "bob", schedule.Draft{Name: text("n"), Cron: &early, Message: text("m")})
		must(t, err)
		sch := daily(t, s, late)
		pass(24 * time.Hour)
		wantFires(t, db, sch.ID, "01T08:30 STARTED")
		wantFires(t, db, broken.ID, "01T08:00 SKIPPED")
	})
}

// A due time that nobody has looked at yet is made although the schedule got another name meanwhile.
func TestAChangeOfTheNameLosesNoDueTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &runner{db: db}
		s, stop := begin(t, db, r)
		sch := daily(t, s, "30 8 * * *")
		stop() // the program is restarted over the due time
		pass(8*time.Hour + 31*time.Minute)
		s = schedule.New(schedule.Deps{Store: db, Runner: r, Now: time.Now, NewID: flow.NewID, Zone: "UTC"})
		name := "breakfast"
		_, err := s.Change(context.Background(), "ann", sch.ID, schedule.Draft{Name: &name})
		must(t, err)
		s.Start(context.Background())
		defer s.Stop()
		pass(time.Minute)
		wantFires(t, db, sch.ID, "01T08:30 STARTED")
	})
}

// A clock that was years ahead for a moment, as after a start without a battery, silences no schedule.
func TestAClockThatWasWrongForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "o.db"))
		r := &runner{db: db}
		ahead := time.Duration(0)
		s := schedule.New(schedule.Deps{Store: db, Runner: r, Now: func() time.Time { return time.Now().Add(ahead) }, NewID: flow.NewID, Zone: "UTC"})
		sch := daily(t, s, "30 8 * * *")
		ahead = 4 * 365 * 24 * time.Hour
		s.Start(context.Background())
		synctest.Wait()
		s.Stop()
		ahead = 0
		s.Start(context.Background())
		defer s.Stop()
		pass(7 * 24 * time.Hour)
		if got := len(r.inputs()); got < 6 {
			t.Errorf("got %d runs in seven days: %s", got, fires(t, db, sch.ID))
		}
	})
}
