package text

import "time"

// Weekday numbers the day of a time as ISO does: Monday is 1, Sunday is 7.
func Weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// WeekdayZh names a weekday in Chinese, as 星期一 for 1.
func WeekdayZh(day int) string { return "星期" + weekdayDigit(day) }

// WeekdayShortZh names a weekday in short, as 周一 for 1.
func WeekdayShortZh(day int) string { return "周" + weekdayDigit(day) }

// WeekdayEn names a weekday in English.
func WeekdayEn(day int) string { return time.Weekday(day % 7).String() }

func weekdayDigit(day int) string { return string([]rune("日一二三四五六")[day%7]) }
