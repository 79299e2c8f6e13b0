package demo

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"agentmesh/app/platform/numeral"
)

const monthsEn = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

var (
	fullDate = regexp.MustCompile(`(\d{4})(?:-|/|\.|年)(\d{1,2})(?:-|/|\.|月)(\d{1,2})[日号]?`)
	monthDay = regexp.MustCompile(`(\d{1,3}|[一二三四五六七八九十]{1,3})月(\d{1,3}|[一二三四五六七八九十]{1,3})[日号]`)
	dayOnly  = regexp.MustCompile(`\d{1,3}[日号](?:$|的?菜|有|吃|呢)`)
	dateEn   = regexp.MustCompile(`(?i)\b(` + monthsEn + `)\.? (?:the )?(\d{1,3})(?:st|nd|rd|th)?\b|\b(\d{1,3})(?:st|nd|rd|th)?(?: of)? (` + monthsEn + `)\b`)
	whichDay = regexp.MustCompile(`^(?:(?:请问|帮我|我想(?:知道)?|看看|看一下|查一?下|告诉我|食堂|餐厅|那|的|里)+)?(.{0,12}?(?:[天日节周号月年夕至]|元旦|星期|礼拜|[天周月]之?后))(?:的|食堂|餐厅|中午|晚上|早上|都?有|吃|菜|呢|$)`)
	eachDay  = regexp.MustCompile(`[当每几]天|每日|^日$|\d号$`)
	dayForEn = regexp.MustCompile(`(?i)\b(?:for|on|in) ((?:(?:this|next|last|the|my|coming|three|two|\d+) )*(?:weeks?|months?|year|christmas(?: eve)?|easter|new year(?:'s)?(?: eve)?|thanksgiving|holidays?|birthday|days|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|\d+[-/.]\d+(?:[-/.]\d+)?|\d+(?:st|nd|rd|th)))\b|\b((?:this|next|last) (?:week|month|year))\b`)
)

// findDate returns the date that a clause names. One that no calendar has is passed on as it was written.
func findDate(clause string) day {
	if m := fullDate.FindStringSubmatch(clause); m != nil {
		year, _ := strconv.Atoi(m[1])
		month, _ := strconv.Atoi(m[2])
		number, _ := strconv.Atoi(m[3])
		if !inCalendar(year, month, number) {
			return unknownDay(m[0])
		}
		date := time.Date(year, time.Month(month), number, 0, 0, 0, 0, time.UTC)
		return day{kind: kindDate, word: date.Format(time.DateOnly)}
	}
	if m := monthDay.FindStringSubmatch(clause); m != nil {
		return dateOf(m[0], numberOf(m[1]), numberOf(m[2]))
	}
	if m := dateEn.FindStringSubmatch(clause); m != nil {
		name := strings.ToLower(cmp.Or(m[1], m[4]))[:3]
		month := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name)/3 + 1
		return dateOf(m[0], month, numberOf(cmp.Or(m[2], m[3])))
	}
	return day{}
}

// dateOf is a date without a year; 29 February may be in one.
func dateOf(said string, month, number int) day {
	if !inCalendar(2000, month, number) {
		return unknownDay(said)
	}
	return day{kind: kindDate, offset: month*100 + number, said: said}
}

func numberOf(digits string) int {
	quantity, _ := numeral.Parse(digits)
	return quantity.N
}

func inCalendar(year, month, number int) bool {
	date := time.Date(year, time.Month(month), number, 0, 0, 0, 0, time.UTC)
	return number > 0 && int(date.Month()) == month && date.Day() == number
}

// dateAfter gives a date its year: this one, or the next if it is long gone.
func (d day) dateAfter(today time.Time) string {
	year := today.Year()
	if time.Date(year, time.Month(d.offset/100), d.offset%100, 0, 0, 0, 0, time.UTC).Before(today.AddDate(0, -6, 0)) {
		year++
	}
	if !inCalendar(year, d.offset/100, d.offset%100) {
		return d.said
	}
	return time.Date(year, time.Month(d.offset/100), d.offset%100, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// menuDayIn returns what stands for a day in a question for the menu, though it is none that the rules know: 下周, 圣诞节.
func menuDayIn(clause string, zh bool) day {
	if !zh {
		if m := dayForEn.FindStringSubmatch(clause); m != nil {
			return unknownDay(group(m))
		}
		return day{}
	}
	if word := dayOnly.FindString(clause); word != "" {
		return unknownDay(strings.TrimRight(word, "的菜有吃呢"))
	}
	if m := whichDay.FindStringSubmatch(clause); m != nil && !eachDay.MatchString(m[1]) {
		return unknownDay(m[1])
	}
	return day{}
}
