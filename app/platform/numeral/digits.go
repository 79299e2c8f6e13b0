package numeral

import (
	"regexp"
	"strconv"
	"strings"
)

// digitsPattern also takes full-width digits; thousands may be set off by commas.
var digitsPattern = regexp.MustCompile(`^([0-9０-９]{1,3}(?:,[0-9]{3})+|[0-9０-９]+)(?:[.．]([0-9０-９]+)|/([0-9]+))?([百千万亿]*)`)

// readDigits reads 12, １２, 1,000, 2.5, 1/2 and 3万.
func readDigits(text string) (value, int) {
	m := digitsPattern.FindStringSubmatch(text)
	if m == nil {
		return value{}, 0
	}
	n, decimals, below := parseDigits(m[1]), narrow(m[2]), narrow(m[3])
	for _, unit := range m[4] {
		n = clamp(int64(n) * int64(chineseUnit(unit)))
	}
	switch {
	case below != "" && strings.Trim(below, "0") == "":
		return value{}, 0
	case below == "2" && n == 1, m[2] != "" && n == 0 && strings.TrimRight(decimals, "0") == "5" && m[4] == "":
		return value{kind: Half}, len(m[0])
	case below == "1":
		return value{n: n}, len(m[0])
	case below != "", strings.Trim(decimals, "0") != "":
		return value{kind: Fraction, n: n}, len(m[0])
	}
	return value{n: n}, len(m[0])
}

func parseDigits(digits string) int {
	digits = strings.TrimLeft(strings.ReplaceAll(narrow(digits), ",", ""), "0")
	if digits == "" {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return maxCount
	}
	return clamp(n)
}

// narrow turns full-width digits into ASCII ones.
func narrow(digits string) string {
	return strings.Map(func(r rune) rune {
		if r >= '０' && r <= '９' {
			return r - '０' + '0'
		}
		return r
	}, digits)
}
