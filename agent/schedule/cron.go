package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"agentmesh/app/platform/fault"
)

// clock is a cron expression in a time zone.
type clock struct {
	spec cron.Schedule
	zone *time.Location
}

// parse reads five fields (minute, hour, day of the month, month, day of the week) and a time zone.
func parse(expression, zone string) (clock, error) {
	if len(strings.Fields(expression)) != 5 || strings.Contains(expression, "=") {
		return clock{}, fault.New(fault.Invalid, "cron must have five fields, such as 30 8 * * 1-5: minute, hour, day of the month, month, day of the week")
	}
	spec, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(expression)
	if err != nil {
		return clock{}, fault.Wrap(err, fault.Invalid, "cron cannot be read: %s", err.Error())
	}
	where, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" {
		return clock{}, fault.New(fault.Invalid, "timeZone must be a name such as Asia/Shanghai")
	}
	c := clock{spec, where}
	if c.next(time.Now()).IsZero() {
		return clock{}, fault.New(fault.Invalid, "cron names no day that there is")
	}
	return c, nil
}

// next gives the first due time after one, or the zero time when there is none. A time that the clocks leap over
// in spring is due when they have leapt. In the hour that comes twice in autumn, a time of day is due once, the
// first time; what is due in every hour goes on through both.
func (c clock) next(after time.Time) time.Time {
	due := c.spec.Next(after.In(c.zone))
	for !c.everyHour() && c.again(due) {
		due = c.spec.Next(due)
	}
	if leapt := c.leaptOver(after); !leapt.IsZero() && (due.IsZero() || leapt.Before(due)) {
		return leapt.UTC()
	}
	if due.IsZero() {
		return due
	}
	return due.UTC()
}

// everyHour tells whether the field of the hour is a star.
func (c clock) everyHour() bool {
	const star = 1 << 63 // as the parser marks it
	spec, ok := c.spec.(*cron.SpecSchedule)
	return ok && spec.Hour&star != 0
}

// again tells whether the clocks on the wall have shown a time before: they went back less than that ago.
func (c clock) again(t time.Time) bool {
	back, _ := t.ZoneBounds()
	if t.IsZero() || back.IsZero() {
		return false
	}
	before := wall(back.Add(-time.Second), c.zone).Add(time.Second)
	return wall(t, c.zone).Before(before)
}

// leaptOver gives the instant after a leap of the clocks that hides the next due time by the clock on the wall, or
// the zero time.
func (c clock) leaptOver(after time.Time) time.Time {
	_, leap := after.In(c.zone).ZoneBounds()
	if leap.IsZero() {
		return time.Time{}
	}
	before, then := wall(leap.Add(-time.Second), c.zone).Add(time.Second), wall(leap, c.zone)
	if !then.After(before) { // they go back, or nothing changes
		return time.Time{}
	}
	if hidden := c.spec.Next(before.Add(-time.Second)); !hidden.IsZero() && hidden.Before(then) {
		return leap
	}
	return time.Time{}
}

// wall gives what a clock on the wall shows, as if it were UTC.
func wall(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}
