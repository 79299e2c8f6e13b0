package catalog

import (
	"strings"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
)

// shanghai has no daylight saving, so that the test needs no time zone database.
func shanghai() *time.Location { return time.FixedZone("Asia/Shanghai", 8*3600) }

func at(t *testing.T, rfc3339 string) calendar {
	t.Helper()
	now, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		t.Fatal(err)
	}
	return calendar{location: shanghai(), now: func() time.Time { return now.UTC() }}
}

func TestDay_Words(t *testing.T) {
	t.Parallel()
	const sunday, wednesday = "2026-11-29T12:00:00+08:00", "2026-12-02T12:00:00+08:00"
	for _, c := range []struct{ now, words, want string }{
		// date-weekday: on a Sunday these are all today, and next Monday is tomorrow.
		{sunday, "|today|今天|今日|周日|星期天|星期日|礼拜天|礼拜日|sunday|sun|Sunday|SUN|周天|週日|this sunday|本周日|这周日", "2026-11-29"},
		{sunday, "tomorrow|明天|明日|下周一|下星期一|下礼拜一|下个星期一|next monday|monday|mon|周一|Next  Monday|2026-11-30", "2026-11-30"},
		{sunday, "后天|後天|day after tomorrow|tuesday|周二", "2026-12-01"},
		{sunday, "saturday|周六|礼拜六|sat", "2026-12-05"},
		{sunday, "下周日|next sunday|下个礼拜天", "2026-12-06"},
		{sunday, "下下周一", "2026-12-07"},
		{sunday, "本周一|this monday", "2026-11-23"},
		{wednesday, "wednesday|周三|wed|星期三|今天", "2026-12-02"},
		{wednesday, "tuesday|周二|tue|下周二|next tuesday", "2026-12-08"},
		{wednesday, "friday|周五|this friday|本周五| on friday ", "2026-12-04"},
		{wednesday, "下周三|next wednesday", "2026-12-09"},
		{wednesday, "下周五|next fri", "2026-12-11"},
		{wednesday, "大后天", "2026-12-05"},
		{wednesday, "2024-02-29", "2024-02-29"},
	} {
		for word := range strings.SplitSeq(c.words, "|") {
			got, err := at(t, c.now).day(word)
			if err != nil || got.Format(time.DateOnly) != c.want {
				t.Errorf("%q on %s: got %s, %v, want %s", word, c.now, got.Format(time.DateOnly), err, c.want)
			}
		}
	}
}

func TestDay_NotADay(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"周八", "someday", "2026-02-30", "下周", "周", "周末", "yesterday", "2026/11/29", "next", "今天晚上吃什么", "\x00"} {
		_, err := at(t, "2026-11-29T12:00:00+08:00").day(word)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.MessageOf(err), "下周一") || !strings.Contains(fault.MessageOf(err), "2026-11-29") {
			t.Errorf("%q: got %v, want a sentence with the days it knows", word, err)
		}
	}
}

// TestDay_Midnight is case date-midnight: the process is in UTC and the canteen is not.
func TestDay_Midnight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now, want string
		weekday   int
	}{
		{"2026-11-29T23:59:00+08:00", "2026-11-29", 7},
		{"2026-11-30T00:01:00+08:00", "2026-11-30", 1},
		{"2026-11-30T07:59:00+08:00", "2026-11-30", 1},
		{"2026-11-30T08:01:00+08:00", "2026-11-30", 1},
		{"2026-12-31T23:59:59+08:00", "2026-12-31", 4},
	} {
		for _, word := range []string{"today", "今天"} {
			day, err := at(t, c.now).day(word)
			if err != nil {
				t.Fatal(err)
			}
			menu := menuOf(day, nil)
			if menu.Date != c.want || menu.Weekday != c.weekday {
				t.Errorf("%s at %s: got %s, weekday %d, want %s, %d", word, c.now, menu.Date, menu.Weekday, c.want, c.weekday)
			}
		}
	}
}

// TestDay_ClockChange checks that a night of 25 hours is still one day.
func TestDay_ClockChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone database")
	}
	now := time.Date(2026, 10, 24, 0, 30, 0, 0, berlin)
	day, err := calendar{location: berlin, now: func() time.Time { return now }}.day("后天")
	if err != nil || day.Format(time.DateOnly) != "2026-10-26" {
		t.Errorf("got %s, %v, want 2026-10-26", day, err)
	}
}

func TestMenuOf_Weekdays(t *testing.T) {
	t.Parallel()
	dishes := []Dish{{ID: "a", Weekdays: []int{7}}, {ID: "b", Weekdays: []int{1, 7}}, {ID: "c", Weekdays: []int{1}}}
	for _, c := range []struct{ day, ids, zh, en string }{
		{"2026-11-29", "a b", "星期日", "Sunday"},
		{"2026-11-30", "b c", "星期一", "Monday"},
		{"2026-12-05", "", "星期六", "Saturday"},
	} {
		day, err := time.ParseInLocation(time.DateOnly, c.day, shanghai())
		if err != nil {
			t.Fatal(err)
		}
		menu := menuOf(day, dishes)
		var ids []string
		for _, d := range menu.Dishes {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); got != c.ids || menu.WeekdayZh != c.zh || menu.WeekdayEn != c.en || menu.Dishes == nil {
			t.Errorf("%s: got %q %s %s, want %q %s %s", c.day, got, menu.WeekdayZh, menu.WeekdayEn, c.ids, c.zh, c.en)
		}
	}
}
