package schedule

import (
	"strings"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
)

// TestNext: due times in zones, and where the clocks are changed.
func TestNext(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, cron, zone, after, want string }{
		{"every_minute", "* * * * *", "UTC", "2026-12-01T00:00:30Z", "2026-12-01T00:01:00Z 2026-12-01T00:02:00Z"},
		{"workdays_in_Shanghai", "30 8 * * 1-5", "Asia/Shanghai", "2026-12-04T00:30:00Z", "2026-12-07T00:30:00Z 2026-12-08T00:30:00Z"},
		{"a_leap_day", "0 0 29 2 *", "UTC", "2026-12-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		// New York, 8 March 2026: 02:00 EST becomes 03:00 EDT, which is 07:00Z.
		{"in_the_gap", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z 2026-03-09T06:30:00Z"},
		{"after_the_gap", "30 3 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:30:00Z 2026-03-09T07:30:00Z"},
		{"minutes_over_the_gap", "*/30 * * * *", "America/New_York", "2026-03-08T06:00:00Z", "2026-03-08T06:30:00Z 2026-03-08T07:00:00Z 2026-03-08T07:30:00Z"},
		{"another_day_s_gap", "30 2 * * 1", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-09T06:30:00Z"},
		// New York, 1 November 2026: 02:00 EDT becomes 01:00 EST, which is 06:00Z.
		{"in_the_overlap_once", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z"},
		{"minutes_through_the_overlap", "*/30 * * * *", "America/New_York", "2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z 2026-11-01T06:00:00Z 2026-11-01T06:30:00Z 2026-11-01T07:00:00Z"},
		// Lord Howe leaps by half an hour: 02:00 becomes 02:30, which is 15:30Z.
		{"half_an_hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := parse(tt.cron, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.Fields(tt.want) {
				at = c.next(at)
				got = append(got, at.Format(time.RFC3339))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tt.want)
			}
		})
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", "UTC"},
		{"* * * *", "UTC"},
		{"* * * * * *", "UTC"},
		{"@hourly", "UTC"},
		{"@every 1s", "UTC"},
		{"61 * * * *", "UTC"},
		{"TZ=UTC * * * *", "UTC"},
		{"TZ=0", "UTC"},
		{"0 0 30 2 *", "UTC"},
		{"* * * * *", ""},
		{"* * * * *", "Local"},
		{"* * * * *", "Shanghai"},
		{"* * * * *", "../etc"},
	} {
		if _, err := parse(c[0], c[1]); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q in %q: got %v, want it refused as invalid", c[0], c[1], err)
		}
	}
}

// FuzzParse: whatever is written, it is read or refused, and due times go forward.
func FuzzParse(f *testing.F) {
	f.Add("30 2 * * *", int64(1772884800))
	f.Add("*/7 */3 1-5 1,6 0-6", int64(0))
	f.Fuzz(func(t *testing.T, cron string, after int64) {
		c, err := parse(cron, "America/New_York")
		if err != nil {
			return
		}
		at := time.Unix(after%4e9, 0)
		if next := c.next(at); !next.IsZero() && !next.After(at) {
			t.Errorf("%q after %s: got %s", cron, at, next)
		}
	})
}
