package text_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agentmesh/app/platform/text"
)

func TestHasWord(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, s, word string
		want          bool
	}{
		{"chinese_anywhere", "今天上海天气", "上海", true},
		{"chinese_next_to_latin", "x上海y", "上海", true},
		{"a_word", "order rice please", "rice", true},
		{"any_case", "Order RICE", "Rice", true},
		{"not_inside_a_word", "price", "rice", false},
		{"not_the_beginning_of_a_word", "riced", "rice", false},
		{"not_next_to_a_digit", "rice2", "rice", false},
		{"the_second_place_counts", "price of rice", "rice", true},
		{"latin_next_to_chinese", "来份rice吧", "rice", true},
		{"several_words", "in new york today", "New York", true},
		{"either_apostrophe", "what’s on", "what's", true},
		{"no_word", "rice", "", false},
		{"nothing", "", "rice", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text.HasWord(tt.s, tt.word); got != tt.want {
				t.Errorf("HasWord(%q, %q): got %v, want %v", tt.s, tt.word, got, tt.want)
			}
		})
	}
}

func TestWordAt_SaysWhichComesFirst(t *testing.T) {
	t.Parallel()
	const s = "from Beijing to 上海"
	if text.WordAt(s, "beijing") >= text.WordAt(s, "上海") || text.WordAt(s, "Xi'an") != -1 {
		t.Errorf("got %d, %d, %d", text.WordAt(s, "beijing"), text.WordAt(s, "上海"), text.WordAt(s, "Xi'an"))
	}
}

func TestHan(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"": false, "rice": false, "，。": false, "rice 饭": true, "饭": true} {
		if got := text.HasHan(s); got != want {
			t.Errorf("HasHan(%q): got %v, want %v", s, got, want)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"":              nil,
		"，!":            nil,
		"不吃辣":           {"不吃辣"},
		"B套餐, two-2 个。": {"B", "套餐", "two", "2", "个"},
		"水煮牛肉 and\n米饭x": {"水煮牛肉", "and", "米饭", "x"},
		"café":          {"café"},
	} {
		if got := text.Runs(s); !slices.Equal(got, want) {
			t.Errorf("Runs(%q): got %q, want %q", s, got, want)
		}
	}
}

func TestCutAndClip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s         string
		n         int
		cut, clip string
	}{
		{"", 3, "", ""},
		{"水煮牛肉", 4, "水煮牛肉", "水煮牛肉"},
		{"水煮牛肉", 3, "水煮牛", "水煮牛…"},
		{"abc", 1, "a", "a…"},
		{"abc", 0, "", "…"},
	}
	for _, tt := range tests {
		if cut, clip := text.Cut(tt.s, tt.n), text.Clip(tt.s, tt.n); cut != tt.cut || clip != tt.clip {
			t.Errorf("%q at %d: got %q and %q, want %q and %q", tt.s, tt.n, cut, clip, tt.cut, tt.clip)
		}
	}
}

func TestYuan(t *testing.T) {
	t.Parallel()
	for fen, want := range map[int64]string{0: "0.00", 5: "0.05", 3200: "32.00", 6705: "67.05", -5: "-0.05", -1250: "-12.50"} {
		if got := text.Yuan(fen); got != want {
			t.Errorf("Yuan(%d): got %s, want %s", fen, got, want)
		}
	}
}

func TestFen(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]int64{"0": 0, "32": 3200, "32.5": 3250, "32.00": 3200, "19.90": 1990, "0.10": 10, "007": 700} {
		if got, err := text.Fen(amount); err != nil || got != want {
			t.Errorf("Fen(%q): got %d, %v, want %d", amount, got, err, want)
		}
	}
	for _, amount := range []string{"", "-1", "1.234", "1e3", "1,5", ".5", "5.", "¥5", " 5", "５", "9999999999999"} {
		if got, err := text.Fen(amount); err == nil {
			t.Errorf("Fen(%q): got %d, want an error", amount, got)
		}
	}
}

func TestWeekday(t *testing.T) {
	t.Parallel()
	zh, en := "星期一 星期二 星期三 星期四 星期五 星期六 星期日", "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
	for i, want := range strings.Fields(zh) {
		day := text.Weekday(time.Date(2026, 11, 23+i, 12, 0, 0, 0, time.UTC)) // a Monday and the days after it
		if day != i+1 || text.WeekdayZh(day) != want || text.WeekdayEn(day) != strings.Fields(en)[i] {
			t.Errorf("got %d %s %s, want %d %s", day, text.WeekdayZh(day), text.WeekdayEn(day), i+1, want)
		}
		if short := text.WeekdayShortZh(day); short != strings.Replace(want, "星期", "周", 1) {
			t.Errorf("short name of %d: got %s", day, short)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("x上海 rice’s\xff İ", "rice", 3)
	f.Fuzz(func(t *testing.T, s, word string, n int) {
		if text.HasWord(s, word) && word == "" {
			t.Error("an empty word occurs")
		}
		if utf8.ValidString(s) && !utf8.ValidString(text.Clip(s, n)) {
			t.Errorf("Clip(%q, %d) cuts a character", s, n)
		}
		if joined := strings.Join(text.Runs(s), ""); len(joined) > len(s) {
			t.Errorf("Runs(%q) is longer than the text", s)
		}
	})
}
