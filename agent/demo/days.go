package demo

import (
	"regexp"
	"strings"
	"time"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

// day is a day as the user named it.
type day struct {
	kind   dayKind
	offset int    // days from today, for kindOffset
	number int    // ISO weekday, for kindWeekday
	said   string // a date without its year, as it was written
	word   string // what list_menu_by_day takes, where it can take it
}

type dayKind int

const (
	kindNone dayKind = iota
	kindOffset
	kindWeekday
	kindWeekend
	kindDate
	kindUnknown // what looks like a day and is none; the menu tool says what it knows
)

var (
	offsetZh  = regexp.MustCompile(`大*后天|明天|明日|明儿|明晚|明早|今天|今日|今晚|今儿|今早|昨天|大*前天`)
	offsetEn  = regexp.MustCompile(`(?i)\b(?:the )?day after tomorrow\b|\btomorrow\b|\btoday\b|\btonight\b|\byesterday\b`)
	weekdayZh = regexp.MustCompile(`(下+个?|上+个?|[这本]个?)?(?:周|星期|礼拜)([一二三四五六日天]|[零〇七八九十百千\d]+)`)
	weekdayEn = regexp.MustCompile(`(?i)\b(next |last )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b`)
	otherDay  = regexp.MustCompile(`(?i)\b(?:(?:next|last|this) )?[a-z]+day\b`)
	noDay     = regexp.MustCompile(`(?i)(?:every|mid|birth|holi|noon|work|some)day$`)
	weekend   = regexp.MustCompile(`周末|(?i)\bweekend\b`)
	spanDays  = regexp.MustCompile(`([一二两三四五六七八九十]+|几|\d+)天`)
	spanEn    = regexp.MustCompile(`(?i)\b(a few|few|couple of|several|[a-z]+|\d+)[ -]days?\b`)
	wholeWeek = regexp.MustCompile(`(?:这|本|一|未来|接下来|下)(?:个)?(?:周|星期|礼拜)(?:的|天|$|[^一二三四五六日末])|(?i)\b(?:this|next|coming|the|a|all|whole) week\b`)
)

// findDay returns the day a clause names, kindNone if it names none.
func findDay(clause string) day {
	if d := findDate(clause); d.kind != kindNone {
		return d
	}
	if word := offsetZh.FindString(clause); word != "" {
		return offsetDay(offsetOf(word), word)
	}
	if word := offsetEn.FindString(clause); word != "" {
		return offsetDay(offsetOf(strings.ToLower(word)), word)
	}
	if m := weekdayZh.FindStringSubmatch(clause); m != nil {
		return weekdayOf(m)
	}
	if m := weekdayEn.FindStringSubmatch(clause); m != nil {
		d := weekday(numberOfWeekday(strings.ToLower(m[2])))
		switch strings.ToLower(m[1]) {
		case "next ":
			d.word = "下" + text.WeekdayShortZh(d.number)
		case "last ":
			return unknownDay(m[0])
		}
		return d
	}
	if word := otherDay.FindString(clause); word != "" && !noDay.MatchString(word) {
		return unknownDay(word)
	}
	if weekend.MatchString(clause) {
		return day{kind: kindWeekend, number: 6, word: "saturday"}
	}
	return day{}
}

// weekdayOf reads a match of weekdayZh; 周八 and 上周五 are no days to come, and 下下周一 is for the menu tool to work out.
func weekdayOf(m []string) day {
	number := numberOfWeekday(m[2])
	if number == 0 || strings.HasPrefix(m[1], "上") {
		return unknownDay(m[0])
	}
	d := weekday(number)
	switch m[1] {
	case "":
	case "下", "下个":
		d.word = "下" + text.WeekdayShortZh(number)
	default:
		d.word = m[0]
	}
	return d
}

func unknownDay(words string) day {
	return day{kind: kindUnknown, word: text.Cut(strings.TrimSpace(words), 40)}
}

func offsetOf(word string) int {
	switch word {
	case "大后天":
		return 3
	case "后天", "day after tomorrow", "the day after tomorrow":
		return 2
	case "明天", "明日", "明儿", "明晚", "明早", "tomorrow":
		return 1
	case "昨天", "yesterday":
		return -1
	case "前天":
		return -2
	case "大前天":
		return -3
	}
	if strings.HasPrefix(word, "大大") {
		return farOff
	}
	return 0
}

// farOff stands for 大大后天, which nobody can be sure of.
const farOff = 1000

func offsetDay(offset int, said string) day {
	if offset == farOff {
		return unknownDay(said)
	}
	d := day{kind: kindOffset, offset: offset}
	switch offset {
	case 0:
		d.word = "today"
	case 1:
		d.word = "tomorrow"
	}
	return d
}

func weekday(number int) day {
	return day{kind: kindWeekday, number: number, word: strings.ToLower(text.WeekdayEn(number))}
}

// numberOfWeekday takes a Chinese character or an English name in lower case; 0 is none of them.
func numberOfWeekday(name string) int {
	for day := 1; day <= 7; day++ {
		if "星期"+name == text.WeekdayZh(day) || name == strings.ToLower(text.WeekdayEn(day)) {
			return day
		}
	}
	if name == "天" {
		return 7
	}
	return 0
}

// needsClock tells whether the menu tool can't take the day as it is, so that today's date is wanted first.
func (d day) needsClock() bool {
	return d.kind != kindNone && d.word == ""
}

// menuArgument returns what list_menu_by_day is given; today is what get_current_time said, if it was asked.
func (d day) menuArgument(today string) string {
	if !d.needsClock() {
		return d.word
	}
	date, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return ""
	}
	if d.kind == kindOffset {
		return date.AddDate(0, 0, d.offset).Format(time.DateOnly)
	}
	return d.dateAfter(date)
}

// span returns how many days of weather are asked for, and whether the user named a number of days or a whole week.
func span(clause string, d day) (days int, named bool) {
	if m := spanDays.FindStringSubmatch(clause); m != nil {
		return spanOf(m[1])
	}
	if m := spanEn.FindStringSubmatch(clause); m != nil {
		if n, named := spanOf(strings.ToLower(m[1])); named {
			return n, true
		}
	}
	switch {
	case d.kind == kindOffset && d.offset > 0:
		return d.offset + 1, false
	case d.kind == kindWeekday, d.kind == kindWeekend, d.kind == kindDate:
		return 7, false
	case wholeWeek.MatchString(clause):
		return 7, true
	}
	return 1, false
}

func spanOf(word string) (int, bool) {
	quantity, ok := numeral.Parse(word)
	switch {
	case word == "几" || ok && quantity.Kind == numeral.Vague:
		return 3, true
	case word == "couple of":
		return 2, true
	case !ok || quantity.Kind != numeral.Whole || quantity.N < 1:
		return 1, false
	}
	return quantity.N, true
}
