package catalog

import (
	"strings"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// Menu is what there is to eat on one day.
type Menu struct {
	Date      string `json:"date"`
	Weekday   int    `json:"weekday"`
	WeekdayZh string `json:"weekdayZh"`
	WeekdayEn string `json:"weekdayEn"`
	Dishes    []Dish `json:"dishes"`
}

// menuOf picks the dishes of a day.
func menuOf(day time.Time, dishes []Dish) Menu {
	weekday := text.Weekday(day)
	menu := Menu{
		Date:    day.Format(time.DateOnly),
		Weekday: weekday, WeekdayZh: text.WeekdayZh(weekday), WeekdayEn: text.WeekdayEn(weekday),
		Dishes: []Dish{},
	}
	for _, d := range dishes {
		if d.On(weekday) {
			menu.Dishes = append(menu.Dishes, d)
		}
	}
	return menu
}

// calendar understands the words for a day, in the canteen's own time zone: the process may run in
// another one, where it is still yesterday.
type calendar struct {
	location *time.Location
	now      func() time.Time
}

// day turns a word into the noon of a day.
func (c calendar) day(word string) (time.Time, error) {
	now := c.now().In(c.location)
	in := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, 12, 0, 0, 0, c.location)
	}
	name := normalDay(word)
	switch name {
	case "", "today", "今天", "今日":
		return in(0), nil
	case "tomorrow", "明天", "明日":
		return in(1), nil
	case "day after tomorrow", "the day after tomorrow", "后天", "后日":
		return in(2), nil
	case "大后天":
		return in(3), nil
	}
	if date, err := time.ParseInLocation(time.DateOnly, name, c.location); err == nil {
		return date.Add(12 * time.Hour), nil
	}
	weeks, name := cutWeek(name)
	weekday, ok := weekdayOf(name)
	if !ok {
		return time.Time{}, fault.New(fault.Invalid, "%q is not a day that the menu understands: use today, tomorrow, monday … sunday, "+
			"next monday, 今天, 明天, 后天, 周一 … 周日, 下周一 … 下周日, or a date such as %s", word, now.Format(time.DateOnly))
	}
	distance := weekday - text.Weekday(now)
	switch {
	case weeks >= 0: // a day of a calendar week, which begins on Monday
		return in(distance + 7*weeks), nil
	case distance < 0: // the coming one, which may be today
		return in(distance + 7), nil
	}
	return in(distance), nil
}

// normalDay folds spellings that mean the same.
func normalDay(word string) string {
	text := strings.Join(strings.Fields(strings.ToLower(word)), " ")
	text = strings.TrimPrefix(text, "on ")
	return strings.NewReplacer("週", "周", "後", "后", "這", "这", "個", "个", "禮", "礼").Replace(text)
}

// cutWeek takes the word for a calendar week off a weekday: 0 is this week, 1 the next, -1 none said.
func cutWeek(text string) (weeks int, rest string) {
	for _, p := range []struct {
		prefix string
		weeks  int
	}{{"下下个", 2}, {"下下", 2}, {"下个", 1}, {"下", 1}, {"next ", 1}, {"这个", 0}, {"这", 0}, {"本", 0}, {"this ", 0}} {
		if rest, ok := strings.CutPrefix(text, p.prefix); ok {
			return p.weeks, rest
		}
	}
	return -1, text
}

// weekdayOf knows the names of weekdays; Sunday is 7.
func weekdayOf(name string) (int, bool) {
	for _, prefix := range []string{"周", "星期", "礼拜"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return chineseWeekday(rest)
		}
	}
	switch strings.TrimSuffix(name, ".") {
	case "monday", "mon":
		return 1, true
	case "tuesday", "tue", "tues":
		return 2, true
	case "wednesday", "wed":
		return 3, true
	case "thursday", "thu", "thur", "thurs":
		return 4, true
	case "friday", "fri":
		return 5, true
	case "saturday", "sat":
		return 6, true
	case "sunday", "sun":
		return 7, true
	}
	return 0, false
}

func chineseWeekday(digit string) (int, bool) {
	switch digit {
	case "一", "1":
		return 1, true
	case "二", "2":
		return 2, true
	case "三", "3":
		return 3, true
	case "四", "4":
		return 4, true
	case "五", "5":
		return 5, true
	case "六", "6":
		return 6, true
	case "日", "天", "七", "7":
		return 7, true
	}
	return 0, false
}
