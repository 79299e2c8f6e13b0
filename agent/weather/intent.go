package weather

import (
	"regexp"
	"strings"
	"time"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

var (
	daysZh    = regexp.MustCompile(`([0-9０-９]+|[一二两三四五六七八九十几]+)\s*[天日]`)
	datesZh   = regexp.MustCompile(`([0-9]+年)?[0-9一二三四五六七八九十]+月[0-9一二三四五六七八九十]+[日号]`)
	daysEn    = regexp.MustCompile(`(?i)\b([a-z]+|[0-9]+)[\s-]+days?\b`)
	weekdayIn = regexp.MustCompile(`(?:周|星期|礼拜)([一二三四五六日天])`)
	fillerZh  = regexp.MustCompile(`天气|预报|怎么样|怎样|如何|今[天日晚]|明[天日早晚]|大?后天|未来|最近|接下来|往后|这几天|现在|当前|目前|一下|查询|查|` +
		`帮忙?|请问|请|告诉|知道|会不会|下雨|下雪|会|雨|雪|气温|温度|多少|度|冷|热|带伞|雨伞|带|伞|穿|衣服?|适合|出门|出去|出行|什么|情况|城市|` +
		`[那这][边里]|本地|当地|外面|周末|[这本下]周|一周|(?:周|星期|礼拜)[一二三四五六日天]|[早晚]上|[上下]午|看看|看|需要|可以|想|要|能|` +
		`[我你您的了吗呢吧呀啊有没是不个和与跟给把在都还好几天日一二两三四五六七八九十]|[0-9０-９\s\pP\pS]`)
	wordEn = regexp.MustCompile(`[A-Za-z][A-Za-z'’]*`)
)

// wish is what a text asks for.
type wish struct {
	city    city
	found   bool
	unknown string // the place that the text names and we do not know
	days    int
}

// understand reads a sentence in Chinese or English.
func (a atlas) understand(text string, now time.Time) wish {
	w := wish{days: daysIn(text, now)}
	if w.city, w.found = a.mentioned(text); !w.found {
		w.unknown = placeIn(text)
	}
	return w
}

// daysIn gives how many days a text is about, today included.
func daysIn(text string, now time.Time) int {
	days := 1
	lower := strings.ToLower(datesZh.ReplaceAllString(text, ""))
	for _, m := range append(daysZh.FindAllStringSubmatch(lower, -1), daysEn.FindAllStringSubmatch(lower, -1)...) {
		if q, ok := numeral.Parse(m[1]); ok {
			if n, whole := q.Count(); whole {
				days = max(days, n)
			} else if q.Kind == numeral.Vague {
				days = max(days, 3)
			}
		}
	}
	if strings.Contains(lower, "few days") {
		days = max(days, 3)
	}
	for i, words := range [][]string{{"明天", "明日", "明早", "明晚", "tomorrow"}, {"后天", "day after tomorrow"}, {"大后天"}} {
		for _, word := range words {
			if strings.Contains(lower, word) {
				days = max(days, i+2)
			}
		}
	}
	for _, word := range []string{"一周", "这周", "本周", "一星期", "this week", "next week", "a week", "the week"} {
		if strings.Contains(lower, word) && !strings.Contains(lower, "weekend") {
			days = max(days, 7)
		}
	}
	return max(days, untilWeekday(lower, now))
}

// untilWeekday gives the days up to a weekday that a text names, today included.
func untilWeekday(sentence string, now time.Time) int {
	days, today := 0, text.Weekday(now)
	until := func(weekday int) { days = max(days, (weekday-today+7)%7+1) }
	for _, m := range weekdayIn.FindAllStringSubmatch(sentence, -1) {
		if m[1] == "天" {
			m[1] = "日"
		}
		until(len([]rune(strings.Split("一二三四五六日", m[1])[0])) + 1)
	}
	for day := 1; day <= 7; day++ {
		if text.HasWord(sentence, text.WeekdayEn(day)) {
			until(day)
		}
	}
	if strings.Contains(sentence, "周末") || strings.Contains(sentence, "weekend") {
		until(7)
	}
	return days
}

// placeIn gives what is left of a sentence without the words of a question about weather, if it may be a place.
func placeIn(sentence string) string {
	if text.HasHan(sentence) {
		left := strings.TrimSpace(fillerZh.ReplaceAllString(sentence, ""))
		if len([]rune(left)) >= 2 {
			return left
		}
		return ""
	}
	var left []string
	for i, word := range wordEn.FindAllString(sentence, -1) {
		capital := word[0] >= 'A' && word[0] <= 'Z'
		if capital && !fillerEn(strings.ToLower(word)) && (i > 0 || !strings.Contains(strings.TrimSpace(sentence), " ")) {
			left = append(left, word)
		}
	}
	return strings.Join(left, " ")
}

func fillerEn(word string) bool {
	switch word {
	case "i", "i'm", "i’m", "what", "what's", "what’s", "how", "how's", "will", "it", "the", "please", "weather", "forecast", "today", "tomorrow",
		"rain", "umbrella", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "do", "is", "celsius":
		return true
	}
	return false
}
