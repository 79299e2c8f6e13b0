package numeral

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	chinesePattern = regexp.MustCompile(`^[零〇一二两三四五六七八九十百千万亿几壹贰叁肆伍陆柒捌玖拾佰仟]{1,24}`)
	decimalPattern = regexp.MustCompile(`^点[零〇一二三四五六七八九]+`)
	partPattern    = regexp.MustCompile(`^([一二两三四五六七八九十百]+)分之([一二两三四五六七八九十百]+)`)
)

// readChinese reads 十二, 两三, 半, 俩, 二点五 and 三分之一.
func readChinese(text string) (value, int) {
	switch {
	case strings.HasPrefix(text, "半"):
		return value{kind: Half}, len("半")
	case strings.HasPrefix(text, "俩"):
		return value{n: 2}, len("俩")
	case strings.HasPrefix(text, "仨"):
		return value{n: 3}, len("仨")
	}
	if m := partPattern.FindStringSubmatch(text); m != nil {
		kind := Fraction
		if m[0] == "二分之一" {
			kind = Half
		}
		return value{kind: kind}, len(m[0])
	}
	run := chinesePattern.FindString(text)
	if run == "" {
		return value{}, 0
	}
	number, ok := chineseValue([]rune(run))
	if !ok {
		return value{}, 0
	}
	if decimals := decimalPattern.FindString(text[len(run):]); decimals != "" && number.kind == Whole {
		return decimal(number, decimals), len(run) + len(decimals)
	}
	return number, len(run)
}

func decimal(number value, decimals string) value {
	digits := strings.TrimRight(strings.TrimPrefix(decimals, "点"), "零〇")
	switch {
	case digits == "":
		return number
	case number.n == 0 && digits == "五":
		return value{kind: Half}
	}
	return value{kind: Fraction, n: number.n}
}

// chineseValue works out a run of Chinese numerals. Two neighbouring digits that follow each other, as in 两三 or 十二三, are a range.
func chineseValue(run []rune) (value, bool) {
	if strings.ContainsRune(string(run), '几') {
		return value{kind: Vague}, true
	}
	if vague(run) {
		return value{kind: Vague}, true
	}
	var total, section, digit int64
	unit, digits := int64(1), 0
	for _, r := range run {
		if u := int64(chineseUnit(r)); u > 1 {
			if digits > 1 {
				return value{}, false
			}
			if digits == 0 && section == 0 && u < 10000 {
				digit = 1
			}
			total, section = addUnit(total, section, digit, u)
			digit, digits, unit = 0, 0, u
			continue
		}
		d := chineseDigit(r)
		if d == 0 && unit > 1 {
			unit = 10
			digit, digits = 0, 0
			continue
		}
		digit = min(digit*10+int64(d), maxCount)
		digits++
	}
	if digits == 1 && unit >= 100 {
		digit *= unit / 10
	}
	return value{n: clamp(total + section + digit)}, digits < 2 || unit == 1
}

// addUnit closes a digit with its unit; 万 and 亿 close the whole section before them.
func addUnit(total, section, digit, unit int64) (int64, int64) {
	if unit < 10000 {
		return total, min(section+digit*unit, maxCount)
	}
	section = max(section+digit, 1)
	if unit > 10000 {
		return min((total+section)*unit, maxCount), 0
	}
	return min(total+section*unit, maxCount), 0
}

func vague(run []rune) bool {
	for i := 1; i < len(run); i++ {
		low, high := chineseDigit(run[i-1]), chineseDigit(run[i])
		next := i+1 == len(run) || chineseUnit(run[i+1]) > 1
		first := i == 1 || chineseUnit(run[i-2]) > 1
		if low > 0 && next && first && (high == low+1 || low == 3 && high == 5) {
			return true
		}
	}
	return false
}

func chineseDigit(r rune) int {
	switch r {
	case '零', '〇':
		return 0
	case '两':
		return 2
	}
	for _, digits := range []string{"零一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"} {
		if at := strings.IndexRune(digits, r); at >= 0 {
			return utf8.RuneCountInString(digits[:at])
		}
	}
	return -1
}

func chineseUnit(r rune) int {
	switch r {
	case '十', '拾':
		return 10
	case '百', '佰':
		return 100
	case '千', '仟':
		return 1000
	case '万':
		return 10000
	case '亿':
		return 100000000
	}
	return 1
}
